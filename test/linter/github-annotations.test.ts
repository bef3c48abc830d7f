import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../src/linter/finding.ts';
import { githubAnnotations } from '../../src/linter/github-annotations.ts';

const FINDING: Finding = {
  rule: 'no-budget',
  severity: 'warning',
  file: 'a/b.yaml',
  line: 3,
  column: 7,
  path: 'services.a',
  message: 'is so',
  hint: 'do this',
  exceedsLimit: false,
};

test('a finding is one command with its place and its rule', () => {
  assert.equal(
    githubAnnotations([FINDING, { ...FINDING, severity: 'error', path: '' }]),
    '::warning file=a/b.yaml,line=3,col=7,title=mulligan no-budget::services.a: is so (do this)\n' +
      '::error file=a/b.yaml,line=3,col=7,title=mulligan no-budget::is so (do this)\n',
  );
});

test('nothing in a file can end its command or begin another', () => {
  const text = githubAnnotations([
    { ...FINDING, file: 'a:b,c\n::error::x%', message: '100 %\r\n::error::forged', hint: 'a, b: c' },
  ]);
  assert.equal(
    text,
    '::warning file=a%3Ab%2Cc%0A%3A%3Aerror%3A%3Ax%25,line=3,col=7,title=mulligan no-budget::' +
      'services.a: 100 %25%0D%0A::error::forged (a, b: c)\n',
  );
});
