import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRetryBudget, type RetryBudgetOptions } from '../../../src/core/retry-budget.ts';

/** The same budgets as lists of everything that ever happened, added up anew for each question. */
interface Model {
  deposit(nowMs: number): void;
  withdraw(nowMs: number): boolean;
  refund(nowMs: number, withdrawnAtMs: number): void;
  record(success: boolean): void;
}

class Ledger {
  readonly #instants: number[] = [];
  readonly #intervalMs: number;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  add(instantMs: number): void {
    this.#instants.push(instantMs);
  }

  remove(instantMs: number): void {
    const slot = this.#slotOf(instantMs);
    const index = this.#instants.findIndex((instant) => this.#slotOf(instant) === slot);
    if (index >= 0) this.#instants.splice(index, 1);
  }

  count(nowMs: number): number {
    return this.#instants.filter((instant) => this.#slotOf(nowMs) - this.#slotOf(instant) < 10).length;
  }

  #slotOf(instantMs: number): number {
    return Math.floor((instantMs * 10) / this.#intervalMs);
  }
}

interface WindowOptions {
  readonly percent: number;
  readonly intervalMs: number;
  readonly minRetryRate: { readonly count: number; readonly intervalMs: number };
}

function ratioModel({ percent, intervalMs, minRetryRate }: WindowOptions): Model {
  const requests = new Ledger(intervalMs);
  const retries = new Ledger(intervalMs);
  const recent = new Ledger(minRetryRate.intervalMs);
  return {
    deposit: (nowMs) => requests.add(nowMs),
    withdraw(nowMs) {
      const withinShare = (retries.count(nowMs) + 1) * 100 <= percent * requests.count(nowMs);
      const withinRate = recent.count(nowMs) < minRetryRate.count;
      if (percent === 0 || !(withinShare || withinRate)) return false;
      retries.add(nowMs);
      recent.add(nowMs);
      return true;
    },
    refund(_nowMs, withdrawnAtMs) {
      retries.remove(withdrawnAtMs);
      recent.remove(withdrawnAtMs);
    },
    record: () => {},
  };
}

function tokenBucketModel({ percent, intervalMs, minRetryRate }: WindowOptions): Model {
  const requests = new Ledger(intervalMs);
  const retries = new Ledger(intervalMs);
  const reserve = (minRetryRate.count * intervalMs) / minRetryRate.intervalMs;
  return {
    deposit: (nowMs) => requests.add(nowMs),
    withdraw(nowMs) {
      const units = Math.floor(reserve * 100) + percent * requests.count(nowMs) - 100 * retries.count(nowMs);
      if (percent === 0 || units < 100) return false;
      retries.add(nowMs);
      return true;
    },
    refund: (_nowMs, withdrawnAtMs) => retries.remove(withdrawnAtMs),
    record: () => {},
  };
}

function throttleModel(maxTokens: number, ratioThousandths: number): Model {
  let thousandths = maxTokens * 1000;
  return {
    deposit: () => {},
    withdraw: () => thousandths * 2 > maxTokens * 1000,
    refund: () => {},
    record(success) {
      thousandths = Math.max(0, Math.min(maxTokens * 1000, thousandths + (success ? ratioThousandths : -1000)));
    },
  };
}

type Step =
  | { readonly type: 'pass'; readonly ms: number }
  | { readonly type: 'deposit'; readonly count: number }
  | { readonly type: 'withdraw'; readonly count: number }
  | { readonly type: 'refund'; readonly which: number }
  | { readonly type: 'record'; readonly success: boolean };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('pass' as const), ms: fc.oneof(fc.nat(400), fc.nat(3000), fc.nat(50_000)) }),
    fc.record({ type: fc.constant('deposit' as const), count: fc.integer({ min: 1, max: 20 }) }),
    fc.record({ type: fc.constant('withdraw' as const), count: fc.integer({ min: 1, max: 20 }) }),
    fc.record({ type: fc.constant('refund' as const), which: fc.nat(20) }),
    fc.record({ type: fc.constant('record' as const), success: fc.boolean() }),
  ),
  { maxLength: 60 },
);

function agree(options: RetryBudgetOptions, model: Model, taken: readonly Step[]): void {
  const budget = createRetryBudget(options);
  const withdrawals: number[] = [];
  let nowMs = 0;
  for (const step of taken) {
    switch (step.type) {
      case 'pass':
        nowMs += step.ms;
        break;
      case 'deposit':
        for (let count = 0; count < step.count; count += 1) {
          budget.deposit(nowMs);
          model.deposit(nowMs);
        }
        break;
      case 'withdraw':
        for (let count = 0; count < step.count; count += 1) {
          const expected = model.withdraw(nowMs);
          assert.equal(budget.balance(nowMs) >= 1, expected, 'balance');
          assert.equal(budget.withdraw(nowMs), expected, 'withdraw');
          if (expected) withdrawals.push(nowMs);
        }
        break;
      case 'refund': {
        const [withdrawnAtMs] = withdrawals.splice(step.which, 1);
        if (withdrawnAtMs === undefined) break;
        budget.refund(nowMs, withdrawnAtMs);
        model.refund(nowMs, withdrawnAtMs);
        break;
      }
      case 'record':
        budget.record(step.success, nowMs);
        model.record(step.success);
    }
  }
}

const windows: fc.Arbitrary<WindowOptions> = fc.record({
  percent: fc.integer({ min: 0, max: 100 }),
  intervalMs: fc.constantFrom(1000, 1500, 10_000),
  minRetryRate: fc.record({ count: fc.nat(5), intervalMs: fc.constantFrom(1000, 2000) }),
});

test('ratio agrees with its ledger in every sequence of events', () => {
  fc.assert(
    fc.property(windows, steps, (window, taken) => agree({ kind: 'ratio', ...window }, ratioModel(window), taken)),
  );
});

test('token-bucket agrees with its ledger in every sequence of events', () => {
  fc.assert(
    fc.property(windows, steps, (window, taken) =>
      agree({ kind: 'token-bucket', ...window }, tokenBucketModel(window), taken),
    ),
  );
});

test('throttle agrees with its count in every sequence of events', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 2000 }),
      steps,
      (maxTokens, thousandths, taken) =>
        agree(
          { kind: 'throttle', maxTokens, tokenRatio: thousandths / 1000 },
          throttleModel(maxTokens, thousandths),
          taken,
        ),
    ),
  );
});
