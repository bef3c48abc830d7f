import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRetryBudget, type RetryBudget } from '../../../src/core/retry-budget.ts';

const NO_RATE = { count: 0, intervalMs: 1000 };
const PERCENTAGES: readonly number[] = [0, 1, 10, 20, 30, 33, 50, 75, 90, 100];

function deposits(budget: RetryBudget, count: number, nowMs = 0): void {
  for (let request = 0; request < count; request += 1) budget.deposit(nowMs);
}

function granted(budget: RetryBudget, tries: number, nowMs = 0): number {
  let count = 0;
  for (let retry = 0; retry < tries; retry += 1) if (budget.withdraw(nowMs)) count += 1;
  return count;
}

// Both kinds promise the same over a window; one contract for the two of them.
for (const kind of ['ratio', 'token-bucket'] as const) {
  for (const percent of PERCENTAGES) {
    test(`${kind}: ${String(percent)} % of 10 000 requests are exactly ${String(percent * 100)} retries, asked for one by one`, () => {
      const budget = createRetryBudget({ kind, percent, minRetryRate: NO_RATE });
      let retries = 0;
      for (let request = 1; request <= 10_000; request += 1) {
        budget.deposit(request / 2);
        retries += granted(budget, 2, request / 2);
        assert.ok(Math.abs(retries - (request * percent) / 100) <= 1, `${String(retries)} after ${String(request)}`);
      }
      assert.equal(retries, percent * 100);
    });

    test(`${kind}: ${String(percent)} % stays ${String(percent)} % over many windows`, () => {
      const budget = createRetryBudget({ kind, percent, intervalMs: 1000, minRetryRate: NO_RATE });
      let retries = 0;
      for (let request = 1; request <= 10_000; request += 1) {
        budget.deposit(request);
        retries += granted(budget, 2, request);
      }
      assert.ok(retries <= percent * 100, String(retries));
      assert.ok(retries >= percent * 100 - 10, String(retries));
    });
  }

  test(`${kind}: 0 % is no retry, whatever the minimum rate`, () => {
    const budget = createRetryBudget({ kind, percent: 0, minRetryRate: { count: 1000, intervalMs: 1000 } });
    deposits(budget, 1000);
    assert.equal(budget.balance(0), 0);
    assert.equal(granted(budget, 100), 0);
  });

  test(`${kind}: retries deposit nothing, so a budget that was used up stays so`, () => {
    const budget = createRetryBudget({ kind, percent: 50, minRetryRate: NO_RATE });
    deposits(budget, 10);
    assert.equal(granted(budget, 100), 5);
    assert.equal(granted(budget, 100), 0);
    assert.equal(budget.balance(0), 0);
  });

  test(`${kind}: outcomes change nothing`, () => {
    const budget = createRetryBudget({ kind, percent: 50, minRetryRate: NO_RATE });
    deposits(budget, 10);
    for (let count = 0; count < 100; count += 1) budget.record(count % 2 === 0, 0);
    assert.equal(budget.balance(0), 5);
  });

  test(`${kind}: a retry that was not sent is given back once`, () => {
    const budget = createRetryBudget({ kind, percent: 100, minRetryRate: NO_RATE });
    deposits(budget, 1);
    assert.equal(budget.withdraw(0), true);
    assert.equal(budget.withdraw(0), false);
    budget.refund(10, 0);
    budget.refund(10, 0);
    budget.refund(10, 0);
    assert.equal(budget.balance(10), 1);
    assert.equal(granted(budget, 5, 10), 1);
  });

  test(`${kind}: what was withdrawn in a slot that has expired is not given back to a later one`, () => {
    const budget = createRetryBudget({ kind, percent: 100, minRetryRate: NO_RATE });
    deposits(budget, 1, 0);
    assert.equal(budget.withdraw(0), true);
    deposits(budget, 1, 9999);
    assert.equal(budget.withdraw(9999), true);
    budget.refund(10_000, 0);
    assert.equal(budget.balance(10_000), 0);
    budget.refund(10_000, 9999);
    assert.equal(budget.balance(10_000), 1);
  });

  test(`${kind}: a refund that comes too late takes nothing from the slot that took the old one’s place`, () => {
    const budget = createRetryBudget({ kind, percent: 100, minRetryRate: NO_RATE });
    deposits(budget, 1, 0);
    assert.equal(budget.withdraw(0), true);
    deposits(budget, 1, 10_000);
    assert.equal(budget.withdraw(10_000), true);
    budget.refund(10_000, 0);
    assert.equal(budget.balance(10_000), 0);
  });

  test(`${kind}: what was withdrawn in the oldest slot that lives is given back`, () => {
    const budget = createRetryBudget({ kind, percent: 100, minRetryRate: NO_RATE });
    deposits(budget, 2, 1000);
    assert.equal(granted(budget, 3, 1000), 2);
    budget.refund(10_999, 1000);
    assert.equal(budget.balance(10_999), 1);
    budget.refund(10_999, 20_000);
    budget.refund(10_999, -1);
    budget.refund(10_999, NaN);
    assert.equal(budget.balance(10_999), 1);
  });

  test(`${kind}: requests count for one interval, in ten slots`, () => {
    const budget = createRetryBudget({ kind, percent: 100, minRetryRate: NO_RATE });
    deposits(budget, 3, 500);
    deposits(budget, 4, 1500);
    assert.equal(budget.balance(9999), 7);
    assert.equal(budget.balance(10_000), 4);
    assert.equal(budget.balance(10_999), 4);
    assert.equal(budget.balance(11_000), 0);
  });

  test(`${kind}: a pause longer than the interval leaves nothing of before`, () => {
    const budget = createRetryBudget({ kind, percent: 100, minRetryRate: NO_RATE });
    for (let second = 0; second < 10; second += 1) deposits(budget, 3, second * 1000);
    assert.equal(budget.balance(9500), 30);
    assert.equal(budget.balance(3_600_000), 0);
    deposits(budget, 2, 3_600_000);
    assert.equal(budget.balance(3_600_000), 2);
  });

  test(`${kind}: a clock that jumps back makes no budget`, () => {
    const budget = createRetryBudget({ kind, percent: 10, minRetryRate: { count: 1, intervalMs: 1000 } });
    deposits(budget, 100, 60_000);
    const first = granted(budget, 1000, 60_000);
    for (const nowMs of [59_000, 40_000, 0, -7_200_000]) assert.equal(granted(budget, 1000, nowMs), 0, String(nowMs));
    assert.equal(granted(budget, 1000, 60_001), 0);
    assert.ok(first <= 20, String(first));
  });

  test(`${kind}: a clock that jumps forth and back over and over makes at most one window’s budget`, () => {
    const budget = createRetryBudget({ kind, percent: 10, minRetryRate: { count: 1, intervalMs: 1000 } });
    deposits(budget, 100, 1000);
    const first = granted(budget, 1000, 1000);
    let later = 0;
    for (let jump = 0; jump < 50; jump += 1) {
      later += granted(budget, 100, 3_600_000);
      later += granted(budget, 100, 1000);
    }
    assert.ok(first <= 20 && later <= 10, `${String(first)} and ${String(later)}`);
  });

  test(`${kind}: an instant that is no number changes nothing`, () => {
    const budget = createRetryBudget({ kind, percent: 100, minRetryRate: NO_RATE });
    deposits(budget, 5, 20_000);
    assert.equal(budget.balance(NaN), 5);
    assert.equal(budget.balance(Infinity), 5);
    assert.equal(budget.balance(-Infinity), 5);
    assert.equal(budget.balance(20_000), 5);
  });

  test(`${kind}: works from an instant far from 0`, () => {
    const budget = createRetryBudget({ kind, percent: 100, minRetryRate: NO_RATE });
    deposits(budget, 5, 1e12);
    assert.equal(granted(budget, 10, 1e12), 5);
    assert.equal(budget.balance(1e12 + 20_000), 0);
  });
}

