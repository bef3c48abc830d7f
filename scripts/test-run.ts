import { globSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { styleText } from 'node:util';
import { runTestFile } from './test-file.ts';
import type { FileReport } from './test-file.ts';

/** What the closing line says. */
export interface Totals {
  readonly passedCount: number;
  readonly failedCount: number;
  readonly skippedCount: number;
}

/** The closing line. Nothing may be printed after it: whoever reads the log looks for it at the end. */
export function totalsLine(totals: Totals): string {
  const skipped = totals.skippedCount > 0 ? `, ${totals.skippedCount} skipped` : '';
  return `${totals.passedCount} passed, ${totals.failedCount} failed${skipped}`;
}

/** Colours a text where someone looks at a terminal. */
export function paint(style: 'green' | 'red' | 'yellow' | 'dim', text: string): string {
  return process.stdout.isTTY ? styleText(style, text) : text;
}

/**
 * Runs the test files named (files or folders; all of `test/` and `bench/test/` when none is), prints a line per file as it ends and the
 * details of the failures at the end. Where CI is set a skipped test has failed: there a skip hides a missing install step.
 * Throws when a named path does not exist.
 */
export async function runTests(paths: readonly string[]): Promise<Totals> {
  const files = testFiles(paths);
  const failures: string[] = [];
  const waiting = [...files];
  let passedCount = 0;
  let skippedCount = 0;
  let failedCount = 0;

  const take = (report: FileReport): void => {
    const skipsFail = process.env['CI'] !== undefined;
    const failed = [...report.failures];
    if (skipsFail)
      failed.push(...report.skips.map((skip) => `${report.name}: skipped, which CI does not allow\n    ${skip}`));
    else skippedCount += report.skips.length;
    passedCount += report.passedCount;
    failedCount += failed.length;
    failures.push(...failed);
    if (failed.length > 0 && report.output !== '') {
      failures.push(`${report.name}: what the file printed\n${report.output.trimEnd().replaceAll(/^/gm, '    ')}`);
    }
    const mark = failed.length > 0 ? paint('red', '✖') : paint('green', '✔');
    const failedText = failed.length > 0 ? paint('red', `, ${failed.length} failed`) : '';
    const tail = paint('dim', `(${report.durationMs} ms)`);
    console.log(`${mark} ${report.name}: ${report.passedCount} passed${failedText} ${tail}`);
    for (const skip of report.skips) console.log(paint('yellow', `  skipped: ${skip}`));
  };
  const worker = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) take(await runTestFile(file));
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker));

  if (failures.length > 0) console.log(`\n${paint('red', 'Failed tests')}\n\n${failures.join('\n\n')}\n`);
  if (files.length === 0) console.log('No test file was found, so nothing was tested.');
  return { passedCount, failedCount, skippedCount };
}

function testFiles(paths: readonly string[]): string[] {
  const found = (paths.length > 0 ? paths : ['test', 'bench/test']).flatMap((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) throw new Error(`${path}: no such file or folder; name test files, or folders of them`);
    if (!stats.isDirectory()) return [resolve(path)];
    return globSync('**/*.test.ts', { cwd: path }).map((name) => resolve(path, name));
  });
  return [...new Set(found)].sort();
}
