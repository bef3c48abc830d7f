import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRetryBudget, type RetryBudget } from '../../../src/core/retry-budget.ts';

function deposits(budget: RetryBudget, count: number, nowMs = 0): void {
  for (let request = 0; request < count; request += 1) budget.deposit(nowMs);
}

function hedges(budget: RetryBudget, tries: number, nowMs = 0): number {
  let count = 0;
  for (let hedge = 0; hedge < tries; hedge += 1) if (budget.withdrawHedge(nowMs)) count += 1;
  return count;
}

for (const kind of ['ratio', 'token-bucket'] as const) {
  test(`${kind}: without traffic there is no hedge, however large the minimum rate of retries`, () => {
    const budget = createRetryBudget({ kind, percent: 100, minRetryRate: { count: 1000, intervalMs: 1000 } });
    assert.equal(hedges(budget, 10), 0);
    assert.equal(budget.withdraw(0), true);
  });

  test(`${kind}: hedges are granted to the share and no further`, () => {
    const budget = createRetryBudget({ kind, percent: 20 });
    deposits(budget, 54);
    assert.equal(hedges(budget, 100), 10);
  });

  test(`${kind}: hedges and retries draw on the same share`, () => {
    const budget = createRetryBudget({ kind, percent: 20, minRetryRate: { count: 0, intervalMs: 1000 } });
    deposits(budget, 50);
    assert.equal(hedges(budget, 7), 7);
    assert.equal(budget.balance(0), 3);
    for (let retry = 0; retry < 3; retry += 1) assert.equal(budget.withdraw(0), true);
    assert.deepEqual([hedges(budget, 1), budget.withdraw(0)], [0, false]);
  });

  test(`${kind}: a hedge that is given back can be granted again, once`, () => {
    const budget = createRetryBudget({ kind, percent: 20 });
    deposits(budget, 5);
    assert.equal(hedges(budget, 2), 1);
    budget.refundHedge(10, 0);
    assert.equal(hedges(budget, 2, 10), 1);
  });

  test(`${kind}: 0 % is no hedge`, () => {
    const budget = createRetryBudget({ kind, percent: 0 });
    deposits(budget, 1000);
    assert.equal(hedges(budget, 10), 0);
  });

  test(`${kind}: hedges expire with their interval`, () => {
    const budget = createRetryBudget({ kind, percent: 100, intervalMs: 1000 });
    deposits(budget, 1);
    assert.equal(hedges(budget, 2), 1);
    deposits(budget, 1, 5000);
    assert.equal(hedges(budget, 2, 5000), 1);
  });
}

test('ratio: hedges leave the minimum rate to the retries', () => {
  const budget = createRetryBudget({ kind: 'ratio', percent: 20, minRetryRate: { count: 5, intervalMs: 1000 } });
  deposits(budget, 25);
  assert.equal(hedges(budget, 10), 5);
  assert.equal(budget.balance(0), 5);
});

test('throttle: hedges stop where retries stop', () => {
  const budget = createRetryBudget({ kind: 'throttle', maxTokens: 4 });
  assert.equal(hedges(budget, 3), 3);
  budget.record(false, 0);
  budget.record(false, 0);
  assert.equal(hedges(budget, 3), 0);
  budget.refundHedge(0, 0);
  assert.equal(hedges(budget, 1), 0);
});

test('none: every hedge is granted', () => {
  const budget = createRetryBudget({ kind: 'none' });
  assert.equal(hedges(budget, 100), 100);
  budget.refundHedge(0, 0);
});
