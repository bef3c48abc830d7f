import { NO_RETRY_BUDGET } from './retry-budget/none.ts';
import { createRatioBudget } from './retry-budget/ratio.ts';
import { createThrottleBudget } from './retry-budget/throttle.ts';
import { createTokenBucketBudget } from './retry-budget/token-bucket.ts';

/**
 * Bounds retries to a share of first attempts, so that an outage is not multiplied.
 * All times are the host's monotonic milliseconds; a time before the latest one seen counts as the latest, so that
 * a clock that jumps can never make budget.
 */
export interface RetryBudget {
  readonly kind: 'ratio' | 'token-bucket' | 'throttle' | 'none';
  /** Once per logical request; never for a retry. */
  deposit(nowMs: number): void;
  /** Takes one retry if there is one; called when the retry is decided. */
  withdraw(nowMs: number): boolean;
  /**
   * Gives back a withdrawal whose retry was not sent, into the slot it came from; when that slot has expired, there is
   * nothing to give back.
   * @param withdrawnAtMs the `nowMs` that `withdraw` was called with
   */
  refund(nowMs: number, withdrawnAtMs: number): void;
  /**
   * Takes one hedge, if the share of the requests alone leaves room for it: hedges count against it as retries do, and the
   * minimum rate is not for them. A hedge is sent on suspicion; without traffic to pay for it, it is load like any other.
   */
  withdrawHedge(nowMs: number): boolean;
  /** Gives back a hedge that was not sent, as `refund` does a retry. */
  refundHedge(nowMs: number, withdrawnAtMs: number): void;
  /** Final outcome of an attempt; only `throttle` listens. */
  record(success: boolean, nowMs: number): void;
  /** Retries that could be withdrawn now, a whole number ≥ 0. `Infinity` for `none`. */
  balance(nowMs: number): number;
}

/** A rate of retries that is always allowed, so that a service with little traffic can retry at all. */
export interface MinRetryRate {
  /** Whole number, 0–1 000 000. Default 10. */
  readonly count: number;
  /** 1000–3 600 000. Default 1000. */
  readonly intervalMs: number;
}

export interface RatioBudgetOptions {
  readonly kind: 'ratio';
  /** Retries per 100 requests, whole number 0–100; 0 is no retry at all. Default 20. */
  readonly percent?: number | undefined;
  /** The window both are counted in, 1000–3 600 000. Default 10 000. */
  readonly intervalMs?: number | undefined;
  readonly minRetryRate?: MinRetryRate | undefined;
}

/** Each request brings `percent` units, each retry takes 100; the reserve is the minimum rate over the whole interval. */
export interface TokenBucketBudgetOptions {
  readonly kind: 'token-bucket';
  /** Units a request brings, whole number 0–100; 0 is no retry at all, whatever the reserve. Default 20. */
  readonly percent?: number | undefined;
  /** How long units live, 1000–3 600 000. Default 10 000. */
  readonly intervalMs?: number | undefined;
  readonly minRetryRate?: MinRetryRate | undefined;
}

/** gRPC's retry throttling (proposal A6). */
export interface ThrottleBudgetOptions {
  readonly kind: 'throttle';
  /** Whole number 1–1000. Default 10. */
  readonly maxTokens?: number | undefined;
  /** Tokens a success brings, > 0; digits after the third are dropped, as A6 says. Default 0.1. */
  readonly tokenRatio?: number | undefined;
}

export interface NoRetryBudgetOptions {
  readonly kind: 'none';
}

export type RetryBudgetOptions =
  | RatioBudgetOptions
  | TokenBucketBudgetOptions
  | ThrottleBudgetOptions
  | NoRetryBudgetOptions;

/** Creates a budget; the default is 20 % of the requests of the last 10 s, and 10 retries a second in any case.
 * @throws RangeError for a value outside its range, naming the field, the value and the range
 */
export function createRetryBudget(options: RetryBudgetOptions = { kind: 'ratio' }): RetryBudget {
  switch (options.kind) {
    case 'ratio':
      return createRatioBudget(options);
    case 'token-bucket':
      return createTokenBucketBudget(options);
    case 'throttle':
      return createThrottleBudget(options);
    case 'none':
      return NO_RETRY_BUDGET;
    default:
      // Without types, a forgotten kind would be no budget at all, and whoever uses it would take the default in its place.
      throw new RangeError(
        `retry budget: kind is ${JSON.stringify((options as { kind?: unknown }).kind)}; give ratio, token-bucket, throttle or none`,
      );
  }
}
