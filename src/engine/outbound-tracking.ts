import type { StopReason } from '../core/decision.ts';
import type { ErrorClaim } from '../core/ownership/error-claim.ts';
import type { EdgeClass, OutboundEnding } from '../core/ownership/outbound.ts';
import type { OwnershipMode } from '../core/retry-policy.ts';
import type { FieldList } from '../http1/message.ts';

/**
 * The seam between whoever makes calls (our client, our undici interceptor, one day a client of a database or a queue) and
 * the service around them, which relates calls to the inbound request that they are made for. Neither imports the other:
 * the service registers itself under a symbol of the process, and a caller that finds nobody there goes on alone.
 */
export interface OutboundTracker {
  /** Begins one logical call, with all its attempts. Never throws. Also outside of an inbound request: then it is counted only. */
  begin(start: OutboundStart): TrackedCall;
}

export interface OutboundStart {
  /**
   * What is called, the same for each call of the same kind: `GET payments:8080/charge`. Default: the method, the authority,
   * and the path with what looks like an identifier taken out.
   */
  readonly operation?: string | undefined;
  readonly method: string;
  /** `http://payments:8080/charge/7`; what does not speak HTTP says what is nearest: `postgres://orders`. */
  readonly url: string;
  /** Does the service fail when this call does? Default: what was declared or learned. */
  readonly edge?: EdgeClass | undefined;
  /** It carries an idempotency key. Default false. */
  readonly keyed?: boolean | undefined;
}

/** What an attempt came to, and what was decided on it. */
export interface AttemptNote {
  /** What the callee said; `undefined` where it said nothing, or is not trusted to. */
  readonly claim: ErrorClaim | undefined;
  /** Another attempt follows. */
  readonly retried: boolean;
  /** Why none does. */
  readonly stopped?: StopReason | undefined;
}

export interface TrackedCall {
  /** Retries made above this call: what `RequestFacts.lineage` and `Request-Attempt` begin with. 0–16. */
  readonly lineage: number;
  /** Until when the inbound request's caller waits, on the clock of `performance.now()`; `Infinity` for as long as it takes. */
  readonly deadlineAtMs: number;
  /** Kept for the way back: what `Request-Timeout` says is so much less, in milliseconds. */
  readonly marginMs: number;
  /** How claims are taken on this edge; a policy of the caller's own that says less holds (`weakerMode`). */
  readonly mode: OwnershipMode;
  /**
   * The claim in a response's fields, if its sender is trusted. Garbled ones are counted.
   * @param peerAddress the address that the connection goes to: `10.0.0.7`; `undefined` when it is not known
   */
  readClaim(fields: FieldList, peerAddress: string | undefined): ErrorClaim | undefined;
  /** Runs what sends an attempt, so that the hooks below do not take it for a call of its own. */
  attempt<Result>(send: () => Result): Result;
  /** Tells what became of an attempt. */
  note(note: AttemptNote): void;
  /** Ends the call, once; later calls do nothing. */
  end(ending: OutboundEnding): void;
  /** What was told of its end was not the end: the body of a good answer broke off. Absent in trackers of older versions. */
  restate?(ending: OutboundEnding): void;
  /** Says that this error stands for this call: an answer that fails with it, or with an error caused by it, names the call. */
  caused(error: unknown): void;
}

/** Shared by all copies of the package in one process. */
const KEY = Symbol.for('mulligan.outbound-tracker.1');

const registry = globalThis as { [KEY]?: OutboundTracker | undefined };

/** Who relates calls to inbound requests in this process; `undefined` when nobody does. */
export function outboundTracker(): OutboundTracker | undefined {
  return registry[KEY];
}

/** @returns takes it back, unless another one has taken the place by then */
export function setOutboundTracker(tracker: OutboundTracker): () => void {
  registry[KEY] = tracker;
  return () => {
    if (registry[KEY] === tracker) registry[KEY] = undefined;
  };
}

const STRENGTH: Readonly<Record<OwnershipMode, number>> = { off: 0, observe: 1, enforce: 2 };

/** Of two modes the one that changes less. */
export function weakerMode(one: OwnershipMode, other: OwnershipMode): OwnershipMode {
  return STRENGTH[one] <= STRENGTH[other] ? one : other;
}
