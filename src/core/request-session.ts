import { isSuccess } from './classify.ts';
import { decide, STOP_SUCCESS } from './decide.ts';
import { isRetryHandled, type Decision, type StopDecision, type StopReason } from './decision.ts';
import type { Failure } from './failure.ts';
import { hedgeRefusal, waitsForOtherCopy, type HedgePolicy } from './hedging.ts';
import type { Outcome, ResponseFacts, Ruling } from './outcome.ts';
import type { Circumstances, RequestFacts } from './request.ts';
import type { RetryBudget } from './retry-budget.ts';
import type { RetryPolicy } from './retry-policy.ts';

export type { Circumstances, RequestFacts } from './request.ts';

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
  /** Copies granted and not given back. */
  readonly hedgeCount: number;
  /** Why the request ended without another attempt, once it is known. */
  readonly stopReason: StopReason | undefined;
  /** Whether the retry opportunity on this edge was handled, once `stopReason` is known: see `StopDecision.handled`. */
  readonly handled: boolean;
  /** Deposits in the budget, unless this request is itself a retry. */
  start(nowMs: number): void;
  /** Returns the attempt's number, 1 for the first. */
  attemptStarted(): number;
  /** A complete final response head arrived. `random` ∈ [0, 1). */
  responded(response: ResponseFacts, at: Circumstances, nowMs: number, random: number): Decision;
  /** The attempt died without a complete response head. `ruling`: what somebody who knows more says of it. */
  failed(failure: Failure, at: Circumstances, nowMs: number, random: number, ruling?: Ruling): Decision;
  /**
   * Asks again for the last outcome as if the policy covered it (a hook said "retry").
   * Only 'not-retryable' can change: safety, attempts, deadline and budget hold whatever a hook says.
   */
  reconsider(at: Circumstances, nowMs: number, random: number): Decision;
  /**
   * The decided retry will not be sent (client gone, no permit, hook said stop): gives the withdrawal back.
   * Without a retry that was decided and not yet started, it does nothing.
   */
  retryNotSent(nowMs: number, reason: StopReason): void;
  /**
   * Asks for a copy of the attempt under way, which has no response head yet. `undefined` grants it and takes it from the
   * budget; otherwise it says why not. A granted copy that is not sent is given back with `hedgeNotSent`.
   */
  hedge(policy: HedgePolicy, at: Circumstances, bodyComplete: boolean, nowMs: number): StopReason | undefined;
  hedgeNotSent(nowMs: number): void;
  /**
   * The outcome of an attempt while another copy of the request is still under way, in place of `responded` and `failed`.
   * `undefined`: it is let pass, and the other one decides; otherwise it ends the request. It never leads to a retry.
   */
  besideCopy(outcome: Outcome, at: Circumstances, nowMs: number, random: number): StopDecision | undefined;
}

export type CreateRequestSession = (facts: RequestFacts, policy: RetryPolicy, budget: RetryBudget) => RequestSession;

export function createRequestSession(facts: RequestFacts, policy: RetryPolicy, budget: RetryBudget): RequestSession {
  return new Session(facts, policy, budget);
}

class Session implements RequestSession {
  readonly facts: RequestFacts;
  readonly policy: RetryPolicy;
  readonly #budget: RetryBudget;
  attemptCount = 0;
  retryCount = 0;
  hedgeCount = 0;
  stopReason: StopReason | undefined = undefined;
  handled = false;
  #freeResendUsed = false;
  #previousDelayMs = 0;
  #lastOutcome: Outcome | undefined = undefined;
  #lastDecision: Decision = STOP_SUCCESS;
  #pending: 'none' | 'free' | 'charged' = 'none';
  #withdrawnAtMs = 0;
  #hedgedAtMs = 0;

  constructor(facts: RequestFacts, policy: RetryPolicy, budget: RetryBudget) {
    this.facts = facts;
    this.policy = policy;
    this.#budget = budget;
  }

  start(nowMs: number): void {
    // A retry that deposited would pay for the next one: the whole chain's budget would grow with its trouble.
    if (this.facts.lineage === 0) this.#budget.deposit(nowMs);
  }

  attemptStarted(): number {
    this.#pending = 'none';
    this.attemptCount += 1;
    return this.attemptCount;
  }

  responded(response: ResponseFacts, at: Circumstances, nowMs: number, random: number): Decision {
    if (isSuccess(response) && !at.downstreamGone) {
      if (response.ruling !== 'ignore') this.#budget.record(true, nowMs);
      this.#lastOutcome = undefined;
      return this.#stopped(STOP_SUCCESS);
    }
    return this.#conclude({ type: 'response', response }, at, nowMs, random);
  }

