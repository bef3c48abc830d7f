import type { Failure, FailureKind } from '../core/failure.ts';
import type { AttemptRun } from './attempt-run.ts';

/** A failure of ours, before anything was sent. */
export function localFailure(kind: FailureKind, context: string): Failure {
  return { kind, source: 'internal', phase: 'select', reused: false, bytesSent: 0, bytesReceived: 0, context };
}

/** The request's own time is over, while `attempt` was under way or in between two. */
export function deadlineFailure(attempt: AttemptRun | undefined): Failure {
  return {
    kind: 'deadline_exceeded',
    source: 'upstream',
    phase: attempt === undefined ? 'select' : 'wait',
    reused: attempt?.record.reused ?? false,
    bytesSent: attempt?.bytesSent ?? 0,
    bytesReceived: attempt?.bytesReceived ?? 0,
    context: 'the overall deadline of the request passed',
  };
}

/** No connection, by the endpoint's own doing: not our lack of sockets, not a full pool. */
export function isUnreachable(failure: Failure): boolean {
  return failure.source === 'upstream' && (failure.phase === 'connect' || failure.phase === 'tls');
}
