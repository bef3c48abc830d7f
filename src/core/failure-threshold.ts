import { requireWholeNumber } from './require-whole-number.ts';
import { SlidingSum } from './sliding-sum.ts';

/** When failures are too many. Either of the two conditions is enough; one that is left out is not looked at. */
export interface FailureThresholdOptions {
  /** So many failures in a row, with no success in between. 1–1 000 000. */
  readonly consecutiveFailures?: number | undefined;
  /** So many failures per 100 requests of the last `windowMs`, from `minRequests` on. 1–100. */
  readonly failurePercent?: number | undefined;
  /** Fewer requests in the window say nothing about a share. 1–1 000 000, default 20. */
  readonly minRequests?: number | undefined;
  /** 1000–3 600 000. Default 10 000. */
  readonly windowMs?: number | undefined;
}

/** The same with its defaults, checked; Infinity for a condition that is not looked at. */
export interface FailureLimits {
  readonly consecutiveFailures: number;
  readonly failurePercent: number;
  readonly minRequests: number;
  readonly windowMs: number;
}

export const DEFAULT_MIN_REQUESTS = 20;
export const DEFAULT_WINDOW_MS = 10_000;

/**
 * Fills in the defaults and checks the ranges.
 * @param owner names the setting in errors
 * @throws RangeError naming owner, field, value and range
 */
export function failureLimits(owner: string, options: FailureThresholdOptions): FailureLimits {
  const limits: FailureLimits = {
    consecutiveFailures: options.consecutiveFailures ?? Infinity,
    failurePercent: options.failurePercent ?? Infinity,
    minRequests: options.minRequests ?? DEFAULT_MIN_REQUESTS,
    windowMs: options.windowMs ?? DEFAULT_WINDOW_MS,
  };
  const { consecutiveFailures, failurePercent, minRequests, windowMs } = limits;
  if (options.consecutiveFailures !== undefined) {
    requireWholeNumber(owner, 'consecutiveFailures', consecutiveFailures, 1, 1_000_000);
  }
  if (options.failurePercent !== undefined) requireWholeNumber(owner, 'failurePercent', failurePercent, 1, 100);
  requireWholeNumber(owner, 'minRequests', minRequests, 1, 1_000_000);
  requireWholeNumber(owner, 'windowMs', windowMs, 1000, 3_600_000);
  return limits;
}

/** Counts results until there are too many failures. */
export class FailureThreshold {
  readonly #limits: FailureLimits;
  #inRow = 0;
  #requests: SlidingSum;
  #failures: SlidingSum;

  constructor(limits: FailureLimits) {
    this.#limits = limits;
    this.#requests = new SlidingSum(limits.windowMs);
    this.#failures = new SlidingSum(limits.windowMs);
  }

  /** Returns whether this result is a failure with which there are too many. */
  record(failed: boolean, nowMs: number): boolean {
    const { consecutiveFailures, failurePercent, minRequests } = this.#limits;
    this.#inRow = failed ? this.#inRow + 1 : 0;
    if (failurePercent === Infinity) return failed && this.#inRow >= consecutiveFailures;
    this.#requests.add(1, nowMs);
    if (!failed) return false;
    this.#failures.add(1, nowMs);
    if (this.#inRow >= consecutiveFailures) return true;
    const requests = this.#requests.total(nowMs);
    return requests >= minRequests && 100 * this.#failures.total(nowMs) >= failurePercent * requests;
  }

  /** Forgets everything. */
  reset(): void {
    this.#inRow = 0;
    if (this.#limits.failurePercent === Infinity) return;
    this.#requests = new SlidingSum(this.#limits.windowMs);
    this.#failures = new SlidingSum(this.#limits.windowMs);
  }
}
