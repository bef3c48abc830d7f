import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { RULES } from '../../src/linter/rule-id.ts';
import { codeBlocks } from '../support/markdown.ts';
import { lintText } from './support.ts';

const text = readFileSync('docs/linter.md', 'utf8');
const rules = text.slice(text.indexOf('## The rules'), text.indexOf('## From code'));
const sections = new Map(
  rules
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
);

test('every rule is documented, and nothing else', () => {
  assert.deepEqual([...sections.keys()], Object.keys(RULES));
});

for (const [rule, section] of sections) {
  test(`the documentation of ${rule} shows a file that has it, and one that has no findings`, () => {
    const [bad, good] = codeBlocks(section).map((block) => lintText(block.text));
    const found = bad!.findings.map((finding) => finding.rule as string);
    assert.ok(found.includes(rule), found.join(', '));
    assert.deepEqual(good!.findings, []);
  });
}
