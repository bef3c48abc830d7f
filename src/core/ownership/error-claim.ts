import type { Claim } from '../claim.ts';

/** What failed, in the words of a claim: of the one that caused it, however many hops below. */
export type ClaimReason =
  | 'local'
  | 'dependency'
  | 'overload'
  | 'quota'
  | 'timeout'
  | 'unsent'
  | 'breaker'
  | 'shed'
  | 'stream';

/**
 * What the callee advises about a retry of its error.
 * - `never`: no caller may retry it.
 * - `other`: at another endpoint only.
 * - `after`: after the wait that the answer asks for (Retry-After).
 */
export type RetryAdvice = 'never' | 'other' | 'after';

/**
 * What a service tells its caller about an error that it answers with. Each hop makes its own for its own caller; none is
 * passed on. It is advice: it may take a retry away, never allow one that the caller's policy does not.
 */
export interface ErrorClaim {
  readonly claim: Claim;
  readonly why: ClaimReason | undefined;
  readonly retry: RetryAdvice | undefined;
  /** The error came from below and nobody there could retry it: a caller with a policy may. */
  readonly kept: boolean;
  /** The work may have been done, and doing it again may do harm. */
  readonly effect: 'maybe' | undefined;
  /** How many hops below the one who speaks the failure arose; 0 is its own. 0–`MAX_HOP_COUNT`. */
  readonly hops: number | undefined;
  /** Within which trust domain it was made; left out at the edge. */
  readonly domain?: string | undefined;
  /** The operation that failed first, where it is known; left out at the edge. */
  readonly source?: string | undefined;
}

export const CLAIM_REASONS: readonly ClaimReason[] = [
  'local',
  'dependency',
  'overload',
  'quota',
  'timeout',
  'unsent',
  'breaker',
  'shed',
  'stream',
];

export const RETRY_ADVICES: readonly RetryAdvice[] = ['never', 'other', 'after'];

/** Longer call paths are counted as this long: a circle of calls must not count for ever. */
export const MAX_HOP_COUNT = 99;
