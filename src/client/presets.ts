import type { RetryBudgetOptions } from '../core/retry-budget.ts';
import type { RetryOptions } from './options.ts';

/** Another client's behaviour as options of ours. */
export interface ClientPreset {
  readonly retry: RetryOptions;
  readonly budget: RetryBudgetOptions;
}

/** What reqwest retries unless it is told otherwise: refused HTTP/2 streams, at once, and nothing else. */
const REQWEST_RETRY: RetryOptions = {
  maxRetries: 2,
  on: [],
  curve: 'fixed',
  backoffMs: 0,
  maxBackoffMs: 0,
  jitter: 'none',
  ownership: 'off',
};

/** Other clients' behaviour as options, without the faults they have been reported for. Spread one into your own. */
export const presets: {
  /** A reqwest client that says nothing of retries: what the server proved not to have processed, twice, without a budget. */
  readonly reqwest: ClientPreset;
  /**
   * A reqwest retry policy for a host: as above, with `scope` and `classify` to be added, and a budget of 20 % of the
   * requests of ten seconds over a reserve of a hundred.
   *
   * Free of: the policy that drops the default retry of refused streams, a request out of scope that is sent twice, a POST
   * that is sent again although it may have been processed, and a budget of 0 % that grants a hundred retries.
   */
  readonly reqwestScoped: ClientPreset;
} = {
  reqwest: { retry: REQWEST_RETRY, budget: { kind: 'none' } },
  reqwestScoped: { retry: REQWEST_RETRY, budget: { kind: 'token-bucket', percent: 20 } },
};
