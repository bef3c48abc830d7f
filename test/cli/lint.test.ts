import { deepEqual, equal, match, throws } from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type LintCommandOptions, lintFiles } from '../../src/cli/lint.ts';
import type { LintReport } from '../../src/linter/lint.ts';
import { otlp } from '../simulator/traces/support.ts';
import { runCli } from './running-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'mulligan-lint-'));
after(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const example = 'examples/topologies/online-boutique.yaml';
const stormy = file(
  'stormy.yaml',
  `ownership: { mode: off }
defaults: { retry: { attempts: 1, codes: [502] }, retryBudget: { percent: 10 } }
services:
  a: { operations: { get: { serviceTime: 1ms, calls: [b] } } }
  b: { operations: { get: { serviceTime: 1ms, calls: [c] } } }
  c: { operations: { get: { serviceTime: 1ms } } }
workload:
  roots:
    - { operation: a, rate: 1 }
`,
);
const traces = file('traces.json', JSON.stringify(otlp([{ id: '1', service: 'a', name: 'get', fromMs: 0, toMs: 5 }])));

test('lint prints the roots, and ends fine', async (t) => {
  const { code, stdout, stderr } = await runCli(t, 'lint', example, '--max-radius', '1', '--strict');
  deepEqual([code, stderr], [0, '']);
  match(stdout, /^examples\/topologies\/online-boutique\.yaml: 5 roots, 0 findings\n/);
  match(stdout, /^frontend\/checkout +1 +3× +1\.1× +3, 27× +1, 3× {2}frontend\/checkout -> /m);
});

test('lint prints each finding with its place and what to do; a warning is no reason to fail', async (t) => {
  const { code, stdout } = await runCli(t, 'lint', stormy);
  equal(code, 0);
  match(stdout, /stormy\.yaml:9:7 warning storm-radius: workload\.roots\[0\]: 2 hops retry .*\n {4}fix: with /);
});

/** The command without a process of its own. */
function lintHere(
  path: string,
  options: Partial<LintCommandOptions>,
): { readonly code: number; readonly text: string } {
  let text = '';
  const code = lintFiles([path], { format: 'text', ...options }, (part) => {
    text += part;
  });
  return { code, text };
}

for (const [options, expected] of [
  [{ maxRadius: '1' }, 3],
  [{ maxRadius: '2' }, 0],
  [{ maxAmplification: '1.2' }, 3],
  [{ maxAmplification: '1.3' }, 0],
  [{ strict: true }, 3],
  [{ strict: true, ignore: ['storm-radius'] }, 0],
  [{ maxRadius: '1', ignore: ['no-budget', 'storm-radius'] }, 0],
] as const) {
  test(`lint with ${JSON.stringify(options)} ends with ${expected} for a topology with a radius of 2`, () => {
    equal(lintHere(stormy, options).code, expected);
  });
}

test('the process of a lint whose limit is exceeded ends with 3', async (t) => {
  equal((await runCli(t, 'lint', stormy, '--max-radius', '1', '--ignore', 'no-budget,no-timeout')).code, 3);
});

test('lint --format github prints a command for each finding', () => {
  const { text } = lintHere(stormy, { format: 'github', maxRadius: '1' });
  match(text, /^::error file=.*stormy\.yaml,line=9,col=7,title=mulligan storm-radius::workload\.roots\[0\]: 2 hops/);
  equal(text.trimEnd().split('\n').length, 1);
});

test('lint --json prints one document with a report for each file, traces too', async (t) => {
  const { code, stdout } = await runCli(t, 'lint', stormy, traces, '--json');
  equal(code, 0);
  const { reports } = JSON.parse(stdout) as { readonly reports: readonly LintReport[] };
  deepEqual(
    reports.map(({ format, roots, findings }) => [format, roots[0]!.now.radius, findings.length]),
    [
      ['topology', 2, 1],
      ['otlp', 0, 0],
    ],
  );
});

test('lint says what it assumed of traces', () => {
  match(lintHere(traces, {}).text, /^ {2}assumed: timeouts are not in traces: 15 s for each call$/m);
});

test('simulate runs traces, and says what it assumed of them on standard error', async (t) => {
  const { code, stdout, stderr } = await runCli(t, 'simulate', traces, '--duration', '2s', '--json');
  equal(code, 0);
  match(stderr, /^assumed: capacities are not in traces: no service has a limit/m);
  equal((JSON.parse(stdout) as { readonly results: readonly unknown[] }).results.length, 1);
});

const huge = file('huge.json', '');
truncateSync(huge, 64 * 1024 * 1024 + 1);

for (const [args, expected] of [
  [[], /missing required argument 'files'/],
  [['/nowhere.yaml'], /\/nowhere\.yaml:1:1 cannot be read: there is no such file/],
  [[huge], /huge\.json:1:1 cannot be read: it is larger than 64 MiB: give a sample of the traces/],
  [[traces, '--input', 'zipkin'], /traces\.json:1:1 must be an array \(a list of spans or of traces\)/],
  [[stormy, '--max-radius', '-1'], /--max-radius/],
] as const) {
  test(`lint ${args.join(' ').replaceAll(folder, '')} is told what is wrong, with exit code 2`, async (t) => {
    const { code, stderr, stdout } = await runCli(t, 'lint', ...args);
    match(stderr, expected);
    deepEqual([code, stdout], [2, '']);
  });
}

for (const [options, message] of [
  [{ input: 'otpl' }, /^--input: otpl is not a format \(did you mean `otlp`\?\)$/],
  [{ format: 'githb' }, /^--format: githb is not a format \(did you mean `github`\?\)$/],
  [{ format: 'github', json: true }, /exclude each other$/],
  [{ maxRadius: 'one' }, /^--max-radius one: give a whole number from 0$/],
  [{ maxAmplification: '0.5' }, /^--max-amplification 0\.5: give a number from 1, such as 1\.5$/],
  [{ ignore: ['no-bugdet'] }, /^--ignore: no-bugdet is not a rule \(did you mean `no-budget`\?\)$/],
] as const) {
  test(`lint with ${JSON.stringify(options)} is refused in words`, () => {
    throws(() => lintHere(stormy, options), { name: 'UsageError', message });
  });
}

test('a file with a fault does not keep the others from being told about', async (t) => {
  const bad = file('bad.yaml', 'services: {}\n');
  const { code, stdout, stderr } = await runCli(t, 'lint', bad, stormy);
  equal(code, 2);
  match(stderr, /bad\.yaml:1:11 services: is empty/);
  match(stdout, /stormy\.yaml: 1 root, 1 finding/);
});

test('lint --format github prints what is wrong with a file like a finding', async (t) => {
  const bad = file('faulty.yaml', 'services: {}\n');
  const { code, stdout, stderr } = await runCli(t, 'lint', bad, '/nowhere.yaml', '--format', 'github');
  deepEqual([code, stderr], [2, '']);
  match(stdout, /^::error file=.*faulty\.yaml,line=1,col=11,title=mulligan::services: is empty \(for example/m);
  match(stdout, /^::error file=\/nowhere\.yaml,line=1,col=1,title=mulligan::cannot be read: there is no such file$/m);
});

test('what steers a terminal does not come out of a file', async (t) => {
  const evil = file(
    'evil.json',
    `[{"traceId":"a","id":"1","name":"x","timestamp":"\u001b[31m"}]`.replace('\u001b', '\\u001b'),
  );
  const { stdout, stderr } = await runCli(t, 'lint', evil);
  equal(`${stdout}${stderr}`.includes('\u001b'), false);
});
