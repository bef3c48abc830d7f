import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_RETRY_BUDGET, DEFAULT_RETRY_POLICY } from '../../src/core/presets/default.ts';
import { createRetryPolicy, type RetryPolicyOptions } from '../../src/core/retry-policy.ts';

test('a policy of no options is the default policy', () => {
  assert.deepEqual(createRetryPolicy(), DEFAULT_RETRY_POLICY);
  assert.deepEqual(createRetryPolicy({ maxRetries: undefined, codes: undefined }), DEFAULT_RETRY_POLICY);
});

test('the default retries once what was not processed, with a short jittered backoff', () => {
  assert.deepEqual(DEFAULT_RETRY_POLICY, {
    maxRetries: 1,
    codes: new Set(),
    on: new Set(['unsent', 'rejected', 'stale']),
    backoff: { curve: 'exponential', baseMs: 25, maxMs: 250, jitter: 'full' },
    retryAfterMaxMs: 10_000,
    retryOfRetry: false,
    ownership: 'enforce',
  });
});

test('the default budget is 20 % in 10 s and 10 retries a second', () => {
  assert.deepEqual(DEFAULT_RETRY_BUDGET, {
    kind: 'ratio',
    percent: 20,
    intervalMs: 10_000,
    minRetryRate: { count: 10, intervalMs: 1000 },
  });
});

test('what is said replaces the default', () => {
  const policy = createRetryPolicy({
    maxRetries: 0,
    codes: [503, 503, 400, 599],
    on: ['reset'],
    curve: 'linear',
    backoffMs: 0,
    maxBackoffMs: 0,
    jitter: 'equal',
    retryAfterMaxMs: 0,
    retryOfRetry: true,
    ownership: 'observe',
  });
  assert.deepEqual(policy, {
    maxRetries: 0,
    codes: new Set([503, 400, 599]),
    on: new Set(['reset']),
    backoff: { curve: 'linear', baseMs: 0, maxMs: 0, jitter: 'equal' },
    retryAfterMaxMs: 0,
    retryOfRetry: true,
    ownership: 'observe',
  });
});

test('the ends of every range are allowed', () => {
  assert.equal(createRetryPolicy({ maxRetries: 1000 }).maxRetries, 1000);
  assert.equal(createRetryPolicy({ backoffMs: 2_147_483_647 }).backoff.maxMs, 2_147_483_647);
  assert.equal(createRetryPolicy({ retryAfterMaxMs: 2_147_483_647 }).retryAfterMaxMs, 2_147_483_647);
});

const WRONG: readonly (readonly [RetryPolicyOptions, string])[] = [
  [{ maxRetries: -1 }, 'retry policy: maxRetries is -1; give a whole number from 0 to 1000'],
  [{ maxRetries: 1001 }, 'retry policy: maxRetries is 1001; give a whole number from 0 to 1000'],
  [{ maxRetries: 1.5 }, 'retry policy: maxRetries is 1.5; give a whole number from 0 to 1000'],
  [{ maxRetries: NaN }, 'retry policy: maxRetries is NaN; give a whole number from 0 to 1000'],
  [{ codes: [503, 399] }, 'retry policy: codes is 399; give a whole number from 400 to 599'],
  [{ codes: [600] }, 'retry policy: codes is 600; give a whole number from 400 to 599'],
  [
    { on: ['reset', 'never' as 'reset'] },
    "retry policy: on is 'never'; give one of unsent, rejected, stale, reset, timeout",
  ],
  [{ curve: 'cubic' as 'linear' }, "retry policy: curve is 'cubic'; give one of exponential, linear, fixed"],
  [{ jitter: 'some' as 'full' }, "retry policy: jitter is 'some'; give one of full, equal, decorrelated, none"],
  [{ ownership: 'on' as 'off' }, "retry policy: ownership is 'on'; give one of off, observe, enforce"],
  [{ backoffMs: -1 }, 'retry policy: backoffMs is -1; give milliseconds from 0 to 2147483647'],
  [{ backoffMs: NaN }, 'retry policy: backoffMs is NaN; give milliseconds from 0 to 2147483647'],
  [{ backoffMs: 2 ** 31 }, 'retry policy: backoffMs is 2147483648; give milliseconds from 0 to 2147483647'],
  [{ backoffMs: 100, maxBackoffMs: 99 }, 'retry policy: maxBackoffMs is 99; give milliseconds from 100 to 2147483647'],
  [{ retryAfterMaxMs: -1 }, 'retry policy: retryAfterMaxMs is -1; give milliseconds from 0 to 2147483647'],
  [{ retryAfterMaxMs: Infinity }, 'retry policy: retryAfterMaxMs is Infinity; give milliseconds from 0 to 2147483647'],
];

for (const [options, message] of WRONG) {
  test(`a fault is named: ${message}`, () => {
    assert.throws(() => createRetryPolicy(options), { name: 'RangeError', message });
  });
}

test('the ceiling of the backoff is ten times its base where none is given, and never below 250 ms', () => {
  assert.equal(createRetryPolicy({ backoffMs: 500 }).backoff.maxMs, 5000);
  assert.equal(createRetryPolicy({ backoffMs: 1 }).backoff.maxMs, 250);
});
