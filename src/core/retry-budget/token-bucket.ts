import type { RetryBudget, TokenBucketBudgetOptions } from '../retry-budget.ts';
import { validWindow, type Window } from './range.ts';
import { SlidingSum } from '../sliding-sum.ts';

/** What a retry costs; a request brings `percent` of these, so that every percentage is a whole number of units. */
const RETRY_UNITS = 100;

/**
 * Units that live for one interval, above a standing reserve of the minimum rate times the interval. The reserve can
 * be spent at once and comes back when what was spent of it expires.
 */
export function createTokenBucketBudget(options: TokenBucketBudgetOptions): RetryBudget {
  return new TokenBucketBudget(validWindow(options));
}

class TokenBucketBudget implements RetryBudget {
  readonly kind = 'token-bucket';
  readonly #percent: number;
  readonly #reserveUnits: number;
  readonly #brought: SlidingSum;
  readonly #spent: SlidingSum;

  constructor({ percent, intervalMs, minRetryRate }: Window) {
    this.#percent = percent;
    this.#reserveUnits = Math.floor((minRetryRate.count * intervalMs * RETRY_UNITS) / minRetryRate.intervalMs);
    this.#brought = new SlidingSum(intervalMs);
    this.#spent = new SlidingSum(intervalMs);
  }

  deposit(nowMs: number): void {
    this.#brought.add(this.#percent, nowMs);
  }

  withdraw(nowMs: number): boolean {
    if (this.balance(nowMs) < 1) return false;
    this.#spent.add(RETRY_UNITS, nowMs);
    return true;
  }

  refund(nowMs: number, withdrawnAtMs: number): void {
    this.#spent.takeBack(RETRY_UNITS, withdrawnAtMs, nowMs);
  }

  withdrawHedge(nowMs: number): boolean {
    if (this.#brought.total(nowMs) - this.#spent.total(nowMs) < RETRY_UNITS) return false;
    this.#spent.add(RETRY_UNITS, nowMs);
    return true;
  }

  refundHedge(nowMs: number, withdrawnAtMs: number): void {
    this.refund(nowMs, withdrawnAtMs);
  }

  record(): void {}

  balance(nowMs: number): number {
    if (this.#percent === 0) return 0;
    const units = this.#reserveUnits + this.#brought.total(nowMs) - this.#spent.total(nowMs);
    return Math.max(0, Math.floor(units / RETRY_UNITS));
  }
}
