import { describeFailure } from '../core/failure-chain.ts';
import type { Claim } from '../core/claim.ts';
import type { Failure, FailureKind } from '../core/failure.ts';
import type { SafetyClass } from '../core/safety.ts';

/** What is remembered of one attempt: the facts behind "why was this (not) retried?". */
export interface AttemptRecord {
  /** The upstream's name: a retry may go to another one. */
  upstream: string;
  endpoint: string;
  reused: boolean;
  /** Wait before this attempt, in milliseconds. */
  waitMs: number;
  durationMs: number;
  /** The free re-send after a stale connection. */
  free: boolean;
  class?: SafetyClass;
  status?: number;
  failure?: FailureKind;
  /** The failure with its causes, in one line. */
  detail?: string;
  claim?: Claim;
}

export function recordFailure(record: AttemptRecord, failure: Failure): void {
  record.failure = failure.kind;
  record.detail = describeFailure(failure);
}
