import { attemptTimeoutMs, deadlineAt } from '../core/deadline.ts';
import type { Decision } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import type { Outcome, ResponseFacts } from '../core/outcome.ts';
import { withClaim } from '../core/ownership/claimed-facts.ts';
import type { ErrorClaim } from '../core/ownership/error-claim.ts';
import { hasOtherEndpoint, pickEndpoint } from '../core/pick-endpoint.ts';
import type { Circumstances } from '../core/request.ts';
import { createRequestSession } from '../core/request-session.ts';
import { circuitVerdict } from '../core/verdict.ts';
import { CallRun } from './call-run.ts';
import type { CallState } from './call-state.ts';
import { EVENT, type SimulationClock } from './clock.ts';
import {
  CIRCUIT_OPEN,
  CONNECTION_REFUSED,
  DEADLINE_BEFORE_SEND,
  DEADLINE_EXCEEDED,
  NO_ANSWER_IN_TIME,
} from './failures.ts';
import type { Instance } from './instance.ts';
import { Pool } from './pool.ts';
import { Series } from './series.ts';
import type { ServedRequest } from './served-request.ts';

/** The other side: where attempts arrive, and who made a call. */
export interface Callee {
  receive(run: CallRun, instance: Instance, deadlineAtMs: number, lineage: number): void;
  callEnded(parent: ServedRequest, run: CallRun, isAnswered: boolean): void;
}

const UNHINDERED: Circumstances = {
  bodyReplayable: true,
  committed: false,
  downstreamGone: false,
  endpointAvailable: true,
  otherEndpointAvailable: false,
  permitAvailable: true,
};

/**
 * The host of core's request session on virtual time: it sends, tells the session how it ended, and does what it says.
 * Every outcome comes with an event of its own, never within the send, so that a chain of failures is no deep recursion.
 */
export class Caller {
  readonly runs: Pool<CallRun> = new Pool((slot) => new CallRun(slot));
  /** Sends beyond the first, of all calls. */
  readonly retries: Series;
  /** Calls that the policy would have retried once more. */
  readonly suppressed: Series;
  readonly #clock: SimulationClock;
  readonly #marginMs: number;
  #callee!: Callee;

  constructor(clock: SimulationClock, marginMs: number, intervalMs: number) {
    this.#clock = clock;
    this.#marginMs = marginMs;
    this.retries = new Series(intervalMs);
    this.suppressed = new Series(intervalMs);
  }

  connect(callee: Callee): void {
    this.#callee = callee;
  }

