import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CLAIM_REASONS, RETRY_ADVICES } from '../src/core/ownership/error-claim.ts';
import { MATRIX } from './core/ownership/matrix.ts';

const page = readFileSync('docs/ownership.md', 'utf8');

function tableAfter(heading: string): string[] {
  const [, after = ''] = page.split(`${heading}\n|---|---|${'---|'.repeat(heading.split('|').length - 4)}\n`);
  return after.slice(0, after.indexOf('\n\n')).split('\n');
}

test('docs/ownership.md has the matrix of the tests, row by row', () => {
  const rows = MATRIX.map(({ number, name, expected }) => {
    const told = expected === 'none' ? 'nothing' : `\`${expected}\``;
    return `| ${String(Math.trunc(number))} | ${name} | ${told} |`;
  });
  const expected = rows.join('\n');
  assert.equal(
    tableAfter('| row | what happened | what the caller is told |').join('\n'),
    expected,
    `put this in its place:\n${expected}`,
  );
});

test('docs/ownership.md names every word of a claim', () => {
  const rows = tableAfter('| parameter | values |');
  const listed = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(' ');
  assert.equal(rows[0], `| \`why\` | ${listed(CLAIM_REASONS)} |`);
  assert.equal(rows[1], `| \`retry\` | ${listed(RETRY_ADVICES)} |`);
});
