import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { after, test } from 'node:test';
import { createLineSink } from '../../src/gateway/line-sink.ts';
import { failOnLeaks } from '../support/leak-check.ts';

failOnLeaks();
const folder = mkdtempSync(join(tmpdir(), 'mulligan-sink-'));
after(() => rmSync(folder, { recursive: true }));

test('lines reach the file whole and in order', async () => {
  const path = join(folder, 'log');
  const sink = createLineSink(path);
  for (let turn = 0; turn < 20; turn += 1) {
    for (let line = 0; line < 50; line += 1) sink.write(`${turn * 50 + line}\n`);
    await new Promise(setImmediate);
  }
  await sink.close();
  deepEqual(
    readFileSync(path, 'utf8').trim().split('\n').map(Number),
    Array.from({ length: 1000 }, (_, index) => index),
  );
  equal(sink.lostCount, 0);
});

test('a file is appended to', async () => {
  const path = join(folder, 'append');
  for (const line of ['a\n', 'b\n']) {
    const sink = createLineSink(path);
    sink.write(line);
    await sink.close();
  }
  equal(readFileSync(path, 'utf8'), 'a\nb\n');
});

test('a full disk loses lines, counts them and says why once in a while', async () => {
  const said: string[] = [];
  const sink = createLineSink('/dev/full', { onLost: (reason, count) => said.push(`${count} ${reason}`) });
  for (let line = 0; line < 100; line += 1) {
    sink.write('line\n');
    await new Promise(setImmediate);
  }
  await sink.close();
  equal(sink.lostCount, 100);
  ok(said.length <= 2, said.join('\n'));
  ok(
    said.every((line) => line.includes('ENOSPC')),
    said.join('\n'),
  );
  equal(said.at(-1)!.split(' ')[0], '100', 'the last word is the whole count');
});

test('a reader that stopped loses lines beyond what is held, and does not keep the sink from closing', async () => {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  // Opened for both: there is a reader, and it reads nothing.
  const { openSync, closeSync } = await import('node:fs');
  const reader = openSync(path, 'r+');
  const sink = createLineSink(path, { maxHeldLength: 100_000 });
  const line = `${'x'.repeat(999)}\n`;
  for (let count = 0; count < 500; count += 1) {
    sink.write(line);
    if (count % 50 === 0) await new Promise(setImmediate);
  }
  ok(sink.lostCount > 0, String(sink.lostCount));
  await sink.close(50);
  ok(sink.lostCount <= 500);
  closeSync(reader);
});

test('lines that wait for a stopped reader never end in a file opened after the sink was closed', async () => {
  const path = join(folder, 'stopped');
  execFileSync('mkfifo', [path]);
  const { openSync, closeSync } = await import('node:fs');
  const reader = openSync(path, 'r+');
  const sink = createLineSink(path);
  for (let count = 0; count < 500; count += 1) sink.write(`${'x'.repeat(999)}\n`);
  await sink.close(50);
  const other = join(folder, 'other');
  const reusesTheNumber = openSync(other, 'w');
  // Longer than a full pipe is left alone.
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
  closeSync(reusesTheNumber);
  closeSync(reader);
  equal(readFileSync(other, 'utf8'), '');
});

test('a pipe that nobody reads is refused at once', () => {
  const path = join(folder, 'unread');
  execFileSync('mkfifo', [path]);
  throws(() => createLineSink(path), /ENXIO/);
});

test('a line after close is lost and counted', async () => {
  const sink = createLineSink(join(folder, 'closed'));
  await sink.close();
  await sink.close();
  sink.write('late\n');
  equal(sink.lostCount, 1);
});

test('a file that was moved away gets what was on its way, a new one the rest: nothing is lost', async () => {
  const path = join(folder, 'rotated');
  const sink = createLineSink(path);
  let written = 0;
  const rotations = 5;
  for (let turn = 1; turn <= rotations; turn += 1) {
    for (let count = 0; count < 100; count += 1) sink.write(`${(written += 1)}\n`);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    for (let count = 0; count < 100; count += 1) sink.write(`${(written += 1)}\n`);
    renameSync(path, `${path}.${turn}`);
    sink.reopen();
  }
  await sink.close();
  const files = [...Array.from({ length: rotations }, (_, index) => `${path}.${index + 1}`), path];
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').split('\n').slice(0, -1));
  equal(sink.lostCount, 0);
  deepEqual(
    lines,
    Array.from({ length: written }, (_, index) => String(index + 1)),
  );
});

test('a file that cannot be opened anew leaves the old one in use', async () => {
  const path = join(mkdtempSync(join(folder, 'gone-')), 'log');
  const sink = createLineSink(path);
  renameSync(dirname(path), `${dirname(path)}-moved`);
  throws(() => sink.reopen(), { code: 'ENOENT' });
  sink.write('kept\n');
  await sink.close();
  equal(readFileSync(join(`${dirname(path)}-moved`, 'log'), 'utf8'), 'kept\n');
});
