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

/**
 * Whether a request that ended for this reason has used up the retry opportunity on its edge, or had it taken away: a
 * caller above must not retry then. False when there was none here, so that a caller above may. It does not mean that a
 * retry was sent.
 */
export function isRetryHandled(reason: StopReason): boolean {
  return HANDLED.has(reason);
}

/**
 * Whether something took a retry away that the policy would have made. A request that used its attempts up lacked
 * nothing.
 */
export function isRetrySuppressed(reason: StopReason): boolean {
  return reason !== 'attempts-exhausted' && HANDLED.has(reason);
}

const HANDLED: ReadonlySet<StopReason> = new Set<StopReason>([
  'not-owner',
  'advised-never',
  'attempts-exhausted',
  'deadline',
  'retry-after-too-long',
  'no-endpoint',
  'circuit-open',
  'retry-of-retry',
  'budget-exhausted',
]);

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
  /**
   * Whether the retry opportunity on this edge was handled: decides what is claimed upward. It is `isRetryHandled` of the
   * reason, but false for attempts that were exhausted because the policy allows none.
   */
  readonly handled: boolean;
  readonly safety: SafetyClass | undefined;
}

export type Decision = RetryDecision | StopDecision;
