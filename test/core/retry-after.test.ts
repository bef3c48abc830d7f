import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseRetryAfter, parseRetryPushback } from '../../src/core/retry-after.ts';

const NOW = Date.UTC(2026, 10, 29, 12, 0, 0);

function at(offsetSeconds: number): string {
  return new Date(NOW + offsetSeconds * 1000).toUTCString();
}

test('seconds are seconds, not milliseconds', () => {
  assert.equal(parseRetryAfter('2', undefined, NOW), 2000);
  assert.equal(parseRetryAfter('0', undefined, NOW), 0);
  assert.equal(parseRetryAfter('007', undefined, NOW), 7000);
});

test('a number without end is a very long wait, not Infinity', () => {
  assert.equal(parseRetryAfter('9'.repeat(400), undefined, NOW), Number.MAX_SAFE_INTEGER);
});

test('a date is a wait from the response’s own Date', () => {
  assert.equal(parseRetryAfter(at(3), at(0), NOW), 3000);
  assert.equal(parseRetryAfter(at(3603), at(3600), NOW), 3000);
  assert.equal(parseRetryAfter(at(-3597), at(-3600), NOW), 3000);
});

test('a date without a readable Date is a wait from our own clock', () => {
  assert.equal(parseRetryAfter(at(3), undefined, NOW), 3000);
  assert.equal(parseRetryAfter(at(3), 'yesterday', NOW), 3000);
  assert.equal(parseRetryAfter(at(3), undefined, NOW + 250), 2750);
  assert.equal(parseRetryAfter(at(3), undefined, NOW + 0.5), 3000);
});

test('a date in the past is no wait', () => {
  assert.equal(parseRetryAfter(at(-1), at(0), NOW), 0);
  assert.equal(parseRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', undefined, NOW), 0);
});

test('what is neither seconds nor a date is not there', () => {
  for (const value of [
    '',
    ' ',
    '-1',
    '+1',
    '1.5',
    '1e3',
    '0x10',
    '1, 2',
    '1s',
    'soon',
    '１',
    'NaN',
    'Infinity',
    ' 1',
    '1\n',
  ]) {
    assert.equal(parseRetryAfter(value, undefined, NOW), undefined, JSON.stringify(value));
  }
});

test('every answer is a whole number from 0, or none', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.bigInt({ min: 0n }).map(String)),
      fc.option(fc.string(), { nil: undefined }),
      (value, date) => {
        const delayMs = parseRetryAfter(value, date, NOW);
        assert.ok(delayMs === undefined || (Number.isSafeInteger(delayMs) && delayMs >= 0), String(delayMs));
      },
    ),
  );
});

test('a gRPC pushback is milliseconds', () => {
  assert.equal(parseRetryPushback('1500'), 1500);
  assert.equal(parseRetryPushback('0'), 0);
  assert.equal(parseRetryPushback('9'.repeat(400)), Number.MAX_SAFE_INTEGER);
});

test('a negative or malformed gRPC pushback asks for no retry', () => {
  for (const value of ['-1', 'abc', '', '1.5', ' 5', '1e3']) assert.equal(parseRetryPushback(value), 'never', value);
});
