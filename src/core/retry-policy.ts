/** Failure triggers a policy can name. `answered` outcomes are named by `codes` instead. */
export type RetryTrigger = 'unsent' | 'rejected' | 'stale' | 'reset' | 'timeout';

export type BackoffCurve = 'exponential' | 'linear' | 'fixed';
export type Jitter = 'full' | 'equal' | 'decorrelated' | 'none';

export interface BackoffPolicy {
  readonly curve: BackoffCurve;
  /** First step in milliseconds, ≥ 0. Default 25. */
  readonly baseMs: number;
  /** Ceiling in milliseconds, ≥ baseMs. Default 250. */
  readonly maxMs: number;
  readonly jitter: Jitter;
}

export interface RetryPolicy {
  /** Sends beyond the first, 0–1000. 0 means exactly one send. The free stale re-send is not counted. */
  readonly maxRetries: number;
  /** Response statuses that may be retried. Default none. */
  readonly codes: ReadonlySet<number>;
  /** Failures that may be retried. Default unsent, rejected, stale. */
  readonly on: ReadonlySet<RetryTrigger>;
  readonly backoff: BackoffPolicy;
  /** A Retry-After above this many milliseconds ends the request with the response. Default 10 000. */
  readonly retryAfterMaxMs: number;
  /** Whether a request that is itself a retry of a caller may be retried here. Default false. */
  readonly retryOfRetry: boolean;
  /** `enforce` obeys claims; `observe` only counts them; `off` does not read them. Default `enforce`. */
  readonly ownership: 'off' | 'observe' | 'enforce';
}