test('ratio: the first request brings its share at once', () => {
  const budget = createRetryBudget({ kind: 'ratio', percent: 100, minRetryRate: NO_RATE });
  assert.equal(budget.withdraw(0), false);
  budget.deposit(0);
  assert.equal(budget.withdraw(0), true);
});

test('ratio: ten retries a second are allowed without any traffic', () => {
  const budget = createRetryBudget();
  assert.equal(budget.balance(0), 10);
  assert.equal(granted(budget, 100, 0), 10);
  assert.equal(granted(budget, 100, 999), 0);
  assert.equal(granted(budget, 100, 1000), 10);
});

test('ratio: the minimum rate counts every retry, also those the share paid for', () => {
  const budget = createRetryBudget({ kind: 'ratio', percent: 20, minRetryRate: { count: 5, intervalMs: 1000 } });
  deposits(budget, 100, 0);
  assert.equal(budget.balance(0), 20);
  assert.equal(granted(budget, 100, 0), 20);
  assert.equal(granted(budget, 100, 1000), 5);
});

test('ratio: the minimum rate slides in tenths of its own interval', () => {
  const budget = createRetryBudget({ kind: 'ratio', percent: 1, minRetryRate: { count: 2, intervalMs: 2000 } });
  assert.equal(granted(budget, 1, 0), 1);
  assert.equal(granted(budget, 5, 1900), 1);
  assert.equal(granted(budget, 5, 1999), 0);
  assert.equal(granted(budget, 5, 2000), 1);
  assert.equal(granted(budget, 5, 3799), 0);
  assert.equal(granted(budget, 5, 3800), 1);
});

