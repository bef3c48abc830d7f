import { backoffDelayMs } from './backoff.ts';
import {
  classifyOutcome,
  isRefusalWithoutProof,
  needsOtherEndpoint,
  triggerOf,
  type OutcomeClass,
} from './classify.ts';
import { clampDelayMs, remainingMs } from './deadline.ts';
import { isRetryHandled, type Decision, type RetryDecision, type StopDecision, type StopReason } from './decision.ts';
import type { Failure } from './failure.ts';
import type { Outcome, ResponseFacts, Ruling } from './outcome.ts';
import type { Circumstances, RequestFacts } from './request.ts';
import type { BackoffPolicy, RetryPolicy } from './retry-policy.ts';
import { classifyResponse, mightRunTwice, safetyOf, type SafetyClass } from './safety.ts';

export interface DecisionInput {
  readonly outcome: Outcome;
  readonly request: RequestFacts;
  readonly policy: RetryPolicy;
  readonly at: Circumstances;
  /** Retries of this request so far that count against `maxRetries`. */
  readonly countedRetryCount: number;
  /** The request has had its free stale re-send. */
  readonly freeResendUsed: boolean;
  /** Delay of the retry before this one, for decorrelated jitter; 0 when there was none. */
  readonly previousDelayMs: number;
  /** The retry budget would grant one. */
  readonly budgetAvailable: boolean;
  /** Someone with the right to say so (a hook) asked for a retry that the policy does not name. */
  readonly coverAnyway: boolean;
  readonly nowMs: number;
  /** Uniform in [0, 1). */
  readonly random: number;
}

/** The one answer of the success path, shared so that success allocates nothing. */
export const STOP_SUCCESS: StopDecision = Object.freeze({
  type: 'stop',
  reason: 'success',
  handled: false,
  safety: undefined,
});

/**
 * Whether an attempt's outcome leads to another attempt, and when.
 *
 * The order of the checks is part of the contract: what would make the retry wrong comes before what would make it
 * too many, and the budget comes last, so that a retry refused for any other reason spends nothing.
 * `handled` tells whether the retry opportunity on this edge was used up or taken away (a caller above must not retry),
 * or was never there (a caller above may).
 */
export function decide(input: DecisionInput): Decision {
  const { outcome, policy, at, request } = input;
  if (at.downstreamGone) return stop('downstream-gone', safetyOf(outcome));

  const outcomeClass = classifyOutcome(outcome);
  const safety = safetyOf(outcome);
  const ruling = rulingOn(outcome, safety, policy);
  if (ruling === undefined ? outcomeClass === 'ok' : ruling === 'success' && outcome.type === 'response') {
    return STOP_SUCCESS;
  }
  const failure = outcome.type === 'failure' ? outcome.failure : undefined;
  const response = outcome.type === 'response' ? outcome.response : undefined;
  if (failure !== undefined && outcomeClass === 'cancelled') {
    return stop(failure.kind === 'downstream_closed' ? 'downstream-gone' : 'not-retryable', safety);
  }
  // The request's own deadline: nothing anybody's policy says could give it more time.
  if (failure?.kind === 'deadline_exceeded') return stop('deadline', safety);

  if (ruling === 'ignore' || ruling === 'success') return stop('not-retryable', safety);

  const covered = ruling === 'retryable' || isCovered(outcome, policy, at) || input.coverAnyway;
  if (outcomeClass === 'client' && !covered) return stop('not-retryable', safety);

  if (policy.ownership === 'enforce' && response?.claim === 'relayed') return stop('not-owner', safety);
  if (response?.advisedNever === true) return stop('advised-never', safety);

  if (!covered) return stop(uncoveredReason(outcomeClass, at), safety);
  if (at.committed) return stop('committed', safety);
  if (!at.bodyReplayable) return stop('body-not-replayable', safety);
  if (mightRunTwice(safety, request)) return stop('not-idempotent', safety);

  const free = safety === 'stale' && !input.freeResendUsed && policy.maxRetries >= 1 && policy.on.has('stale');
  const limit = wasLeftRunning(failure, outcomeClass, request) ? Math.min(policy.maxRetries, 1) : policy.maxRetries;
  // Who retries nothing has not used up an opportunity: a caller above may have a policy.
  if (!free && limit === 0) return { ...stop('attempts-exhausted', safety), handled: false };
  if (!free && input.countedRetryCount >= limit) return stop('attempts-exhausted', safety);

  const leftMs = remainingMs(request.deadlineAtMs, input.nowMs);
  if (leftMs === 0) return stop('deadline', safety);
  const askedMs = askedMsOf(response);
  if (askedMs > policy.retryAfterMaxMs || askedMs >= leftMs) return stop('retry-after-too-long', safety);
  const backoffMs = free || goesElsewhereAtOnce(input, safety, failure) ? 0 : backoffOf(input);
  const delayMs = Math.max(backoffMs, pushedBackMs(askedMs, leftMs, policy.backoff, input.random));
  if (delayMs >= leftMs) return stop('deadline', safety);

  const elsewhereOnly = response?.advisedOther === true;
  if (!at.endpointAvailable || (elsewhereOnly && !at.otherEndpointAvailable)) return stop('no-endpoint', safety);
  // A refusal by the breaker a moment ago is still one: asking again at once would only spin.
  if (!at.permitAvailable || outcomeClass === 'short-circuited') return stop('circuit-open', safety);
  // The free re-send repairs a race on this hop alone and cannot multiply over hops, so lineage does not forbid it.
  if (!free && request.lineage >= 1 && !policy.retryOfRetry) return stop('retry-of-retry', safety);
  if (!free && !input.budgetAvailable) return stop('budget-exhausted', safety);

  const decision: RetryDecision = {
    type: 'retry',
    delayMs: clampDelayMs(delayMs),
    free,
    freshConnection:
      safety === 'rejected' || safety === 'stale' || (failure !== undefined && isRefusalWithoutProof(failure)),
    safety,
  };
  return decision;
}

