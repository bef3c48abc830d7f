import type { ClaimReason, RetryAdvice } from '../core/ownership/error-claim.ts';
import { isOwnershipFailure } from '../core/ownership/outbound.ts';
import type { InboundFacts } from '../engine/inbound-facts.ts';
import type { ServiceCall } from './service-call.ts';

/** A request with more calls than this explains its errors by the first ones. */
const MAX_CALL_COUNT = 256;

/** A request that the service answers, and the calls that it makes for it. */
export class InboundRequest {
  /** What its framework calls the route, once it knows; better than a guess from the path. */
  route: (() => string | undefined) | undefined = undefined;
  /** What the answer is given for. */
  error: unknown = undefined;
  readonly lineage: number;
  /** On the clock of the service; `Infinity` when its caller does not say how long it waits. */
  readonly deadlineAtMs: number;
  readonly keyed: boolean;
  /** Whether its caller is one to tell a claim to. */
  readonly trusted: boolean;
  readonly calls: ServiceCall[] = [];
  /** The service says that its error is its own. */
  own: { readonly why: ClaimReason; readonly retry?: RetryAdvice | undefined } | undefined = undefined;
  /** Its answer was decided: what is called from now on has no part in it. */
  answered = false;
  readonly #guessed: string;

  constructor(operation: string, facts: InboundFacts, deadlineAtMs: number, trusted: boolean) {
    this.#guessed = operation;
    this.lineage = facts.lineage;
    this.deadlineAtMs = deadlineAtMs;
    this.keyed = facts.keyed;
    this.trusted = trusted;
  }

  /** `POST /orders/:id`. */
  get operation(): string {
    return this.route?.() ?? this.#guessed;
  }

  /** The layers of retries from here on, on its worst path: of this service, and of the callees that tell of theirs. */
  get layerCount(): number {
    let most = 0;
    for (const { repeatCount, retried, relayedBelow } of this.calls) {
      const count = (repeatCount > 0 || retried ? 1 : 0) + (relayedBelow ? 1 : 0);
      if (count > most) most = count;
    }
    return most;
  }

  /** @returns false when the call has no part in the answer */
  add(call: ServiceCall): boolean {
    if (this.answered || this.calls.length >= MAX_CALL_COUNT) return false;
    this.calls.push(call);
    return true;
  }

  /** The calls that this one would repeat: of the same thing, and failed. A loop of the application's own does so. */
  failuresOf(operation: string, target: string): readonly ServiceCall[] {
    if (this.calls.length === 0) return [];
    return this.calls.filter(
      (call) =>
        call.operation === operation &&
        call.target === target &&
        call.ending !== undefined &&
        isOwnershipFailure(call.ending.outcomeClass),
    );
  }
}
