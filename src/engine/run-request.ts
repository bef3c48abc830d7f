import { isSuccess } from '../core/classify.ts';
import { isRetryHandled, type Decision, type StopReason } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import type { Ruling } from '../core/outcome.ts';
import { classifyFailure, classifyResponse } from '../core/safety.ts';
import type { ResponseHead } from '../http1/message.ts';
import type { Clock, Timer } from '../transport/clock.ts';
import type { Refusal } from './admission.ts';
import { ask } from './ask.ts';
import type { AttemptRecord } from './attempt-record.ts';
import { recordFailure, recordResponse } from './attempt-record.ts';
import type { AttemptRun } from './attempt-run.ts';
import { overrideDecision } from './decision-override.ts';
import { deadlineFailure } from './failures.ts';
import type { Flight } from './flight.ts';
import { Hedge } from './hedge.ts';
import type { LaunchOwner, Order } from './launcher.ts';
import { Launcher, UNHINDERED } from './launcher.ts';
import { PendingRetry } from './pending-retry.ts';
import type { RequestRun, RunRequestOptions } from './request-run.ts';
import { readResponseFacts } from './response-facts.ts';
import { refusesWith503, RunEnding } from './run-ending.ts';
import type { DecisionOverride, RunHost } from './run-host.ts';
import type { Upstream } from './upstream.ts';

/**
 * Runs one logical request to its end: the only place in the house where a request is sent again.
 * Every send was decided by the core's session, is counted there, and stands in `attempts`.
 * @param begun Gets the run before anything is asked of the host, which may then be told its end at once.
 */
export function runRequest(options: RunRequestOptions, begun?: (run: RequestRun) => void): RequestRun {
  const run = new Run(options);
  begun?.(run);
  run.begin();
  return run;
}

class Run implements RequestRun, LaunchOwner {
  readonly clock: Clock;
  readonly host: RunHost;

  readonly #options: RunRequestOptions;
  readonly #launcher: Launcher;
  readonly #flight: Flight;
  readonly #ending: RunEnding;
  readonly #retry: PendingRetry;
  readonly #hedge: Hedge | undefined;
  readonly #beganAtMs: number;
  /** Of the latest attempt, if it got no response. */
  #failure: Failure | undefined;
  #deadlineTimer: Timer | undefined;

  constructor(options: RunRequestOptions) {
    const { clock, host, hedge } = options;
    this.#options = options;
    this.clock = clock;
    this.host = host;
    this.#launcher = new Launcher(options, this);
    this.#flight = this.#launcher.flight;
    this.#ending = new RunEnding(host, () => this.#stopTimers(), this.hookFailed);
    this.#retry = new PendingRetry(this.#launcher, clock, this.hookFailed);
    this.#hedge = hedge === undefined ? undefined : new Hedge(hedge, options, this.#launcher, this.#ending);
    this.#beganAtMs = clock.nowMs();
  }

  get attempts(): readonly AttemptRecord[] {
    return this.#launcher.attempts;
  }

