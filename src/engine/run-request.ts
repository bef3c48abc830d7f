import type { Circumstances, RequestSession } from '../core/request-session.ts';
import type { Decision, RetryDecision, StopReason } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import { createRequestSession } from '../core/request-session.ts';
import type { ResponseHead } from '../http1/message.ts';
import type { Clock, Timer } from '../transport/clock.ts';
import type { AttemptTimeouts } from '../transport/transport.ts';
import type { AttemptRecord } from './attempt-record.ts';
import { recordFailure } from './attempt-record.ts';
import { AttemptRun } from './attempt-run.ts';
import type { Endpoint } from './endpoint.ts';
import type { KeptResponse } from './kept-response.ts';
import { localFailure } from './failures.ts';
import { readResponseFacts } from './response-facts.ts';
import type { RequestRun, RunRequestOptions } from './request-run.ts';
import type { DecisionOverride, RunHost, Selection } from './run-host.ts';
import { ask } from './ask.ts';
import { overrideDecision } from './decision-override.ts';
import type { Upstream } from './upstream.ts';

/**
 * Runs one logical request to its end: the only place in the house where a request is sent again.
 * Every send was decided by the core's session, is counted there, and stands in `attempts`.
 * @param known Called with the run before it begins: a request may end before this function returns.
 */
export function runRequest(options: RunRequestOptions, known?: (run: RequestRun) => void): RequestRun {
  const run = new Run(options);
  known?.(run);
  run.begin();
  return run;
}

class Run implements RequestRun {
  readonly attempts: AttemptRecord[] = [];
  readonly clock: Clock;
  readonly host: RunHost;
  waitedMs = 0;
  reason: StopReason | undefined;
  upstream: Upstream | undefined;

  readonly #options: RunRequestOptions;
  readonly #tried: Endpoint[] = [];
  #session: RequestSession | undefined;
  #attempt: AttemptRun | undefined;
  #kept: KeptResponse | undefined;
  #next: RetryDecision | undefined;
  #waitTimer: Timer | undefined;
  #deadlineTimer: Timer | undefined;
  /** The head of a response, or its failure, went to the host: only the deliverer may speak from here on. */
  #delivering = false;
  #ended = false;

  constructor(options: RunRequestOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.host = options.host;
  }

  get retryCount(): number {
    return Math.max(0, this.attempts.length - 1);
  }

  get timeouts(): AttemptTimeouts {
    return this.#options.timeouts;
  }

  begin(): void {
    const { deadlineAtMs } = this.#options.facts;
    if (deadlineAtMs !== Infinity) {
      const left = deadlineAtMs - this.clock.nowMs();
      if (left <= 0) return this.#fail(this.#deadlineFailure(), 'deadline');
      this.#deadlineTimer = this.clock.setTimer(left, () => this.#deadlinePassed());
    }
    this.#select();
  }

  resume(): void {
    this.#attempt?.resume();
  }

  cancel(): void {
    if (this.#ended) return;
    this.#giveBackRetry('downstream-gone');
    this.#finish('downstream-gone');
    this.#attempt?.abort();
    this.#attempt = undefined;
  }

  // --- one attempt -------------------------------------------------------------------------------------------------

  #select(): void {
    ask(
      () => this.host.select(this.attempts.length + 1),
      (selection) => this.#selected(selection),
      this.#hookFailed,
    );
  }

