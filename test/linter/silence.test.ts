import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chain, lintText, told } from './support.ts';

/** One finding of no-budget, at the call of A in line 7. */
const TEXT = chain({ names: 'AB', calls: { A: 'retryBudget: { kind: none }' } });
const LINES = TEXT.split('\n');
const callLine = LINES.findIndex((line) => line.includes('to: B'));

const withLine = (at: number, text: string): string => LINES.toSpliced(at, 0, text).join('\n');

test('a remark silences its rule in its own line and in the next', () => {
  const above = lintText(withLine(callLine, '  # lint-ignore: no-budget  B is only asked at night'));
  assert.deepEqual([told(above), above.silencedCount], [[], 1]);
  const beside = LINES.with(callLine, `${LINES[callLine]!}  # lint-ignore: no-timeout, no-budget`).join('\n');
  assert.equal(lintText(beside).silencedCount, 1);
});

test('a remark farther away silences nothing, which is told', () => {
  const { findings } = lintText(withLine(0, '# lint-ignore: no-budget'));
  assert.deepEqual(
    findings.map(({ rule, line, column }) => [rule, line, column]),
    [
      ['unused-ignore', 1, 1],
      ['no-budget', callLine + 2, 55],
    ],
  );
});

test('a remark for the file silences its rule everywhere in it', () => {
  assert.deepEqual(told(lintText(withLine(0, '# lint-ignore-file: no-budget'))), []);
});

test('a remark with a misspelt rule is told, with the one that was meant', () => {
  assert.match(
    told(lintText(withLine(callLine, '  # lint-ignore: no-bugdet')))[0]!,
    /^\d+:3 warning unused-ignore: no-bugdet is no rule \(did you mean `no-budget`\?\)$/,
  );
});

test('a rule that is ignored by option needs no remark, and its remarks are not called unused', () => {
  const report = lintText(withLine(0, '# lint-ignore: no-timeout'), { ignore: ['no-budget', 'no-timeout'] });
  assert.deepEqual([told(report), report.silencedCount], [[], 1]);
});
