import { describeFailure } from '../core/failure-chain.ts';
import type { Claim } from '../core/claim.ts';
import type { Failure, FailureKind } from '../core/failure.ts';
import type { ResponseFacts } from '../core/outcome.ts';
import type { ClaimSuspicion } from '../core/ownership/claim-suspicion.ts';
import type { SafetyClass } from '../core/safety.ts';
import type { ConnectionInfo } from '../transport/transport.ts';

/** What is remembered of one attempt: the facts behind "why was this (not) retried?". */
export interface AttemptRecord {
  /** The upstream's name: a retry may go to another one. */
  upstream: string;
  /** `host:port`. */
  endpoint: string;
  /** Whether its connection had carried a request before. */
  reused: boolean;
  /** The version of HTTP that was spoken; absent when there was no connection. */
  protocol?: '1.1' | '2';
  /** TLS was spoken below it. */
  encrypted?: true;
  /** Wait before this attempt, in milliseconds. */
  waitMs: number;
  /** Until the response ended, or the tunnel was open. */
  durationMs: number;
  /** The free re-send after a stale connection. */
  free: boolean;
  /** A copy of an attempt that took long, sent beside it. */
  hedge?: true;
  /** Given up because another copy was answered first. */
  superseded?: true;
  /** No endpoint of the upstream was well: it was chosen although it is unhealthy or ejected. */
  panic?: true;
  /** How safe a repeat was after it; absent after a success. */
  class?: SafetyClass;
  /** Of its answer; absent when none came. */
  status?: number;
  /** Of a gRPC call that ended with its response head; read only where the policy names such statuses. */
  grpcStatus?: number;
  /** Why none came. */
  failure?: FailureKind;
  /** The failure with its causes, in one line. */
  detail?: string;
  /** What its answer claims about whose error it is. */
  claim?: Claim;
  /** A claim was there and is not believed: its sender is not trusted, or nobody can read it. */
  claimRefused?: 'untrusted' | 'garbled';
  /** Why its claim is likely to be wrong. */
  claimSuspect?: ClaimSuspicion;
  /** It was retried although its callee said that the retry is not ours: claims are only observed here, or this one was tested. */
  retriedDespite?: 'observe' | 'probe';
}

export function recordConnection(record: AttemptRecord, { reused, protocol, tls }: ConnectionInfo): void {
  record.reused = reused;
  record.protocol = protocol;
  if (tls !== undefined) record.encrypted = true;
}

export function recordResponse(record: AttemptRecord, { status, claim, grpcStatus }: ResponseFacts): void {
  record.status = status;
  if (grpcStatus !== undefined) record.grpcStatus = grpcStatus;
  if (claim !== undefined) record.claim = claim;
}

export function recordFailure(record: AttemptRecord, failure: Failure): void {
  record.failure = failure.kind;
  record.detail = describeFailure(failure);
}
