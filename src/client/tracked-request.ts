import { classifyOutcome } from '../core/classify.ts';
import type { StopReason } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import type { Outcome, ResponseFacts } from '../core/outcome.ts';
import { withClaim } from '../core/ownership/claimed-facts.ts';
import type { ErrorClaim } from '../core/ownership/error-claim.ts';
import type { OutboundEnding } from '../core/ownership/outbound.ts';
import type { RequestFacts } from '../core/request.ts';
import type { RetryPolicy } from '../core/retry-policy.ts';
import { mightRunTwice, safetyOf } from '../core/safety.ts';
import type { TrackedCall } from '../engine/outbound-tracking.ts';
import { outboundTracker, weakerMode } from '../engine/outbound-tracking.ts';
import { withRequestTimeout } from '../engine/request-timeout.ts';
import { readPeerAdvice } from '../engine/retry-advice.ts';
import type { SentAttempt } from '../engine/request-run.ts';
import type { FieldList, ResponseHead } from '../http1/message.ts';

/** An answer that arrived. */
interface Answered {
  readonly head: ResponseHead;
  readonly claim: ErrorClaim | undefined;
  readonly outcome: Outcome;
  /** Another attempt was decided on it. */
  isRetried: boolean;
}

/** What a request tells the service that it is sent from, and what that service lets it know. */
export class TrackedRequest {
  readonly #call: TrackedCall;
  readonly #mode: RetryPolicy['ownership'];
  #claim: ErrorClaim | undefined;
  #outcome: Outcome | undefined;
  /** One of an earlier attempt is delivered when no later one gets any. */
  readonly #answers: Answered[] = [];
  #facts: RequestFacts | undefined;
  #isOver = false;

  private constructor(call: TrackedCall, policy: RetryPolicy) {
    this.#call = call;
    this.#mode = weakerMode(policy.ownership, call.mode);
  }

  /** `undefined` where no service relates calls to the requests that it serves. */
  static begin(method: string, url: () => string, keyed: boolean, policy: RetryPolicy): TrackedRequest | undefined {
    const call = outboundTracker()?.begin({ method, url: url(), keyed });
    return call === undefined ? undefined : new TrackedRequest(call, policy);
  }

  /** The facts of the request as part of what the service was asked for. */
  facts(own: RequestFacts): RequestFacts {
    const { lineage, deadlineAtMs } = this.#call;
    this.#facts = {
      ...own,
      // A layer above in this process may have retried already, and says so in the request itself.
      lineage: Math.max(own.lineage, lineage),
      deadlineAtMs: Math.min(own.deadlineAtMs, deadlineAtMs),
      deadlinePassedOn: deadlineAtMs < Infinity,
    };
    return this.#facts;
  }

  policy(own: RetryPolicy): RetryPolicy {
    return own.ownership === this.#mode ? own : { ...own, ownership: this.#mode };
  }

  /** Runs what sends an attempt through a client below, which must not be taken for a call of its own. */
  sending<Result>(send: () => Result): Result {
    return this.#call.attempt(send);
  }

  /** Tells the callee how long it is waited for. */
  fields(fields: FieldList, nowMs: number): FieldList {
    const { deadlineAtMs, marginMs } = this.#call;
    if (deadlineAtMs === Infinity) return fields;
    return withRequestTimeout(fields, (this.#facts?.deadlineAtMs ?? deadlineAtMs) - nowMs, marginMs);
  }

  /** An answer arrived: its claim is read, and what it advises is in the facts. */
  readonly answered = (facts: ResponseFacts, head: ResponseHead, attempt: SentAttempt): ResponseFacts => {
    this.#claim = facts.status < 400 ? undefined : this.#call.readClaim(head.fields, attempt.peerAddress);
    const read = withClaim(withPeerAdvice(facts, head), this.#claim, this.#mode);
    this.#outcome = { type: 'response', response: read };
    this.#answers.push({ head, claim: this.#claim, outcome: this.#outcome, isRetried: false });
    return read;
  };

  /** An attempt failed, and another one follows. */
  retried(): void {
    this.#call.note({ claim: this.#claim, retried: true });
    const answer = this.#answers.at(-1);
    if (answer !== undefined && answer.outcome === this.#outcome) answer.isRetried = true;
    this.#claim = undefined;
  }

  failed(failure: Failure): void {
    this.#claim = undefined;
    this.#outcome = { type: 'failure', failure };
  }

  /**
   * Its answer begins, or it ended without one; what comes later changes nothing but by `broke`.
   * @param head of the answer that is delivered, which need not be the latest
   */
  ended(
    run: { readonly reason: StopReason | undefined; readonly handled: boolean } | undefined,
    atMs: number,
    head?: ResponseHead,
  ): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { reason = 'downstream-gone', handled = false } = run ?? {};
    const last = { claim: this.#claim, outcome: this.#outcome, isRetried: false };
    const { claim, outcome: delivered, isRetried } = this.#answers.find((one) => one.head === head) ?? last;
    const outcome = reason === 'downstream-gone' ? undefined : delivered;
    this.#outcome = outcome;
    this.#call.note({ claim: this.#claim, retried: false, stopped: reason });
    this.#call.end({
      ...this.#endingBy(outcome, atMs),
      claim,
      handled: (handled || isRetried) && outcome !== undefined,
    });
  }

  /** Its answer, that had begun, broke off. The body of an error that breaks off changes nothing about the error. */
  broke(failure: Failure, atMs: number): void {
    if (this.#outcome === undefined || classifyOutcome(this.#outcome) !== 'ok') return;
    this.#call.restate?.({ ...this.#endingBy({ type: 'failure', failure }, atMs), claim: undefined, handled: false });
  }

  #endingBy(outcome: Outcome | undefined, atMs: number): Pick<OutboundEnding, 'atMs' | 'outcomeClass' | 'effect'> {
    if (outcome === undefined) return { atMs, outcomeClass: 'cancelled', effect: undefined };
    const facts = this.#facts;
    const mayHaveRun = facts !== undefined && mightRunTwice(safetyOf(outcome), facts);
    return { atMs, outcomeClass: classifyOutcome(outcome), effect: mayHaveRun ? 'maybe' : undefined };
  }

  /** What its sender got in place of an answer, or of the rest of one. */
  caused(error: Error): void {
    this.#call.caused(error);
  }
}

/** What fields of other systems advise: obeyed by every client, whether or not it is part of a service. */
export function withPeerAdvice(facts: ResponseFacts, head: ResponseHead): ResponseFacts {
  if (facts.status < 400) return facts;
  const { never, nack } = readPeerAdvice(head.fields);
  return never || nack ? { ...facts, advisedNever: facts.advisedNever === true || never, nack } : facts;
}
