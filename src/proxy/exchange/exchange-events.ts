import type { AttemptEnding, EventChannel } from '../../core/observer.ts';
import type { AttemptRecord } from '../../engine/attempt-record.ts';
import type { AccessRecord } from '../access-record.ts';

/** Which request an event is of, and when. */
export interface EventOrigin {
  readonly requestId: number;
  readonly atMs: number;
  readonly route: string | undefined;
  readonly upstream: string | undefined;
}

export function tellRetry(
  channel: EventChannel,
  origin: EventOrigin,
  attempt: AttemptRecord,
  number: number,
  delayMs: number,
): void {
  channel.publish({ type: 'retry-scheduled', ...origin, after: endingOf(attempt, number), delayMs });
}

/** What the record says, as events: why there was no further retry, if something went wrong, and the end. */
export function tellEnd(channel: EventChannel, origin: EventOrigin, record: AccessRecord): void {
  const { reason, attempts, method, path, status, flags, truncated, durationMs } = record;
  const last = attempts.at(-1);
  if (reason !== undefined && reason !== 'success') {
    const after = last === undefined ? undefined : endingOf(last, attempts.length);
    channel.publish({ type: 'retry-suppressed', ...origin, after, reason });
  }
  channel.publish({
    type: 'request-ended',
    ...origin,
    method,
    path,
    status,
    flags,
    reason,
    truncated,
    claimOut: record.claimOut,
    attemptCount: attempts.length,
    retryCount: record.retryAttempts,
    durationMs,
  });
}

function endingOf(attempt: AttemptRecord, number: number): AttemptEnding {
  const { endpoint, status, failure, claim } = attempt;
  return { attempt: number, endpoint, status, failure, safety: attempt.class, claim };
}