  #selected(selection: Selection | undefined): void {
    if (this.#ended) return;
    if (selection === undefined) return this.#stopBeforeSend('no-endpoint', localFailure('destination_unavailable', 'no upstream was selected'));
    const { upstream } = selection;
    this.upstream = upstream;
    this.#session ??= this.#startSession(upstream);
    const endpoint = selection.endpoint ?? upstream.pick(this.#tried, this.clock.nowMs(), this.#options.random);
    if (endpoint === undefined) {
      return this.#stopBeforeSend('no-endpoint', localFailure('destination_unavailable', `upstream ${upstream.name}: no endpoint can be used: ${upstream.whyNone()}`));
    }
    if (!upstream.permits.tryAcquire()) {
      return this.#stopBeforeSend('circuit-open', localFailure('circuit_open', `upstream ${upstream.name}: no permit`));
    }
    endpoint.inflight += 1;
    const record = this.#recordAttempt(upstream, endpoint);
    const attempt = new AttemptRun(this, upstream, endpoint, record);
    this.#attempt = attempt;
    const options = { timeouts: this.#options.timeouts, freshConnection: this.#next?.freshConnection ?? false };
    this.#next = undefined;
    ask(
      () => this.host.buildRequest(endpoint, this.attempts.length),
      (request) => {
        if (!this.#ended) attempt.send(request, options);
      },
      this.#hookFailed,
    );
  }

  #startSession(upstream: Upstream): RequestSession {
    const session = createRequestSession(this.#options.facts, this.#options.policy, upstream.budget);
    session.start(this.clock.nowMs());
    return session;
  }

  #recordAttempt(upstream: Upstream, endpoint: Endpoint): AttemptRecord {
    const next = this.#next;
    const record: AttemptRecord = {
      upstream: upstream.name,
      endpoint: endpoint.address.key,
      reused: false,
      waitMs: next === undefined ? 0 : next.delayMs,
      durationMs: 0,
      free: next?.free ?? false,
    };
    this.#session?.attemptStarted();
    this.attempts.push(record);
    if (!this.#tried.includes(endpoint)) this.#tried.push(endpoint);
    return record;
  }

  // --- its outcome (called by AttemptRun) --------------------------------------------------------------------------

  attemptInformational(head: ResponseHead): void {
    if (!this.#ended && !this.#delivering) this.host.onInformational(head);
  }

  /** A final head arrived: deliver it, or keep it and send again. */
  attemptResponded(attempt: AttemptRun, head: ResponseHead): void {
    const nowMs = this.clock.nowMs();
    const session = this.#session!;
    const facts = readResponseFacts(head, this.#options.policy.codes, this.clock.wallMs());
    attempt.record.status = head.status;
    if (facts.claim !== undefined) attempt.record.claim = facts.claim;
    const decision = session.responded(facts, this.#circumstances(attempt), nowMs, this.#options.random());
    if (decision.safety !== undefined) attempt.record.class = decision.safety;
    if (decision.type === 'retry') {
      this.#kept = attempt.keep(head);
      return this.#scheduleRetry(attempt, decision);
    }
    if (this.#refusesWith503(decision.reason)) {
      attempt.abort();
      return this.#refuse(decision.reason);
    }
    this.reason = decision.reason;
    this.#stopTimers();
    this.#delivering = true;
    attempt.deliver(head);
  }

  /** It died without a complete response head. */
  attemptFailed(attempt: AttemptRun, failure: Failure): void {
    recordFailure(attempt.record, failure);
    const decision = this.#session!.failed(
      failure,
      this.#circumstances(attempt),
      this.clock.nowMs(),
      this.#options.random(),
    );
    if (decision.safety !== undefined) attempt.record.class = decision.safety;
    ask(
      () => this.host.reviewFailure(failure, decision),
      (override) => this.#settleFailure(attempt, failure, decision, override),
      this.#hookFailed,
    );
  }

  #settleFailure(
    attempt: AttemptRun,
    failure: Failure,
    proposed: Decision,
    override: DecisionOverride | undefined,
  ): void {
    if (this.#ended) return;
    const decision = override === undefined ? proposed : this.#overridden(attempt, proposed, override);
    if (decision.type === 'retry') return this.#scheduleRetry(attempt, decision);
    if (this.#refusesWith503(decision.reason)) return this.#refuse(decision.reason);
    if (this.#kept?.complete === true) return this.#deliverKept(this.#kept, decision.reason);
    this.#fail(failure, decision.reason);
  }

  #overridden(attempt: AttemptRun, proposed: Decision, override: DecisionOverride): Decision {
    const at = this.#circumstances(attempt);
    return overrideDecision(this.#session!, proposed, override, at, this.clock.nowMs(), this.#options.random());
  }

  /** The attempt's body ended or broke while it was being delivered. */
  deliveryEnded(): void {
    this.#finish(this.reason ?? 'success');
  }

  // --- between attempts --------------------------------------------------------------------------------------------

  #scheduleRetry(attempt: AttemptRun, decision: RetryDecision): void {
    this.#next = decision;
    this.host.onRetry(attempt.record, decision.delayMs);
    if (decision.delayMs <= 0) return this.#waitOver();
    this.waitedMs += decision.delayMs;
    this.#waitTimer = this.clock.setTimer(decision.delayMs, () => this.#waitOver(), true);
  }

  #waitOver(): void {
    this.#waitTimer = undefined;
    if (this.#ended) return;
    // The kept response must have ended (or been given up) first: its connection may carry the retry, and its
    // permit is counted until then. That takes KEPT_RESPONSE_MS at the most.
    if (this.#attempt?.whenKept(() => this.#waitOver()) === false) return;
    this.#select();
  }

  /** An attempt cannot be sent: for a retry the earlier outcome stands, for a first attempt there is only the failure. */
  #stopBeforeSend(reason: StopReason, failure: Failure): void {
    this.#giveBackRetry(reason);
    if (this.attempts.length === 0) return this.#fail(failure, reason);
    if (this.#refusesWith503(reason)) return this.#refuse(reason);
    if (this.#kept?.complete === true) return this.#deliverKept(this.#kept, reason);
    this.#fail(this.#attempt?.failure ?? failure, reason);
  }

  #giveBackRetry(reason: StopReason): void {
    if (this.#next === undefined) return;
    this.#next = undefined;
    this.#session?.retryNotSent(this.clock.nowMs(), reason);
  }

  #circumstances(attempt: AttemptRun): Circumstances {
    const { upstream } = attempt;
    const { body } = this.#options;
    return {
      bodyReplayable: body === undefined || body.replayable,
      committed: this.#delivering,
      downstreamGone: this.#ended,
      endpointAvailable: upstream.hasEndpoint() || this.#options.canMove?.() === true,
      otherEndpointAvailable: upstream.hasUntried(this.#tried),
      // The attempt's own permit is given back before the retry asks for one.
      permitAvailable: upstream.permits.inflight - (attempt.holdsPermit ? 1 : 0) < upstream.permits.limit,
    };
  }

  // --- the end -----------------------------------------------------------------------------------------------------

  #refusesWith503(reason: StopReason): boolean {
    if (reason === 'budget-exhausted') return this.upstream?.onBudgetExhausted === '503';
    if (reason === 'circuit-open') return this.upstream?.onOverflow === '503';
    return false;
  }

  #deliverKept(kept: KeptResponse, reason: StopReason): void {
    this.reason = reason;
    this.#stopTimers();
    this.#delivering = true;
    ask(
      () => this.host.onResponse(kept.head),
      () => {
        if (this.#ended) return;
        for (const chunk of kept.chunks) this.host.onData(chunk);
        this.#finish(reason);
        this.host.onComplete(kept.trailers);
      },
      this.#hookFailed,
    );
  }

  #refuse(reason: StopReason): void {
    this.#finish(reason);
    this.host.onRefused(reason);
  }

  #fail(failure: Failure, reason: StopReason): void {
    this.#finish(reason);
    this.host.onFailed(failure, reason);
  }

  hookFailed(error: unknown): void {
    this.#hookFailed(error);
  }

  /** User code threw: the request ends, whatever was under way. */
  readonly #hookFailed = (error: unknown): void => {
    if (this.#ended) return;
    this.#giveBackRetry('not-retryable');
    this.#finish('not-retryable');
    this.#attempt?.abort();
    this.host.onError(error);
  };

  #deadlinePassed(): void {
    this.#deadlineTimer = undefined;
    if (this.#ended || this.#delivering) return;
    this.#giveBackRetry('deadline');
    const failure = this.#deadlineFailure();
    const attempt = this.#attempt;
    if (attempt !== undefined && !attempt.over) {
      recordFailure(attempt.record, failure);
      attempt.abort();
    }
    this.#fail(failure, 'deadline');
  }

  #deadlineFailure(): Failure {
    const attempt = this.#attempt;
    return {
      kind: 'deadline_exceeded',
      source: 'upstream',
      phase: attempt === undefined ? 'select' : 'wait',
      reused: attempt?.record.reused ?? false,
      bytesSent: attempt?.bytesSent ?? 0,
      bytesReceived: attempt?.bytesReceived ?? 0,
      context: 'the overall deadline of the request passed',
    };
  }

  #stopTimers(): void {
    this.#waitTimer?.cancel();
    this.#waitTimer = undefined;
    this.#deadlineTimer?.cancel();
    this.#deadlineTimer = undefined;
  }

  #finish(reason: StopReason): void {
    this.#ended = true;
    this.reason ??= reason;
    this.#stopTimers();
  }
}
