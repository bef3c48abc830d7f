import type { RatioBudgetOptions, RetryBudget } from '../retry-budget.ts';
import { validWindow, type Window } from './range.ts';
import { SlidingSum } from '../sliding-sum.ts';

/**
 * Allows a retry while retries stay within `percent` of the requests of the last interval, or while fewer than the
 * minimum rate were made. Whole numbers throughout: 30 %, 75 % and 90 % are themselves.
 */
export function createRatioBudget(options: RatioBudgetOptions): RetryBudget {
  return new RatioBudget(validWindow(options));
}

class RatioBudget implements RetryBudget {
  readonly kind = 'ratio';
  readonly #percent: number;
  readonly #minCount: number;
  readonly #requests: SlidingSum;
  readonly #retries: SlidingSum;
  readonly #recentRetries: SlidingSum;

  constructor(window: Window) {
    this.#percent = window.percent;
    this.#minCount = window.minRetryRate.count;
    this.#requests = new SlidingSum(window.intervalMs);
    this.#retries = new SlidingSum(window.intervalMs);
    this.#recentRetries = new SlidingSum(window.minRetryRate.intervalMs);
  }

  deposit(nowMs: number): void {
    this.#requests.add(1, nowMs);
  }

  withdraw(nowMs: number): boolean {
    if (this.balance(nowMs) < 1) return false;
    this.#retries.add(1, nowMs);
    this.#recentRetries.add(1, nowMs);
    return true;
  }

  refund(nowMs: number, withdrawnAtMs: number): void {
    this.#retries.takeBack(1, withdrawnAtMs, nowMs);
    this.#recentRetries.takeBack(1, withdrawnAtMs, nowMs);
  }

  /** Not one of the recent retries: those are for the minimum rate, which hedges neither have nor use up. */
  withdrawHedge(nowMs: number): boolean {
    if (this.#shareLeft(nowMs) < 1) return false;
    this.#retries.add(1, nowMs);
    return true;
  }

  refundHedge(nowMs: number, withdrawnAtMs: number): void {
    this.#retries.takeBack(1, withdrawnAtMs, nowMs);
  }

  record(): void {}

  balance(nowMs: number): number {
    if (this.#percent === 0) return 0;
    const byRate = this.#minCount - this.#recentRetries.total(nowMs);
    return Math.max(0, this.#shareLeft(nowMs), byRate);
  }

  #shareLeft(nowMs: number): number {
    const allowed = Math.floor((this.#percent * this.#requests.total(nowMs)) / 100);
    return allowed - this.#retries.total(nowMs);
  }
}
