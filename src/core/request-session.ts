import type { Decision, StopReason } from './decision.ts';
import type { Failure } from './failure.ts';
import type { ResponseFacts } from './outcome.ts';
import type { RetryBudget } from './retry-budget.ts';
import type { RetryPolicy } from './retry-policy.ts';

/** What is known of a logical request before its first send. */
export interface RequestFacts {
  readonly method: string;
  /** It carries an Idempotency-Key. */
  readonly keyed: boolean;
  /** Retries made above this request (Request-Attempt lineage); ≥ 1 means that it is itself a retry. */
  readonly lineage: number;
  /** Instant of the overall deadline on the host's monotonic clock; `Infinity` for none. */
  readonly deadlineAtMs: number;
}

/** The state of the world at the moment of a decision. Plain booleans, so that the decision stays pure. */
export interface Circumstances {
  /** The request body can be sent again from its first byte (or there is none). */
  readonly bodyReplayable: boolean;
  /** A body byte or a 101 was sent downstream. */
  readonly committed: boolean;
  readonly downstreamGone: boolean;
  /** At least one endpoint could be picked for another attempt. */
  readonly endpointAvailable: boolean;
  /** An endpoint that this request has not tried yet could be picked. */
  readonly otherEndpointAvailable: boolean;
  /** The circuit breaker would grant a permit. */
  readonly permitAvailable: boolean;
}

/**
 * The life of one logical request: event in, decision out. No clock, no randomness: both are arguments.
 * The host calls `start` once, then for each attempt `attemptStarted` and exactly one of `responded`/`failed`,
 * and follows the decision. A retry that was decided but is not sent is given back with `retryNotSent`.
 */
export interface RequestSession {
  readonly policy: RetryPolicy;
  readonly facts: RequestFacts;
  /** Attempts started so far, the free stale one included. */
  readonly attemptCount: number;
  /** Retries decided and not given back; the free one included. */
  readonly retryCount: number;
  /** Deposits in the budget, unless this request is itself a retry. */
  start(nowMs: number): void;
  attemptStarted(): number;
  /** A complete final response head arrived. `random` ∈ [0, 1). */
  responded(response: ResponseFacts, at: Circumstances, nowMs: number, random: number): Decision;
  /** The attempt died without a complete response head. */
  failed(failure: Failure, at: Circumstances, nowMs: number, random: number): Decision;
  /**
   * Asks again for the last outcome as if the policy covered it (a hook said "retry").
   * Only 'not-retryable' can change: safety, attempts, deadline and budget hold whatever a hook says.
   */
  reconsider(at: Circumstances, nowMs: number, random: number): Decision;
  /** The decided retry will not be sent (client gone, no permit, hook said stop): gives the withdrawal back. */
  retryNotSent(nowMs: number, reason: StopReason): void;
}

export type CreateRequestSession = (facts: RequestFacts, policy: RetryPolicy, budget: RetryBudget) => RequestSession;
