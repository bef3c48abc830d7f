import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { simulateFile } from '../../src/cli/simulate.ts';
import { progressLine } from '../../src/cli/simulation-progress.ts';
import type { SimulationResult } from '../../src/simulator/result.ts';
import { runCli } from './running-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'mulligan-simulate-'));
after(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const small = file(
  'small.yaml',
  `
defaults: { retry: { attempts: 1, codes: [500, 502] } }
services:
  a: { operations: { get: { serviceTime: 1ms, calls: [b] } } }
  b: { operations: { get: { serviceTime: 1ms } } }
workload: { duration: 5s, roots: [{ operation: a, rate: 50 }] }
faults: [{ at: 1s, for: 1s, service: b, errorPercent: 100 }]
`,
);

test('simulate prints tables, and the same ones again for the same seed', async (t) => {
  const first = await runCli(t, 'simulate', small, '--seed', '5');
  equal(first.code, 0);
  equal(first.stderr, '');
  match(first.stdout, /^5000 ms of virtual time, seed 5, \d+ requests\n/);
  deepEqual(await runCli(t, 'simulate', small, '--seed', '5'), first);
});

test('simulate --compare --json prints one document with a result a mode', async (t) => {
  const { code, stdout } = await runCli(
    t,
    'simulate',
    small,
    '--compare',
    'retries,ownership',
    '--duration',
    '2s',
    '--json',
  );
  equal(code, 0);
  const { results } = JSON.parse(stdout) as { readonly results: readonly SimulationResult[] };
  deepEqual(
    results.map(({ mode, durationMs, simulatedMs }) => [mode, durationMs, simulatedMs]),
    [
      ['retries', 2000, 2000],
      ['ownership', 2000, 2000],
    ],
  );
  deepEqual(results[0]!.roots[0]!.series.requests, results[1]!.roots[0]!.series.requests);
});

for (const [args, expected] of [
  [[], /missing required argument 'file'/],
  [['/nowhere.yaml'], /\/nowhere\.yaml:1:1 cannot be read: there is no such file/],
  [['/'], /cannot be read: it is a directory/],
  [[small, '--mode', 'ownershp'], /--mode: ownershp is not a mode \(did you mean `ownership`\?\)/],
  [[small, '--compare', 'retries,storm'], /--compare: storm is not a mode/],
  [[small, '--mode', 'none', '--compare', 'none'], /exclude each other/],
  [[small, '--seed', 'x'], /--seed x: give a whole number from 0/],
  [[small, '--duration', '10'], /--duration: .*add a unit/],
  [[small, '--report', '/nowhere/report.html'], /--report \/nowhere\/report\.html cannot be written: ENOENT/],
  [[small, '--report', small], /--report .* would replace the topology: give another file/],
  [[small, '--duration', '0s'], /give it at least 1ms/],
] as const) {
  test(`simulate ${args.join(' ').replaceAll(folder, '')} is told what is wrong, with exit code 2`, async (t) => {
    const { code, stderr, stdout } = await runCli(t, 'simulate', ...args);
    match(stderr, expected);
    deepEqual([code, stdout], [2, '']);
  });
}

test('simulate --report writes a page beside what it prints', async (t) => {
  const path = join(folder, 'report.html');
  const { code, stdout, stderr } = await runCli(
    t,
    'simulate',
    small,
    '--compare',
    'retries,ownership',
    '--report',
    path,
  );
  equal(code, 0);
  match(stdout, /^5000 ms of virtual time/);
  equal(stderr, `report: ${path}\n`);
  match(readFileSync(path, 'utf8'), /^<!doctype html>[^]*<h1>small\.yaml<\/h1>[^]*<\/html>\n$/);
});

test('a bar tells how far a long run is', () => {
  const run = { nowMs: 250, durationMs: 1000, hopCount: 42 };
  equal(progressLine(run, 'budget 2/3', 3000), `budget 2/3 ${'█'.repeat(8)}${'░'.repeat(22)} 25 %, 42 hops, 9 s left`);
  match(progressLine({ ...run, nowMs: 0 }, 'file 1/1', 0), / 0 %, 42 hops$/);
});

test('simulate names every fault of a topology with its place', async (t) => {
  const path = file('bad.yaml', 'services:\n  a: { operations: { get: { serviceTime: 1ms, calls: [b] } } }\n');
  const { code, stderr } = await runCli(t, 'simulate', path);
  equal(code, 2);
  match(stderr, /bad\.yaml:2:55 services\.a\.operations\.get\.calls\[0\]: "b" is not an operation of this file/);
  match(stderr, /bad\.yaml:1:1 workload: is missing/);
});

test('Ctrl-C ends a long run, which then prints what there is, marked as a part, and exits with 130', async () => {
  let printed = '';
  const run = simulateFile(small, { duration: '500h', json: true, compare: 'retries,ownership' }, (text) => {
    printed += text;
  });
  // It lets go of the thread between two turns, so that this comes after the first one.
  setImmediate(() => process.emit('SIGINT'));
  equal(await run, 130);
  const { partial, notRun, results } = JSON.parse(printed) as {
    readonly partial: boolean;
    readonly notRun: readonly string[];
    readonly results: readonly SimulationResult[];
  };
  deepEqual([partial, notRun], [true, ['ownership']]);
  ok(results[0]!.simulatedMs > 0 && results[0]!.simulatedMs < results[0]!.durationMs);
  equal(process.listenerCount('SIGINT'), 0);
});
