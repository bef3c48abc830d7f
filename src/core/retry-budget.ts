/**
 * Bounds retries to a share of first attempts, so that an outage is not multiplied.
 * All times are the host's monotonic milliseconds.
 */
export interface RetryBudget {
  readonly kind: 'ratio' | 'token-bucket' | 'throttle' | 'none';
  /** Once per logical request; never for a retry. */
  deposit(nowMs: number): void;
  /** Takes one retry if there is one; called when the retry is decided. */
  withdraw(nowMs: number): boolean;
  /** Gives back a withdrawal whose retry was not sent. */
  refund(nowMs: number): void;
  /** Final outcome of an attempt; only `throttle` listens. */
  record(success: boolean, nowMs: number): void;
  /** Retries that could be withdrawn now. `Infinity` for `none`. */
  balance(nowMs: number): number;
}