  get retryCount(): number {
    return Math.max(0, this.attempts.length - 1 - (this.#launcher.session?.hedgeCount ?? 0));
  }

  get waitedMs(): number {
    return this.#retry.waitedMs;
  }

  get hedgeRefused(): StopReason | undefined {
    return this.#hedge?.refused;
  }

  get reason(): StopReason | undefined {
    return this.#ending.reason;
  }

  get handled(): boolean {
    const { reason } = this;
    const { session } = this.#launcher;
    // A deadline, and a refusal before the first send, are no decisions of the session.
    if (session !== undefined && session.stopReason === reason) return session.handled;
    return reason !== undefined && isRetryHandled(reason);
  }

  get upstream(): Upstream | undefined {
    return this.#launcher.upstream;
  }

  get retryAfterMs(): number | undefined {
    return this.reason === 'circuit-open' ? this.#launcher.circuitWaitMs() : undefined;
  }

  begin(): void {
    const leftMs = this.#options.facts.deadlineAtMs - this.#beganAtMs;
    if (leftMs <= 0) return this.#ending.fail(deadlineFailure(undefined), 'deadline');
    if (leftMs !== Infinity) this.#deadlineTimer = this.clock.setTimer(leftMs, () => this.#deadlinePassed());
    this.#launcher.launch(FIRST);
  }

  resume(): void {
    this.#flight.deliverer?.resume();
  }

  cancel(): void {
    if (this.#ending.ended) return;
    this.#retry.giveBack('downstream-gone');
    this.#ending.finish('downstream-gone');
    this.#flight.abort();
  }

  // --- a send (called by Launcher) ---------------------------------------------------------------------------------

  isWanted(order: Order): boolean {
    if (order.type !== 'copy') return !this.#ending.ended;
    const isWanted = this.#hedge?.isWanted === true;
    if (!isWanted) this.#hedge?.giveBack(undefined);
    return isWanted;
  }

  launched(): void {
    this.#retry.sent();
    this.#hedge?.arm();
  }

  /** For a retry the earlier outcome stands, for a first attempt there is only the failure. */
  refused(order: Order, { reason, failure }: Refusal): void {
    if (order.type === 'copy') return this.#hedge?.giveBack(reason);
    this.#retry.giveBack(reason);
    if (order.type === 'first') return this.#ending.fail(failure, reason);
    this.#giveUp(this.#failure ?? failure, reason);
  }

  // --- its outcome (called by AttemptRun) --------------------------------------------------------------------------

  attemptInformational(head: ResponseHead): void {
    if (!this.#ending.ended && !this.#ending.delivering) this.host.onInformational(head);
  }

  /** A final head arrived: deliver it, or put it aside and send again, or put it aside and wait for the other copy. */
  attemptResponded(attempt: AttemptRun, head: ResponseHead): void {
    const ruling = this.#rulingOn(head, undefined);
    if (this.#ending.ended) return;
    const nowMs = this.clock.nowMs();
    const read = readResponseFacts(head, this.#options.policy, this.clock.wallMs(), ruling);
    const facts = this.#options.readAnswer?.(read, head, attempt) ?? read;
    this.#failure = undefined;
    this.#flight.landed(attempt);
    attempt.answered(facts, nowMs);
    recordResponse(attempt.record, facts);
    const session = this.#launcher.session!;
    const isGood = isSuccess(facts);
    const at = isGood ? UNHINDERED : this.#launcher.circumstancesAfter(attempt, nowMs);
    const decision =
      isGood || !this.#flight.isAirborne
        ? session.responded(facts, at, nowMs, this.#options.random())
        : session.besideCopy({ type: 'response', response: facts }, at, nowMs, this.#options.random());
    const safety = decision === undefined ? classifyResponse(facts) : decision.safety;
    if (safety !== undefined) attempt.record.class = safety;
    if (decision?.type === 'stop') return this.#answerWith(attempt, head, decision.reason);
    this.#ending.kept = attempt.keep(head);
    this.#flight.putAside(attempt);
    if (decision !== undefined) this.#retry.schedule(attempt.record, decision);
  }

  #answerWith(attempt: AttemptRun, head: ResponseHead, reason: StopReason): void {
    this.#flight.supersede();
    if (refusesWith503(reason, this.upstream)) {
      attempt.abort();
      return this.#ending.refuse(reason);
    }
    this.#flight.deliverer = attempt;
    this.#ending.deliver(attempt, head, reason);
  }

  /** It died without a complete response head. */
  attemptFailed(attempt: AttemptRun, failure: Failure): void {
    const ruling = this.#rulingOn(undefined, failure);
    if (this.#ending.ended) return;
    const nowMs = this.clock.nowMs();
    const session = this.#launcher.session!;
    this.#failure = failure;
    this.#flight.landed(attempt);
    recordFailure(attempt.record, failure);
    const at = this.#launcher.circumstancesAfter(attempt, nowMs);
    if (this.#flight.isAirborne) {
      const stop = session.besideCopy({ type: 'failure', failure, ruling }, at, nowMs, this.#options.random());
      attempt.record.class = classifyFailure(failure);
      if (stop === undefined) return;
      this.#flight.supersede();
      return this.#settleFailure(attempt, failure, stop, undefined);
    }
    const decision = session.failed(failure, at, nowMs, this.#options.random(), ruling);
    if (decision.safety !== undefined) attempt.record.class = decision.safety;
    ask(
      () => this.host.reviewFailure(failure, decision),
      (override) => this.#settleFailure(attempt, failure, decision, override),
      this.hookFailed,
    );
  }

  #rulingOn(head: ResponseHead | undefined, failure: Failure | undefined): Ruling | undefined {
    try {
      return this.#options.classify?.(head, failure);
    } catch (error) {
      this.hookFailed(error);
      return undefined;
    }
  }

  #settleFailure(
    attempt: AttemptRun,
    failure: Failure,
    proposed: Decision,
    override: DecisionOverride | undefined,
  ): void {
    if (this.#ending.ended) return;
    const decision = override === undefined ? proposed : this.#override(attempt, proposed, override);
    if (decision.type === 'retry') return this.#retry.schedule(attempt.record, decision);
    this.#giveUp(failure, decision.reason);
  }

  /** A response that was put aside may be the answer: it has the rest of its time to end. */
  #giveUp(failure: Failure, reason: StopReason): void {
    const giveUp = (): void => {
      if (!this.#ending.ended) this.#ending.giveUp(failure, reason, this.upstream);
    };
    if (this.#flight.stillAside()?.whenKept(giveUp) !== false) giveUp();
  }

  #override(attempt: AttemptRun, proposed: Decision, override: DecisionOverride): Decision {
    const nowMs = this.clock.nowMs();
    const at = this.#launcher.circumstancesAfter(attempt, nowMs);
    return overrideDecision(this.#launcher.session!, proposed, override, at, nowMs, this.#options.random());
  }

  deliveryEnded(isWhole: boolean): void {
    if (isWhole) this.#ending.finish('success');
    else this.#ending.breakOff();
  }

  // --- the end -----------------------------------------------------------------------------------------------------

  /** User code threw: the request ends, whatever was under way. */
  readonly hookFailed = (error: unknown): void => {
    if (this.#ending.ended) return;
    this.#retry.giveBack('not-retryable');
    this.#ending.finish('not-retryable');
    this.#flight.abort();
    this.host.onError(error);
  };

  #deadlinePassed(): void {
    this.#deadlineTimer = undefined;
    if (this.#ending.ended || this.#ending.delivering) return;
    this.#retry.giveBack('deadline');
    const { body, strangersDeadline } = this.#options;
    const failure = deadlineFailure(this.#flight.running.at(-1));
    const isEvidence = strangersDeadline !== true && (body === undefined || body.complete);
    this.#flight.expire(failure, isEvidence, this.#beganAtMs, this.clock.nowMs());
    this.#ending.fail(failure, 'deadline');
  }

  #stopTimers(): void {
    this.#deadlineTimer?.cancel();
    this.#deadlineTimer = undefined;
    this.#hedge?.cancel();
  }
}

const FIRST: Order = { type: 'first' };
