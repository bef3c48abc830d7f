import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRetryBudget, type RetryBudgetOptions } from '../../../src/core/retry-budget.ts';

const WRONG: readonly (readonly [RetryBudgetOptions, string])[] = [
  [{ kind: 'ratio', percent: -1 }, 'retry budget: percent is -1; give a whole number from 0 to 100'],
  [{ kind: 'ratio', percent: 101 }, 'retry budget: percent is 101; give a whole number from 0 to 100'],
  [{ kind: 'ratio', percent: 0.2 }, 'retry budget: percent is 0.2; give a whole number from 0 to 100'],
  [{ kind: 'token-bucket', percent: NaN }, 'retry budget: percent is NaN; give a whole number from 0 to 100'],
  [{ kind: 'ratio', intervalMs: 999 }, 'retry budget: intervalMs is 999; give a whole number from 1000 to 3600000'],
  [
    { kind: 'token-bucket', intervalMs: 3_600_001 },
    'retry budget: intervalMs is 3600001; give a whole number from 1000 to 3600000',
  ],
  [
    { kind: 'ratio', minRetryRate: { count: -1, intervalMs: 1000 } },
    'retry budget: minRetryRate.count is -1; give a whole number from 0 to 1000000',
  ],
  [
    { kind: 'ratio', minRetryRate: { count: 1_000_001, intervalMs: 1000 } },
    'retry budget: minRetryRate.count is 1000001; give a whole number from 0 to 1000000',
  ],
  [
    { kind: 'ratio', minRetryRate: { count: 1, intervalMs: 1 } },
    'retry budget: minRetryRate.intervalMs is 1; give a whole number from 1000 to 3600000',
  ],
  [{ kind: 'throttle', maxTokens: 0 }, 'retry budget: maxTokens is 0; give a whole number from 1 to 1000'],
  [{ kind: 'throttle', maxTokens: 1001 }, 'retry budget: maxTokens is 1001; give a whole number from 1 to 1000'],
  [{ kind: 'throttle', tokenRatio: 0 }, 'retry budget: tokenRatio is 0; give a number from 0.001 to 1000'],
  [{ kind: 'throttle', tokenRatio: 0.0009 }, 'retry budget: tokenRatio is 0.0009; give a number from 0.001 to 1000'],
  [{ kind: 'throttle', tokenRatio: -1 }, 'retry budget: tokenRatio is -1; give a number from 0.001 to 1000'],
  [{ kind: 'throttle', tokenRatio: 1000.1 }, 'retry budget: tokenRatio is 1000.1; give a number from 0.001 to 1000'],
  [{ kind: 'throttle', tokenRatio: NaN }, 'retry budget: tokenRatio is NaN; give a number from 0.001 to 1000'],
];

for (const [options, message] of WRONG) {
  test(`a fault is named: ${message}`, () => {
    assert.throws(() => createRetryBudget(options), { name: 'RangeError', message });
  });
}

test('the ends of every range are allowed', () => {
  for (const percent of [0, 100]) createRetryBudget({ kind: 'ratio', percent });
  for (const intervalMs of [1000, 3_600_000]) {
    createRetryBudget({ kind: 'token-bucket', intervalMs, minRetryRate: { count: 1_000_000, intervalMs } });
  }
  for (const maxTokens of [1, 1000]) createRetryBudget({ kind: 'throttle', maxTokens, tokenRatio: 0.001 });
  createRetryBudget({ kind: 'throttle', tokenRatio: 1000 });
});

test('a budget says its kind, and ratio is the default', () => {
  for (const kind of ['ratio', 'token-bucket', 'throttle', 'none'] as const)
    assert.equal(createRetryBudget({ kind }).kind, kind);
  assert.equal(createRetryBudget().kind, 'ratio');
});

test('none grants everything and says so', () => {
  const budget = createRetryBudget({ kind: 'none' });
  budget.deposit(0);
  budget.record(false, 0);
  for (let retry = 0; retry < 1000; retry += 1) assert.equal(budget.withdraw(0), true);
  budget.refund(0, 0);
  assert.equal(budget.balance(0), Infinity);
});
