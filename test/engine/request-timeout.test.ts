import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readRequestTimeout, withRequestTimeout } from '../../src/engine/request-timeout.ts';

function read(value: string, maxMs = 30_000): unknown {
  const { timeoutMs, fault } = readRequestTimeout(['Request-Timeout', value], maxMs);
  return timeoutMs ?? fault;
}

test('the time that a caller waits is read in milliseconds', () => {
  assert.equal(read('1750'), 1750);
  assert.equal(read('1750;unit=ms'), 1750);
  assert.equal(read('1750.9'), 1750);
});

test('a caller may ask for less time than the host allows, never for more, and for one millisecond at least', () => {
  assert.equal(read('30001'), 30_000);
  assert.equal(read('999999999999999'), 30_000);
  assert.equal(read('999999999999999', Infinity), 2_147_483_647);
  assert.equal(read('0'), 1);
  assert.equal(read('-5'), 1);
});

for (const [value, fault] of [
  ['soon', 'unknown-value'],
  ['"1750"', 'unknown-value'],
  ['@1750', 'unknown-value'],
  ['1e3', 'malformed'],
  ['1750ms', 'malformed'],
  ['1, 2', 'malformed'],
  ['9999999999999999', 'malformed'],
  ['', 'malformed'],
  ['1'.padEnd(257), 'too-long'],
  ['１', 'not-ascii'],
] as const) {
  test(`"${value.slice(0, 20)}" is no time and is counted as ${fault}`, () => {
    assert.equal(read(value), fault);
  });
}

test('no field is no time and no fault, and two are none', () => {
  assert.deepEqual(readRequestTimeout([], 1000), { timeoutMs: undefined, fault: undefined });
  const twice = readRequestTimeout(['Request-Timeout', '5', 'request-timeout', '5'], 1000);
  assert.deepEqual(twice, { timeoutMs: undefined, fault: 'repeated' });
});

test('the callee is told what is left, less the way back, in place of what the caller was told', () => {
  const fields = ['A', 'b', 'request-timeout', '9000'];
  assert.deepEqual(withRequestTimeout(fields, 1800.7, 50), ['A', 'b', 'Request-Timeout', '1750']);
  assert.deepEqual(withRequestTimeout(fields, 20, 50), ['A', 'b', 'Request-Timeout', '1']);
  assert.deepEqual(withRequestTimeout(fields, 1e12, 0), ['A', 'b', 'Request-Timeout', '2147483647']);
});

test('without a deadline nothing is told, not even what the caller was told', () => {
  assert.deepEqual(withRequestTimeout(['Request-Timeout', '9000'], Infinity, 50), []);
  assert.deepEqual(withRequestTimeout(['Request-Timeout', '9000'], NaN, 50), []);
});

test('no value throws, and what is read is a whole number within the bounds', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.double().map(String), fc.integer().map(String)), (value) => {
      const { timeoutMs, fault } = readRequestTimeout(['Request-Timeout', value], 5000);
      assert.ok((timeoutMs === undefined) !== (fault === undefined));
      if (timeoutMs !== undefined) assert.ok(Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= 5000);
    }),
    { numRuns: 1000 },
  );
});
