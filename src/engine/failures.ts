import type { Failure, FailureKind } from '../core/failure.ts';

/** A failure of ours, before anything was sent. */
export function localFailure(kind: FailureKind, context: string): Failure {
  return { kind, source: 'internal', phase: 'select', reused: false, bytesSent: 0, bytesReceived: 0, context };
}
