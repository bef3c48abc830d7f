import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

interface RunOutcome {
  readonly code: number | null;
  readonly output: string;
  readonly lastLine: string;
}

/** Runs the repository's runner over one test file with this text. */
function runOn(text: string, env: NodeJS.ProcessEnv = {}): RunOutcome {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-runner-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'sample.test.ts'), `import { describe, test } from 'node:test';\n${text}`);
    // A runner inside a test file declines to run unless it does not know that it is inside one.
    const clean = { ...process.env, NODE_TEST_CONTEXT: undefined, CI: undefined, ...env };
    const run = spawnSync(process.execPath, [resolve('scripts/test.ts'), folder], { encoding: 'utf8', env: clean });
    const output = `${run.stdout}${run.stderr}`;
    return { code: run.status, output, lastLine: output.trimEnd().split('\n').at(-1) ?? '' };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('passing tests and subtests are counted, suites are not', () => {
  const text = `describe('suite', () => { test('a', () => {}); });
    test('b', async (t) => { await t.test('c', () => {}); });`;
  const { code, lastLine } = runOn(text);
  assert.deepEqual([code, lastLine], [0, '3 passed, 0 failed']);
});

test('a failing test fails the run, is counted once and is shown with its cause', () => {
  const text = `describe('suite', () => { test('a', () => { throw new Error('outer', { cause: new Error('inner') }); }); });`;
  const { code, output, lastLine } = runOn(text);
  assert.deepEqual([code, lastLine], [1, '0 passed, 1 failed']);
  assert.match(output, /sample\.test\.ts:2: a\n[^]*Error: outer[^]*Error: inner/);
});

test('a file that throws while it loads has failed, and what it printed is shown', () => {
  const { code, output, lastLine } = runOn(`console.log('before the fall'); throw new Error('at load');`);
  assert.deepEqual([code, lastLine], [1, '0 passed, 1 failed']);
  assert.match(output, /before the fall[^]*at load/);
});

test('an error after the end of its test fails the file', () => {
  const text = `test('a', () => { setTimeout(() => { throw new Error('late'); }, 1); });`;
  const { code, output, lastLine } = runOn(text);
  assert.deepEqual([code, lastLine], [1, '1 passed, 1 failed']);
  assert.match(output, /late/);
});

test('a file without a test has failed', () => {
  const { code, output, lastLine } = runOn('void [describe, test];');
  assert.deepEqual([code, lastLine], [1, '0 passed, 1 failed']);
  assert.match(output, /ran no test/);
});

test('a skipped test is shown with its reason, and fails where CI is set', () => {
  const text = `test('a', () => {}); test('b', { skip: 'needs a program' }, () => {});`;
  const alone = runOn(text);
  assert.deepEqual([alone.code, alone.lastLine], [0, '1 passed, 0 failed, 1 skipped']);
  assert.match(alone.output, /skipped: b: needs a program/);
  const onCi = runOn(text, { CI: 'true' });
  assert.deepEqual([onCi.code, onCi.lastLine], [1, '1 passed, 1 failed']);
});

test('a test marked as todo has failed', () => {
  const { code, lastLine } = runOn(`test('a', { todo: 'later' }, () => {});`);
  assert.deepEqual([code, lastLine], [1, '0 passed, 1 failed']);
});

test('a run that finds no test file fails', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-runner-'));
  const run = spawnSync(process.execPath, ['scripts/test.ts', folder], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  assert.equal(run.status, 1);
  assert.match(run.stdout, /No test file was found[^]*0 passed, 0 failed\n$/);
});

test('a path that does not exist is named', () => {
  const run = spawnSync(process.execPath, ['scripts/test.ts', 'test/nowhere.test.ts'], { encoding: 'utf8' });
  assert.equal(run.status, 1);
  assert.match(run.stderr, /test\/nowhere\.test\.ts: no such file or folder/);
});
