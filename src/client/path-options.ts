import { pathAllowance } from '../core/ownership/path-allowance.ts';
import { DEFAULT_PERCENT } from '../core/retry-budget/range.ts';
import type { RatioBudgetOptions, TokenBucketBudgetOptions } from '../core/retry-budget.ts';
import { requireNames, resolveRetry } from './options.ts';
import type { RetryOptions } from './options.ts';

/** What each hop of a path would allow itself. */
export interface HopOptions {
  /** Default: as for every client. */
  readonly retry?: RetryOptions | undefined;
  /** The budget of one hop, 0–100 % of its requests; the other fields stay as they are. Default: `ratio`, 20 %. */
  readonly budget?: RatioBudgetOptions | TokenBucketBudgetOptions | undefined;
}

/** Options to spread into those of a client, a wrapped `fetch`, an interceptor or an adapter. */
export interface PathOptions {
  readonly retry: RetryOptions;
  readonly budget: RatioBudgetOptions | TokenBucketBudgetOptions;
}

/**
 * What the one hop of a path that retries may allow itself, for all those that leave it to that hop: with a budget of B on
 * each of n hops, (1 + B)ⁿ − 1 of the requests, rounded down to whole percents, and two retries of a request at least.
 *
 * How many hops retry no message says, so whoever writes this must know: all of them take part in error ownership, and
 * this client obeys claims. A hop that retries all the same has its own budget beside this one, and a storm is larger by it.
 *
 * @param hopCount n, 1–99: the hops below and including this one that could each have retried; 1 changes nothing
 * @throws RangeError for a count or a share out of range, TypeError where claims are not obeyed, for a budget that is no
 *   share of the requests, and for a name that nothing reads
 */
export function forPath(hopCount: number, options: HopOptions = {}): PathOptions {
  requireNames('forPath', options, ['retry', 'budget']);
  const { retry = {}, budget = { kind: 'ratio' } } = options;
  if (!SHARES.includes(budget.kind))
    throw new TypeError(
      `forPath: budget.kind is ${budget.kind}, no share of the requests; give ${SHARES.join(' or ')}`,
    );
  const { policy } = resolveRetry(retry);
  if (policy.ownership !== 'enforce')
    throw new TypeError(
      `forPath: retry.ownership is ${policy.ownership}; who spends for a path must obey claims: enforce`,
    );
  const percent = budget.percent ?? DEFAULT_PERCENT;
  const allowance = pathAllowance(percent / 100, hopCount, policy.maxRetries);
  return {
    retry: { ...retry, maxRetries: allowance.maxRetries },
    // A share of 0.21 is 21 %, although (1 + 0.1)² − 1 is not quite 0.21.
    budget: { ...budget, percent: Math.floor(allowance.share * 100 + 1e-9) },
  };
}

const SHARES: readonly string[] = ['ratio', 'token-bucket'];