  start(call: CallState, parent: ServedRequest | undefined): void {
    const { nowMs } = this.#clock.queue;
    const { spec, to } = call;
    const run = this.runs.take();
    run.call = call;
    run.parent = parent;
    run.startedAtMs = nowMs;
    const inherited = parent !== undefined && call.inherits ? parent : undefined;
    const ownDeadlineAtMs = deadlineAt(spec.timeouts.requestMs, nowMs);
    const deadlineAtMs = inherited === undefined ? ownDeadlineAtMs : Math.min(ownDeadlineAtMs, inherited.deadlineAtMs);
    const facts = {
      method: to.spec.method,
      keyed: to.spec.keyed,
      lineage: inherited === undefined ? 0 : inherited.lineage,
      deadlineAtMs,
      deadlinePassedOn: call.deadlinePassedOn,
    };
    run.session = createRequestSession(facts, spec.policy, call.budget);
    run.session.start(nowMs);
    call.callCount += 1;
    if (deadlineAtMs <= nowMs) this.#failNow(run, DEADLINE_BEFORE_SEND);
    else if (!this.#admit(run)) this.#failNow(run, CIRCUIT_OPEN);
    else this.#send(run);
  }

  /** Its attempt was answered, and it still waits for that answer. */
  answered(run: CallRun, facts: ResponseFacts, claim: ErrorClaim | undefined): void {
    const { nowMs } = this.#clock.queue;
    const { call, session } = run;
    this.#landed(run, { type: 'response', response: facts });
    if (facts.status < 400) {
      session.responded(facts, UNHINDERED, nowMs, 0);
      return this.#end(run, true);
    }
    const told = withClaim(facts, claim, call.spec.policy.ownership);
    run.outcome = { type: 'response', response: told };
    run.claim = claim;
    this.#follow(run, session.responded(told, this.#circumstances(run), nowMs, this.#clock.callers.next()));
  }

  /** Somebody looks whether the attempt under way has had its time. */
  alarm(run: CallRun): void {
    const { nowMs } = this.#clock.queue;
    // One that an earlier alarm took the place of.
    if (run.alarmAtMs !== nowMs) return;
    run.alarmAtMs = Infinity;
    if (run.expiresAtMs > nowMs) return this.#setAlarm(run);
    this.failed(run, nowMs >= run.session.facts.deadlineAtMs ? DEADLINE_EXCEEDED : NO_ANSWER_IN_TIME);
  }

  failed(run: CallRun, failure: Failure): void {
    const outcome: Outcome = { type: 'failure', failure };
    this.#landed(run, outcome);
    run.outcome = outcome;
    run.claim = undefined;
    const { nowMs } = this.#clock.queue;
    this.#follow(run, run.session.failed(failure, this.#circumstances(run), nowMs, this.#clock.callers.next()));
  }

  retry(run: CallRun): void {
    if (this.#admit(run)) return this.#send(run);
    run.session.retryNotSent(this.#clock.queue.nowMs, 'circuit-open');
    this.#end(run, false);
  }

  #follow(run: CallRun, decision: Decision): void {
    if (decision.type === 'stop') return this.#end(run, decision.reason === 'success');
    const { queue } = this.#clock;
    run.ticket += 1;
    queue.schedule(queue.nowMs + decision.delayMs, EVENT.retry, run.slot, run.ticket);
  }

  /** Takes the permit and the leave of the circuit, or nothing. */
  #admit(run: CallRun): boolean {
    const { permits, breaker } = run.call;
    if (!permits.tryAcquire()) return false;
    if (breaker === undefined) return true;
    run.pass = breaker.tryPass(this.#clock.queue.nowMs);
    if (run.pass >= 0) return true;
    permits.release();
    return false;
  }

  #send(run: CallRun): void {
    const { queue } = this.#clock;
    const { call, session } = run;
    const { nowMs } = queue;
    const { facts } = session;
    const number = session.attemptStarted();
    call.attempts.add(nowMs);
    if (number > 1) {
      call.retryCount += 1;
      this.retries.add(nowMs);
    }
    run.ticket += 1;
    const timeoutMs = attemptTimeoutMs(call.spec.timeouts.attemptMs, facts.deadlineAtMs, nowMs);
    run.expiresAtMs = nowMs + timeoutMs;
    this.#setAlarm(run);
    const instance = this.#pick(run);
    run.instance = instance;
    instance.inflight += 1;
    if (instance.refuses) return this.#failNow(run, CONNECTION_REFUSED);
    const toldAtMs = call.tellsDeadline ? nowMs + timeoutMs - this.#marginMs : Infinity;
    this.#callee.receive(run, instance, toldAtMs, call.tellsLineage ? facts.lineage + number - 1 : 0);
  }

  /**
   * Sees to it that there is an alarm when the attempt has had its time, or before. Most attempts are answered long before:
   * an alarm of an earlier attempt, or of an earlier call of the same object, does for them too, and is set anew when it
   * comes. An alarm for each would fill the memory with alarms that nobody needs.
   */
  #setAlarm(run: CallRun): void {
    if (run.expiresAtMs >= run.alarmAtMs) return;
    run.alarmAtMs = run.expiresAtMs;
    this.#clock.queue.schedule(run.alarmAtMs, EVENT.alarm, run.slot, 0);
  }

  #pick(run: CallRun): Instance {
    const { instances } = run.call.to.service;
    if (!run.call.hasChoice) return instances[0]!;
    const random = this.#clock.callers.next();
    const choice = { loadBalancing: 'least-request', tried: run.tried, random, cursor: 0, keyHash: 0 } as const;
    const instance = pickEndpoint(instances, choice)!;
    run.tried.push(instance);
    return instance;
  }

  #circumstances(run: CallRun): Circumstances {
    const { permits, breaker, hasChoice, to } = run.call;
    const hasOther = hasChoice && hasOtherEndpoint(to.service.instances, run.tried);
    const isAdmitted = permits.inflight < permits.limit && (breaker?.admits(this.#clock.queue.nowMs) ?? true);
    if (isAdmitted && !hasOther) return UNHINDERED;
    return { ...UNHINDERED, otherEndpointAvailable: hasOther, permitAvailable: isAdmitted };
  }

  #failNow(run: CallRun, failure: Failure): void {
    const { queue } = this.#clock;
    run.dueFailure = failure;
    run.ticket += 1;
    queue.schedule(queue.nowMs, EVENT.failure, run.slot, run.ticket);
  }

  /** The attempt under way is over: any answer to it comes too late from now on. */
  #landed(run: CallRun, outcome: Outcome): void {
    run.ticket += 1;
    run.expiresAtMs = Infinity;
    if (run.instance === undefined) return;
    run.instance.inflight -= 1;
    run.instance = undefined;
    const { permits, breaker } = run.call;
    permits.release();
    breaker?.record(run.pass, circuitVerdict(outcome), this.#clock.queue.nowMs);
  }

  #end(run: CallRun, isAnswered: boolean): void {
    const { call, parent, session } = run;
    if (isAnswered) call.successCount += 1;
    else if (call.stopped(session)) this.suppressed.add(this.#clock.queue.nowMs);
    if (parent === undefined) call.root?.ended(isAnswered, run.startedAtMs, this.#clock.queue.nowMs);
    else this.#callee.callEnded(parent, run, isAnswered);
    run.outcome = undefined;
    run.claim = undefined;
    if (run.tried.length > 0) run.tried.length = 0;
    this.runs.give(run);
  }
}
