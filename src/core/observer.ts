import type { OutcomeClass } from './classify.ts';
import type { StopReason } from './decision.ts';
import type { Outcome } from './outcome.ts';
import type { SafetyClass } from './safety.ts';

/** Fields of every event. */
interface EventOfRequest {
  /** Names the logical request; the same in all of its events. */
  readonly requestId: string;
  /** The upstream's name. */
  readonly upstream: string;
  /** The host's monotonic milliseconds. */
  readonly atMs: number;
}

export interface RequestStarted extends EventOfRequest {
  readonly type: 'request-started';
  readonly method: string;
}

export interface AttemptStarted extends EventOfRequest {
  readonly type: 'attempt-started';
  /** 1 for the first. */
  readonly attempt: number;
  /** The endpoint's key, `host:port`. */
  readonly endpoint: string;
}

/** An attempt's outcome is known: its response head arrived, or it died. */
export interface AttemptEnded extends EventOfRequest {
  readonly type: 'attempt-ended';
  readonly attempt: number;
  readonly endpoint: string;
  readonly reused: boolean;
  readonly outcome: Outcome;
  readonly outcomeClass: OutcomeClass;
  readonly durationMs: number;
}

export interface RetryScheduled extends EventOfRequest {
  readonly type: 'retry-scheduled';
  /** The attempt that will follow. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly free: boolean;
  readonly safety: SafetyClass;
}

/** There was something to retry, and it is not retried; or a scheduled retry is not sent after all. */
export interface RetrySuppressed extends EventOfRequest {
  readonly type: 'retry-suppressed';
  /** The last attempt made. */
  readonly attempt: number;
  readonly reason: Exclude<StopReason, 'success'>;
}

/** The last event of a request: its answer was delivered, or its client is gone. */
export interface RequestEnded extends EventOfRequest {
  readonly type: 'request-ended';
  readonly reason: StopReason;
  readonly attemptCount: number;
  readonly retryCount: number;
  /** What the client got; `undefined` when it got nothing. */
  readonly status: number | undefined;
  readonly durationMs: number;
}

export type RequestEvent =
  | RequestStarted
  | AttemptStarted
  | AttemptEnded
  | RetryScheduled
  | RetrySuppressed
  | RequestEnded;

/** Called synchronously, in the order of the events. It must not throw, and it must not change anything. */
export type Observer = (event: RequestEvent) => void;