test('ratio: a refund gives the minimum rate back too', () => {
  const budget = createRetryBudget({ kind: 'ratio', percent: 1, minRetryRate: { count: 1, intervalMs: 1000 } });
  assert.equal(granted(budget, 2, 0), 1);
  budget.refund(50, 0);
  assert.equal(granted(budget, 2, 50), 1);
});

test('ratio: balance never goes below 0 when requests expire before their retries', () => {
  const budget = createRetryBudget({ kind: 'ratio', percent: 100, minRetryRate: NO_RATE });
  deposits(budget, 3, 0);
  assert.equal(granted(budget, 3, 9000), 3);
  assert.equal(budget.balance(12_000), 0);
  deposits(budget, 2, 12_000);
  assert.equal(budget.balance(12_000), 0);
  assert.equal(budget.balance(19_000), 2);
});

test('ratio: a hundred calls that all fail schedule at most a fifth of themselves as retries', () => {
  const budget = createRetryBudget({ kind: 'ratio', percent: 20, minRetryRate: NO_RATE });
  deposits(budget, 100);
  assert.equal(granted(budget, 100), 20);
});

test('ratio: a thousand failing calls of three attempts and 10 % make about 1100 sends', () => {
  const budget = createRetryBudget({ kind: 'ratio', percent: 10, minRetryRate: NO_RATE });
  let sends = 0;
  for (let call = 0; call < 1000; call += 1) {
    budget.deposit(call);
    sends += 1 + granted(budget, 2, call);
  }
  assert.equal(sends, 1100);
});

test('token-bucket: the reserve is the minimum rate over the whole interval, and can be spent at once', () => {
  const budget = createRetryBudget({ kind: 'token-bucket' });
  assert.equal(budget.balance(0), 100);
  assert.equal(granted(budget, 1000, 0), 100);
  assert.equal(budget.balance(0), 0);
  assert.equal(budget.balance(9999), 0);
  assert.equal(budget.balance(10_000), 100);
});

test('token-bucket: without limits per request, the first one takes 100 retries, then five successes pay for one', () => {
  const budget = createRetryBudget({ kind: 'token-bucket', percent: 20 });
  const attempts: number[] = [];
  for (let request = 0; request < 3; request += 1) {
    budget.deposit(0);
    attempts.push(1 + granted(budget, 1000));
  }
  assert.deepEqual(attempts, [101, 1, 1]);
  deposits(budget, 20);
  budget.deposit(0);
  assert.equal(1 + granted(budget, 1000), 5);
});

test('token-bucket: a reserve that is no whole number of retries keeps its fraction for the deposits', () => {
  const budget = createRetryBudget({
    kind: 'token-bucket',
    percent: 50,
    intervalMs: 1000,
    minRetryRate: { count: 3, intervalMs: 2000 },
  });
  assert.equal(budget.balance(0), 1);
  budget.deposit(0);
  assert.equal(budget.balance(0), 2);
});
