import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backoffDelayMs } from '../../src/core/backoff.ts';
import type { BackoffPolicy } from '../../src/core/retry-policy.ts';

const EXPONENTIAL: BackoffPolicy = { curve: 'exponential', baseMs: 25, maxMs: 250, jitter: 'none' };

function steps(policy: BackoffPolicy, count: number, random = 0): number[] {
  return Array.from({ length: count }, (_, index) => backoffDelayMs(policy, index, random));
}

test('exponential doubles up to the cap', () => {
  assert.deepEqual(steps(EXPONENTIAL, 6), [25, 50, 100, 200, 250, 250]);
});

test('linear adds the base up to the cap', () => {
  assert.deepEqual(steps({ ...EXPONENTIAL, curve: 'linear', baseMs: 60 }, 6), [60, 120, 180, 240, 250, 250]);
});

test('fixed stays the same', () => {
  assert.deepEqual(steps({ ...EXPONENTIAL, curve: 'fixed', baseMs: 100 }, 3), [100, 100, 100]);
});

test('fixed obeys the cap of a policy that contradicts itself', () => {
  assert.equal(backoffDelayMs({ ...EXPONENTIAL, curve: 'fixed', baseMs: 300 }, 0, 0), 250);
});

test('full jitter spreads from nothing to the whole step', () => {
  const policy: BackoffPolicy = { ...EXPONENTIAL, jitter: 'full' };
  assert.deepEqual(steps(policy, 3, 0), [0, 0, 0]);
  assert.deepEqual(steps(policy, 3, 0.5), [12.5, 25, 50]);
});

test('equal jitter keeps half of the step', () => {
  const policy: BackoffPolicy = { ...EXPONENTIAL, jitter: 'equal' };
  assert.deepEqual(steps(policy, 3, 0), [12.5, 25, 50]);
  assert.deepEqual(steps(policy, 3, 0.5), [18.75, 37.5, 75]);
});

test('decorrelated jitter draws between the base and three times the delay before', () => {
  const policy: BackoffPolicy = { ...EXPONENTIAL, jitter: 'decorrelated' };
  assert.equal(backoffDelayMs(policy, 0, 0), 25);
  assert.equal(backoffDelayMs(policy, 0, 0.9), 25);
  assert.equal(backoffDelayMs(policy, 1, 0, 25), 25);
  assert.equal(backoffDelayMs(policy, 1, 0.5, 25), 50);
  assert.equal(backoffDelayMs(policy, 2, 0.5, 75), 125);
  assert.equal(backoffDelayMs(policy, 2, 0.5, 2000), 250);
});

test('a base of 0 never waits, also without room below the cap', () => {
  for (const curve of ['exponential', 'linear', 'fixed'] as const) {
    assert.deepEqual(steps({ curve, baseMs: 0, maxMs: 250, jitter: 'none' }, 3), [0, 0, 0]);
    assert.deepEqual(steps({ curve, baseMs: 0, maxMs: 0, jitter: 'none' }, 3), [0, 0, 0]);
  }
});

test('a thousandth retry waits for the cap, not for a wrapped number', () => {
  assert.equal(backoffDelayMs({ ...EXPONENTIAL, maxMs: 2_147_483_647 }, 1000, 0), 2_147_483_647);
  assert.equal(backoffDelayMs({ ...EXPONENTIAL, baseMs: 1, maxMs: 2_147_483_647 }, 31, 0), 2_147_483_647);
  assert.equal(backoffDelayMs({ ...EXPONENTIAL, baseMs: 1, maxMs: 2_147_483_647 }, 30, 0), 1_073_741_824);
});

test('a cap beyond what a timer holds is cut', () => {
  assert.equal(backoffDelayMs({ curve: 'fixed', baseMs: 1e12, maxMs: Infinity, jitter: 'none' }, 0, 0), 2_147_483_647);
  assert.equal(
    backoffDelayMs({ curve: 'exponential', baseMs: 1, maxMs: Infinity, jitter: 'none' }, 900, 0),
    2_147_483_647,
  );
});

test('a random number outside [0, 1) counts as the longest wait', () => {
  const policy: BackoffPolicy = { ...EXPONENTIAL, jitter: 'full' };
  for (const random of [NaN, 1, -0.1, 5, Infinity]) assert.equal(backoffDelayMs(policy, 0, random), 25, String(random));
});

test('every delay is a number from 0 to the cap', () => {
  const policies = fc.record({
    curve: fc.constantFrom('exponential' as const, 'linear' as const, 'fixed' as const),
    jitter: fc.constantFrom('full' as const, 'equal' as const, 'decorrelated' as const, 'none' as const),
    baseMs: fc.nat(2_147_483_647),
    maxMs: fc.nat(2_147_483_647),
  });
  fc.assert(
    fc.property(policies, fc.nat(2000), fc.double(), fc.nat(2_147_483_647), (policy, index, random, previous) => {
      const delayMs = backoffDelayMs(policy, index, random, previous);
      assert.ok(delayMs >= 0 && delayMs <= policy.maxMs, String(delayMs));
    }),
  );
});
