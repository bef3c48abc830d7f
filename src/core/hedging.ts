import { MAX_DELAY_MS } from './deadline.ts';
import type { Decision, StopReason } from './decision.ts';
import type { Outcome } from './outcome.ts';
import type { Circumstances, RequestFacts } from './request.ts';
import { requireWholeNumber } from './require-whole-number.ts';
import type { RetryPolicy } from './retry-policy.ts';
import { isRepeatable } from './safety.ts';

/** A second copy of a request that takes long, at another endpoint; the first good answer wins. */
export interface HedgePolicy {
  /** Milliseconds without a response head after which a copy is sent, 1–2³¹−1. About the 95th percentile is a good value. */
  readonly delayMs: number;
  /** Copies beyond the first send and its retries, 1–10. Default 1. */
  readonly max: number;
  /**
   * A copy may go to an endpoint that was tried, when there is no other: for a caller that knows an origin by its name
   * alone, behind which there may be many servers. Default: it needs another endpoint.
   */
  readonly sameEndpoint?: boolean | undefined;
}

/** @throws RangeError for a value outside its range */
export function createHedgePolicy(options: { readonly delayMs: number; readonly max?: number }): HedgePolicy {
  const policy: HedgePolicy = { delayMs: options.delayMs, max: options.max ?? 1 };
  requireWholeNumber('hedge', 'delayMs', policy.delayMs, 1, MAX_DELAY_MS);
  requireWholeNumber('hedge', 'max', policy.max, 1, 10);
  return policy;
}

/**
 * Why no copy may be sent now; `undefined` when only the budget is left to ask. The order is that of `decide`: what would
 * make it wrong comes before what would make it too much. A copy runs while the first may still do its work, so the
 * request must stand being done twice, and all of its body must be here: bytes cannot be streamed to two servers.
 */
export function hedgeRefusal(
  request: RequestFacts,
  retry: RetryPolicy,
  policy: HedgePolicy,
  at: Circumstances,
  bodyComplete: boolean,
  nowMs: number,
): StopReason | undefined {
  if (at.downstreamGone) return 'downstream-gone';
  if (at.committed) return 'committed';
  if (!bodyComplete || !at.bodyReplayable) return 'body-not-replayable';
  if (!isRepeatable(request)) return 'not-idempotent';
  if (request.deadlineAtMs <= nowMs) return 'deadline';
  // The same endpoint is as slow for a second copy, and gets the work twice.
  if (!at.otherEndpointAvailable && policy.sameEndpoint !== true) return 'no-endpoint';
  if (!at.endpointAvailable) return 'no-endpoint';
  if (!at.permitAvailable) return 'circuit-open';
  if (request.lineage >= 1 && !retry.retryOfRetry) return 'retry-of-retry';
  return undefined;
}

/**
 * Whether an attempt's outcome is let pass because another copy of the request is still under way: a failure, and a
 * response that one would retry if one could. Any other response is the answer, or a final word of the callee.
 */
export function waitsForOtherCopy(outcome: Outcome, decision: Decision): boolean {
  if (decision.type === 'retry') return true;
  return outcome.type === 'failure' ? !ENDS_ALL.has(decision.reason) : HELD_BACK.has(decision.reason);
}

const ENDS_ALL: ReadonlySet<StopReason> = new Set<StopReason>(['downstream-gone', 'deadline']);

/** The policy covers the response; something else than its meaning stands in the way of a retry. */
const HELD_BACK: ReadonlySet<StopReason> = new Set<StopReason>([
  'attempts-exhausted',
  'deadline',
  'retry-after-too-long',
  'no-endpoint',
  'circuit-open',
  'retry-of-retry',
  'budget-exhausted',
]);
