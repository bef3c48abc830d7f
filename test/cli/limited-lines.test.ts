import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitLines } from '../../src/cli/limited-lines.ts';

test('fifty lines a second pass, and the next second says how many were left out', () => {
  const lines: string[] = [];
  let nowMs = 0;
  const say = limitLines<'error'>(
    (level, line) => lines.push(`${level} ${line}`),
    () => nowMs,
  );
  for (let i = 0; i < 60; i += 1) say('error', `line ${i}`);
  assert.equal(lines.length, 50);
  nowMs = 1000;
  say('error', 'later');
  assert.deepEqual(lines.slice(50), [
    'warn 10 more lines in that second were left out; the access log has every request',
    'error later',
  ]);
});
