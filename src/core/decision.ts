import type { SafetyClass } from './safety.ts';

export type StopReason =
  | 'success'
  | 'not-retryable'
  | 'not-idempotent'
  | 'body-not-replayable'
  | 'committed'
  | 'not-owner'
  | 'advised-never'
  | 'attempts-exhausted'
  | 'deadline'
  | 'retry-after-too-long'
  | 'circuit-open'
  | 'no-endpoint'
  | 'retry-of-retry'
  | 'budget-exhausted'
  | 'downstream-gone';

export interface RetryDecision {
  readonly type: 'retry';
  /** Milliseconds to wait before the next send; ≥ 0, ≤ 2³¹−1, never past the deadline. */
  readonly delayMs: number;
  /** The free re-send after a stale connection: not charged, not counted, on a fresh connection. */
  readonly free: boolean;
  /** The next attempt must open a new connection. */
  readonly freshConnection: boolean;
  readonly safety: SafetyClass;
}

export interface StopDecision {
  readonly type: 'stop';
  readonly reason: StopReason;
  /** Whether the retry opportunity on this edge was handled (ownership.md §2): decides what is claimed upward. */
  readonly handled: boolean;
  readonly safety: SafetyClass | undefined;
}

export type Decision = RetryDecision | StopDecision;
