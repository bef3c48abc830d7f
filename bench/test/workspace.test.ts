import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { processTree, readProcessUsage } from '../harness/process-usage.ts';
import { createWorkspace } from '../harness/workspace.ts';

const shell = (script: string): { name: string; core: undefined; file: string; arguments: string[] } => ({
  name: 'shell',
  core: undefined,
  file: 'sh',
  arguments: ['-c', script],
});

test(
  'closing a workspace ends its processes, those that ignore SIGTERM with their descendants too, and removes its directory',
  { timeout: 20_000 },
  async () => {
    const workspace = createWorkspace();
    const service = workspace.start(
      shell(
        `trap '' TERM; sh -c "trap '' TERM; while :; do sleep 1; done" & echo > started; while :; do sleep 1; done`,
      ),
    );
    while (!existsSync(`${workspace.directory}/started`)) await new Promise(setImmediate);
    const tree = processTree(service.pid);
    assert.ok(tree.length >= 2, `the shell and its child, found ${tree.length}`);
    await workspace.close();
    assert.equal(existsSync(workspace.directory), false);
    for (const pid of tree.slice(0, 2))
      assert.equal(readProcessUsage(pid).rssBytes, 0, `process ${pid} is still there`);
  },
);

test('a program that fails rejects with its exit code and what it complained about', async () => {
  const workspace = createWorkspace();
  await assert.rejects(
    workspace.run(shell('echo no such port >&2; exit 3'), 5_000),
    /shell ended with code 3:\nno such port/,
  );
  await workspace.close();
});

test('a program that does not end is ended after its time', async () => {
  const workspace = createWorkspace();
  await assert.rejects(workspace.run(shell('while :; do sleep 1; done'), 100), /shell had not ended after 100 ms/);
  await workspace.close();
});

test('the CPU time of a process tree counts the work of its descendants', async () => {
  const workspace = createWorkspace();
  const service = workspace.start(
    shell(`sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo > done; while :; do sleep 1; done' & wait`),
  );
  while (!existsSync(`${workspace.directory}/done`)) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(readProcessUsage(service.pid).cpuNanos > 10_000_000);
  await workspace.close();
});

test('a service that ended by itself is reported with the end of its standard error', async () => {
  const workspace = createWorkspace();
  const service = workspace.start(shell('echo cannot bind >&2; exit 1'));
  await assert.rejects(async () => {
    for (;;) {
      service.assertAlive();
      await new Promise(setImmediate);
    }
  }, /shell ended with code 1:\ncannot bind/);
  await workspace.close();
});
