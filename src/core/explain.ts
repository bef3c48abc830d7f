import { causeOfFailure, failureCause } from './failure-cause.ts';
import { FailureError } from './failure-error.ts';
import type { Failure, FailureKind } from './failure.ts';

/** What is known of a failure beyond its kind and words. Default: internal, in phase `select`, nothing sent or received. */
export type FailureEvidence = Partial<Omit<Failure, 'kind' | 'context' | 'cause'>>;

const NOTHING_SENT = { source: 'internal', phase: 'select', reused: false, bytesSent: 0, bytesReceived: 0 } as const;

/**
 * A new failure.
 * @param context What was being done, in words. Empty: nothing is printed of it.
 */
export function explain(kind: FailureKind, context: string, evidence: FailureEvidence = {}): Failure {
  return { ...NOTHING_SENT, ...evidence, kind, context };
}

/**
 * A new failure because of another one, or of whatever was thrown (an `Error` with its causes, an aggregate, a string).
 * What is known of a failure below (source, phase, bytes) is known of this one too, unless `evidence` says otherwise.
 */
export function because(kind: FailureKind, context: string, cause: unknown, evidence: FailureEvidence = {}): Failure {
  const below = failureIn(cause);
  if (below === undefined) return { ...explain(kind, context, evidence), cause: failureCause(cause) };
  // The kind alone was the proof that nothing was processed; it gives way to another one here.
  const proof = below.kind === 'request_rejected' ? { unprocessed: true } : undefined;
  return { ...below, ...proof, ...evidence, kind, context, cause: causeOfFailure(below) };
}

/** The same failure with more words around it: kind, source and evidence stay, so that it may be retried as before. */
export function moreContext(failure: Failure, context: string): Failure {
  return { ...failure, context, cause: causeOfFailure(failure) };
}

/** The failure that a value is, or carries as an exception. */
export function failureIn(value: unknown): Failure | undefined {
  if (value instanceof FailureError) return value.failure;
  return isFailure(value) ? value : undefined;
}

/** Whether a value is a failure as data; an exception that carries one is not. */
export function isFailure(value: unknown): value is Failure {
  if (typeof value !== 'object' || value === null || value instanceof Error) return false;
  const { kind, source, phase, bytesSent } = value as Partial<Record<keyof Failure, unknown>>;
  return (
    typeof kind === 'string' && typeof source === 'string' && typeof phase === 'string' && typeof bytesSent === 'number'
  );
}
