import { deepEqual } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const topology = fileURLToPath(new URL('../../examples/topologies/media.yaml', import.meta.url));

test('a result that does not fit on the disk is told, and is no success', () => {
  // A device that is always full; only Linux has it.
  if (!existsSync('/dev/full')) return;
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [main, 'lint', topology], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  deepEqual([status, stderr], [1, 'mulligan: the result cannot be written: ENOSPC: no space left on device, write\n']);
});
