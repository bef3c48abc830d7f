import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRetryBudget, type RetryBudget } from '../../../src/core/retry-budget.ts';

function record(budget: RetryBudget, success: boolean, count: number): void {
  for (let outcome = 0; outcome < count; outcome += 1) budget.record(success, 0);
}

test('retries stop at half of the tokens, not below it', () => {
  const budget = createRetryBudget({ kind: 'throttle', maxTokens: 10, tokenRatio: 0.1 });
  assert.equal(budget.balance(0), 5);
  record(budget, false, 4);
  assert.equal(budget.withdraw(0), true);
  assert.equal(budget.balance(0), 1);
  record(budget, false, 1);
  assert.equal(budget.withdraw(0), false);
  assert.equal(budget.balance(0), 0);
});

test('an odd maximum has a half too', () => {
  const budget = createRetryBudget({ kind: 'throttle', maxTokens: 3 });
  assert.equal(budget.balance(0), 2);
  record(budget, false, 1);
  assert.equal(budget.withdraw(0), true);
  record(budget, false, 1);
  assert.equal(budget.withdraw(0), false);
});

test('a retry takes nothing and gives nothing back', () => {
  const budget = createRetryBudget({ kind: 'throttle' });
  for (let retry = 0; retry < 100; retry += 1) assert.equal(budget.withdraw(0), true);
  record(budget, false, 5);
  for (let refund = 0; refund < 100; refund += 1) budget.refund(0, 0);
  budget.deposit(0);
  assert.equal(budget.withdraw(0), false);
});

test('a success brings its ratio of a token', () => {
  const budget = createRetryBudget({ kind: 'throttle', maxTokens: 10, tokenRatio: 0.5 });
  record(budget, false, 6);
  record(budget, true, 2);
  assert.equal(budget.withdraw(0), false);
  record(budget, true, 1);
  assert.equal(budget.withdraw(0), true);
  assert.equal(budget.balance(0), 1);
});

test('tokens stay between none and the maximum', () => {
  const budget = createRetryBudget({ kind: 'throttle', maxTokens: 10, tokenRatio: 1 });
  record(budget, true, 100);
  assert.equal(budget.balance(0), 5);
  record(budget, false, 100);
  record(budget, true, 5);
  assert.equal(budget.withdraw(0), false);
  record(budget, true, 1);
  assert.equal(budget.withdraw(0), true);
});

test('a thousand tenths are exactly a hundred tokens', () => {
  const budget = createRetryBudget({ kind: 'throttle', maxTokens: 200, tokenRatio: 0.1 });
  record(budget, false, 200);
  record(budget, true, 1000);
  assert.equal(budget.withdraw(0), false);
  record(budget, true, 1);
  assert.equal(budget.withdraw(0), true);
});

for (const [ratio, successes] of [
  [0.029, 35],
  [0.0299, 35],
  [0.5556, 2],
  [0.001, 1001],
] as const) {
  test(`a ratio of ${String(ratio)} keeps three digits: ${String(successes)} successes make more than one token`, () => {
    const budget = createRetryBudget({ kind: 'throttle', maxTokens: 2, tokenRatio: ratio });
    record(budget, false, 2);
    record(budget, true, successes - 1);
    assert.equal(budget.withdraw(0), false);
    record(budget, true, 1);
    assert.equal(budget.withdraw(0), true);
  });
}
