import type { StopReason } from '../core/decision.ts';
import { describeFailure } from '../core/failure-chain.ts';
import type { Failure, FailureCause, FailureKind, FailurePhase, FailureSource } from '../core/failure.ts';
import type { AttemptRecord } from '../engine/attempt-record.ts';

/** Two copies of this package in one program know each other's errors by it. */
const BRAND: unique symbol = Symbol.for('mulligan.RequestFailedError') as never;

/** A request that got no response: what happened to its last attempt, and why no other attempt followed. */
export class RequestFailedError extends Error {
  override readonly name = 'RequestFailedError';
  /** An RFC 9209 token (`connection_refused`, `http_response_timeout`, …) or one of our own (`deadline_exceeded`, …). */
  readonly kind: FailureKind;
  /** Whose fault it is. */
  readonly source: FailureSource;
  /** How far the last attempt had come. */
  readonly phase: FailurePhase;
  /** Why it was not sent again. */
  readonly reason: StopReason;
  /** Every attempt, in the order in which they were sent; empty when none was. */
  readonly attempts: readonly AttemptRecord[];

  constructor(failure: Failure, reason: StopReason, attempts: readonly AttemptRecord[]) {
    const count = attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`;
    super(`${describeFailure(failure)} (${count}, ${reason})`, { cause: errorOf(failure.cause) });
    this.kind = failure.kind;
    this.source = failure.source;
    this.phase = failure.phase;
    this.reason = reason;
    this.attempts = attempts;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Whether it is a `RequestFailedError`, of this or of another copy of the package. */
export function isRequestFailedError(error: unknown): error is RequestFailedError {
  return typeof error === 'object' && error !== null && BRAND in error;
}

/** Errors again, with the system's `code`, for whoever walks a chain of causes. Ten links are more than any real one has. */
function errorOf(cause: FailureCause | undefined, depth: number = 0): Error | undefined {
  if (cause === undefined || depth >= 10) return undefined;
  const inner = errorOf(cause.cause, depth + 1);
  const error = new Error(cause.message, inner === undefined ? undefined : { cause: inner });
  return Object.assign(error, { code: cause.code });
}