  failed(failure: Failure, at: Circumstances, nowMs: number, random: number, ruling?: Ruling): Decision {
    return this.#conclude({ type: 'failure', failure, ruling }, at, nowMs, random);
  }

  reconsider(at: Circumstances, nowMs: number, random: number): Decision {
    const last = this.#lastDecision;
    if (this.#lastOutcome === undefined || last.type !== 'stop' || last.reason !== 'not-retryable') return last;
    return this.#settle(this.#lastOutcome, at, nowMs, random, true);
  }

  retryNotSent(nowMs: number, reason: StopReason): void {
    if (this.#pending === 'none') return;
    if (this.#pending === 'charged') this.#budget.refund(nowMs, this.#withdrawnAtMs);
    this.#pending = 'none';
    this.retryCount -= 1;
    this.stopReason = reason;
    this.handled = isRetryHandled(reason);
  }

  hedge(policy: HedgePolicy, at: Circumstances, bodyComplete: boolean, nowMs: number): StopReason | undefined {
    if (this.hedgeCount >= policy.max) return 'attempts-exhausted';
    const refusal = hedgeRefusal(this.facts, this.policy, policy, at, bodyComplete, nowMs);
    if (refusal !== undefined) return refusal;
    if (!this.#budget.withdrawHedge(nowMs)) return 'budget-exhausted';
    this.#hedgedAtMs = nowMs;
    this.hedgeCount += 1;
    return undefined;
  }

  hedgeNotSent(nowMs: number): void {
    this.#budget.refundHedge(nowMs, this.#hedgedAtMs);
    this.hedgeCount -= 1;
  }

  besideCopy(outcome: Outcome, at: Circumstances, nowMs: number, random: number): StopDecision | undefined {
    const decision = this.#decide(outcome, at, nowMs, random, false, true);
    if (isThrottled(outcome, decision)) this.#budget.record(false, nowMs);
    if (decision.type === 'retry' || waitsForOtherCopy(outcome, decision)) return undefined;
    this.#lastOutcome = outcome;
    return this.#stopped(decision);
  }

  #conclude(outcome: Outcome, at: Circumstances, nowMs: number, random: number): Decision {
    this.#lastOutcome = outcome;
    return this.#settle(outcome, at, nowMs, random, false);
  }

  #settle(outcome: Outcome, at: Circumstances, nowMs: number, random: number, coverAnyway: boolean): Decision {
    let decision = this.#decide(outcome, at, nowMs, random, coverAnyway, true);
    if (isThrottled(outcome, decision)) this.#budget.record(false, nowMs);
    if (decision.type === 'retry' && !decision.free) {
      if (this.#budget.withdraw(nowMs)) this.#withdrawnAtMs = nowMs;
      else decision = this.#decide(outcome, at, nowMs, random, coverAnyway, false);
    }
    if (decision.type === 'stop') return this.#stopped(decision);
    this.#lastDecision = decision;
    this.stopReason = undefined;
    this.handled = false;
    this.retryCount += 1;
    this.#pending = decision.free ? 'free' : 'charged';
    if (decision.free) this.#freeResendUsed = true;
    else this.#previousDelayMs = decision.delayMs;
    return decision;
  }

  #stopped<D extends Decision & { readonly type: 'stop' }>(decision: D): D {
    this.#lastDecision = decision;
    this.stopReason = decision.reason;
    this.handled = decision.handled;
    return decision;
  }

  #decide(
    outcome: Outcome,
    at: Circumstances,
    nowMs: number,
    random: number,
    coverAnyway: boolean,
    budgetAvailable: boolean,
  ): Decision {
    return decide({
      outcome,
      request: this.facts,
      policy: this.policy,
      at,
      countedRetryCount: this.#freeResendUsed ? this.retryCount - 1 : this.retryCount,
      freeResendUsed: this.#freeResendUsed,
      previousDelayMs: this.#previousDelayMs,
      budgetAvailable,
      coverAnyway,
      nowMs,
      random,
    });
  }
}

/**
 * Whether a throttle counts this outcome as a failure: one of the upstream that a retry could have helped with.
 * A client's own error drains nothing (gRPC A6), and neither does a race with a closing connection.
 */
function isThrottled(outcome: Outcome, decision: Decision): boolean {
  if (outcome.type === 'failure' && outcome.failure.source !== 'upstream') return false;
  if (decision.type === 'retry') return !decision.free;
  return !UNCOUNTED_REASONS.has(decision.reason);
}

const UNCOUNTED_REASONS: ReadonlySet<StopReason> = new Set([
  'success',
  'not-retryable',
  'committed',
  'downstream-gone',
]);
