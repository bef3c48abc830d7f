import type { OutcomeClass } from '../classify.ts';
import type { ErrorClaim } from './error-claim.ts';

/** Whether the caller's own answer fails when this callee fails. */
export type EdgeClass = 'fail-closed' | 'fail-open' | 'unknown';

/** One logical call that was made while an inbound request was served, with all its attempts. */
export interface Outbound {
  /** What was called, the same for each call of the same kind: `payments/charge`. */
  readonly operation: string;
  /** What it was about, where calls of one operation are about different things: only a call with the same one repeats it. */
  readonly target?: string | undefined;
  readonly edge: EdgeClass;
  /** The host's monotonic milliseconds. */
  readonly startedAtMs: number;
  /** Its final outcome; `undefined` while it is in flight. */
  readonly ending: OutboundEnding | undefined;
  /** Its failure was replaced by a declared value. */
  readonly covered: boolean;
  /** It stands on the cause chain of the error that the service answers for. */
  readonly causal: boolean;
}

export interface OutboundEnding {
  readonly atMs: number;
  readonly outcomeClass: OutcomeClass;
  /** What the callee claimed about it. */
  readonly claim: ErrorClaim | undefined;
  /** The retry opportunity on this edge was handled: see `StopDecision.handled`. False where nothing here could retry. */
  readonly handled: boolean;
  /** It may have run and does harm if it runs twice: see `mightRunTwice`. */
  readonly effect: 'maybe' | undefined;
}

/** Whether an outcome of this class may make somebody the owner of an error. What the client caused does not. */
export function isOwnershipFailure(outcomeClass: OutcomeClass): boolean {
  return outcomeClass !== 'ok' && outcomeClass !== 'client' && outcomeClass !== 'cancelled';
}

/** Whether `call` failed and a later call of the same operation did what it was for: a retry by hand, a failover. */
export function isSuperseded(call: Outbound, calls: readonly Outbound[], atMs: number): boolean {
  const { ending } = call;
  if (ending === undefined) return false;
  return calls.some(
    (other) =>
      other.operation === call.operation &&
      other.target === call.target &&
      other !== call &&
      other.startedAtMs >= ending.atMs &&
      other.ending?.outcomeClass === 'ok' &&
      other.ending.atMs <= atMs,
  );
}
