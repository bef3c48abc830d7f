import { classifyOutcome } from '../core/classify.ts';
import type { StopReason } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import type { Outcome, ResponseFacts } from '../core/outcome.ts';
import { withClaim } from '../core/ownership/claimed-facts.ts';
import type { ErrorClaim } from '../core/ownership/error-claim.ts';
import type { RequestFacts } from '../core/request.ts';
import type { RetryPolicy } from '../core/retry-policy.ts';
import { mightRunTwice, safetyOf } from '../core/safety.ts';
import type { TrackedCall } from '../engine/outbound-tracking.ts';
import { outboundTracker, weakerMode } from '../engine/outbound-tracking.ts';
import { withRequestTimeout } from '../engine/request-timeout.ts';
import { readPeerAdvice } from '../engine/retry-advice.ts';
import type { SentAttempt } from '../engine/request-run.ts';
import type { FieldList, ResponseHead } from '../http1/message.ts';

/** What a request tells the service that it is sent from, and what that service lets it know. */
export class TrackedRequest {
  readonly #call: TrackedCall;
  readonly #mode: RetryPolicy['ownership'];
  #claim: ErrorClaim | undefined;
  #outcome: Outcome | undefined;
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
    return read;
  };

  /** An attempt failed, and another one follows. */
  retried(): void {
    this.#call.note({ claim: this.#claim, retried: true });
    this.#claim = undefined;
  }

  failed(failure: Failure): void {
    this.#claim = undefined;
    this.#outcome = { type: 'failure', failure };
  }

  /** Its answer begins, or it ended without one; what comes later changes nothing. */
  ended(run: { readonly reason: StopReason | undefined; readonly handled: boolean } | undefined, atMs: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { reason = 'downstream-gone', handled = false } = run ?? {};
    const outcome = reason === 'downstream-gone' ? undefined : this.#outcome;
    const facts = this.#facts;
    this.#call.note({ claim: this.#claim, retried: false, stopped: reason });
    this.#call.end({
      atMs,
      outcomeClass: outcome === undefined ? 'cancelled' : classifyOutcome(outcome),
      claim: this.#claim,
      handled: handled && outcome !== undefined,
      effect:
        outcome !== undefined && facts !== undefined && mightRunTwice(safetyOf(outcome), facts) ? 'maybe' : undefined,
    });
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