function stop(reason: StopReason, safety: SafetyClass | undefined): StopDecision {
  return { type: 'stop', reason, handled: isRetryHandled(reason), safety };
}

/**
 * What was said of the outcome, unless it is proof that nothing was processed: who writes a rule for statuses does not
 * mean to give up the one retry that is always safe. That is switched off by its name, `rejected`.
 */
function rulingOn(outcome: Outcome, safety: SafetyClass, policy: RetryPolicy): Ruling | undefined {
  const { ruling } = outcome.type === 'response' ? outcome.response : outcome;
  return ruling !== undefined && safety === 'rejected' && policy.on.has('rejected') ? 'retryable' : ruling;
}

/** Whether the policy names this outcome: a status by its code, a failure by its trigger, a rejection by either. */
function isCovered(outcome: Outcome, policy: RetryPolicy, at: Circumstances): boolean {
  if (outcome.type === 'response') {
    const { response } = outcome;
    return (
      policy.codes.has(response.status) || (classifyResponse(response) === 'rejected' && policy.on.has('rejected'))
    );
  }
  const { failure } = outcome;
  if (needsOtherEndpoint(failure) && !at.otherEndpointAvailable) return false;
  const trigger = triggerOf(failure);
  if (trigger === undefined) return false;
  // A stale connection's reset is a reset: who asked for all of them asked for this one too (it is not free then).
  return policy.on.has(trigger) || (trigger === 'stale' && policy.on.has('reset'));
}

/** A response that died halfway ends as `committed` once its first bytes are with the client: no policy could help. */
function uncoveredReason(outcomeClass: OutcomeClass, at: Circumstances): StopReason {
  return outcomeClass === 'committed' && at.committed ? 'committed' : 'not-retryable';
}

/**
 * A callee that was not told the deadline works on after we gave up on it, and so may everything below it: each further
 * attempt adds another copy of that work.
 */
function wasLeftRunning(failure: Failure | undefined, outcomeClass: OutcomeClass, request: RequestFacts): boolean {
  return failure !== undefined && outcomeClass === 'timeout' && request.deadlinePassedOn === false;
}

/** The first retry after a failure that says nothing about any other endpoint need not wait if it goes to another one. */
function goesElsewhereAtOnce(input: DecisionInput, safety: SafetyClass, failure: Failure | undefined): boolean {
  if (input.countedRetryCount > 0 || !input.at.otherEndpointAvailable || failure === undefined) return false;
  if (safety !== 'unsent' && safety !== 'stale') return false;
  // Overload is to be backed off from, and our own lack of sockets is the same on the way to any endpoint.
  return failure.kind !== 'overloaded' && failure.kind !== 'local_resource_exhausted';
}

function backoffOf(input: DecisionInput): number {
  return backoffDelayMs(input.policy.backoff, input.countedRetryCount, input.random, input.previousDelayMs);
}

/** What is negative or no number was not asked: it must not turn the whole wait into none. */
function askedMsOf(response: ResponseFacts | undefined): number {
  const askedMs = response?.retryAfterMs ?? 0;
  return askedMs > 0 ? askedMs : 0;
}

/** What the server asked for, spread upwards by up to a tenth (a shared date must not become a herd), within the time left. */
function pushedBackMs(askedMs: number, leftMs: number, backoff: BackoffPolicy, random: number): number {
  if (backoff.jitter === 'none' || !(random > 0)) return askedMs;
  const spreadMs = askedMs + askedMs * 0.1 * Math.min(random, 1);
  return spreadMs < leftMs ? spreadMs : askedMs;
}
