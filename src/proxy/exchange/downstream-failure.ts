import type { Failure, FailureKind } from '../../core/failure.ts';

/** A failure on the client's side of an exchange. */
export function downstreamFailure(kind: FailureKind, context: string): Failure {
  return { kind, source: 'downstream', phase: 'send', reused: false, bytesSent: 0, bytesReceived: 0, context };
}
