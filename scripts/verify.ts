/**
 * `npm test`: everything that CI holds against a change. Each check runs even when an earlier one failed, so that one
 * run shows all faults. The checks are counted like tests; the last line is `N passed, N failed`.
 */
import { spawnSync } from 'node:child_process';
import { paint, runTests, totalsLine } from './test-run.ts';

interface Check {
  readonly name: string;
  /** An npm script; it must exit with 0. */
  readonly script: string;
}

const checks: readonly Check[] = [
  { name: 'types and walls', script: 'build' },
  { name: 'lint', script: 'lint' },
  { name: 'format', script: 'format:check' },
  { name: 'no unused file, export or dependency', script: 'knip' },
  { name: 'config.schema.json and docs/configuration.md are current', script: 'schema:check' },
  { name: 'public surface as recorded in api/', script: 'api' },
  { name: 'package manifest', script: 'publint' },
  { name: 'package types as consumers resolve them', script: 'attw' },
];

const failedChecks = checks.filter((check) => !passes(check));
console.log();
const tests = await runTests([]);
for (const check of failedChecks) console.log(paint('red', `✖ failed above: ${check.name} (npm run ${check.script})`));
const totals = {
  passedCount: tests.passedCount + checks.length - failedChecks.length,
  failedCount: tests.failedCount + failedChecks.length,
  skippedCount: tests.skippedCount,
};
process.exitCode = totals.failedCount === 0 && tests.passedCount > 0 ? 0 : 1;
console.log(totalsLine(totals));

function passes(check: Check): boolean {
  const startedAtMs = performance.now();
  const run = spawnSync('npm', ['run', '--silent', check.script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  });
  const passed = run.status === 0;
  const mark = passed ? paint('green', '✔') : paint('red', '✖');
  const tail = paint('dim', `(${Math.round(performance.now() - startedAtMs)} ms)`);
  console.log(`${mark} ${check.name} ${tail}`);
  if (!passed) console.log(`${run.error?.message ?? ''}${run.stdout ?? ''}${run.stderr ?? ''}`.trimEnd());
  return passed;
}
