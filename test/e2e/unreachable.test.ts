import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const LAB = fileURLToPath(new URL('namespaced/unreachable.ts', import.meta.url));
const IN_NAMESPACE = [
  '-n',
  'sh',
  '-c',
  'ip link set lo up && ip route add unreachable 127.77.0.1/32 table local && exec "$@"',
  'sh',
];

/** Why no namespace can be made here; undefined when it can. */
function obstacle(): string | undefined {
  const { status, stderr, error } = spawnSync('unshare', [...IN_NAMESPACE, 'true'], { encoding: 'utf8' });
  return status === 0
    ? undefined
    : `no network namespace: ${error?.message ?? stderr.trim()} (needs root, unshare and ip)`;
}

const skip = obstacle();

test('without a route to an endpoint the request goes to the next one', { skip: skip ?? false }, () => {
  const lab = spawnSync('unshare', [...IN_NAMESPACE, process.execPath, LAB], { encoding: 'utf8' });
  assert.equal(lab.status, 0, `${lab.stdout}${lab.stderr}`);
  assert.match(lab.stdout, /pass 1\b/);
});
