import type { RetryBudgetOptions } from '../retry-budget.ts';
import type { RetryPolicy, RetryTrigger } from '../retry-policy.ts';

/** What holds where nothing is said: one retry of what certainly or almost certainly was not processed. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = Object.freeze({
  maxRetries: 1,
  codes: new Set<number>(),
  on: new Set<RetryTrigger>(['unsent', 'rejected', 'stale']),
  backoff: Object.freeze({ curve: 'exponential', baseMs: 25, maxMs: 250, jitter: 'full' }),
  retryAfterMaxMs: 10_000,
  retryOfRetry: false,
  ownership: 'enforce',
});

/** One retry for five requests of the last ten seconds, and ten a second in any case. */
export const DEFAULT_RETRY_BUDGET: Readonly<RetryBudgetOptions> = Object.freeze({
  kind: 'ratio',
  percent: 20,
  intervalMs: 10_000,
  minRetryRate: Object.freeze({ count: 10, intervalMs: 1000 }),
});
