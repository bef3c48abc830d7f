import type { StopReason } from '../core/decision.ts';
import type { SafetyClass } from '../core/safety.ts';

/** What a trace takes of a request when it arrives. */
export interface ArrivedRequest {
  /** The values of all its `traceparent` fields. */
  readonly traceparents: readonly string[];
  /** Wall clock, milliseconds since 1970. */
  readonly atMs: number;
  readonly encrypted: boolean;
}

/** What a trace takes of an attempt before it is sent. */
export interface BuiltAttempt {
  /** 1 for the first. */
  readonly number: number;
  /** Milliseconds since the request arrived. */
  readonly afterMs: number;
  /** As it is sent; its query is not looked at. */
  readonly path: string;
}

/** What a trace takes of the access record; the record itself fits. */
export interface TracedRecord {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  readonly host: string;
  readonly protocol: string;
  readonly route: string | undefined;
  readonly upstream: string | undefined;
  readonly status: number;
  readonly flags: readonly string[];
  readonly reason: StopReason | undefined;
  readonly truncated: boolean;
  readonly durationMs: number;
  readonly retryAttempts: number;
  readonly retryBackoff: number;
  /** Retries made above it. */
  readonly lineage?: number;
  readonly claimIn?: string | undefined;
  readonly claimOut?: string | undefined;
  readonly error: string | undefined;
  readonly attempts: readonly TracedAttempt[];
}

export interface TracedAttempt {
  readonly upstream: string;
  /** `host:port`. */
  readonly endpoint: string;
  readonly reused: boolean;
  /** The version of HTTP that was spoken. */
  readonly protocol?: string;
  readonly encrypted?: true;
  readonly waitMs: number;
  readonly durationMs: number;
  readonly free: boolean;
  /** A copy of an attempt that took long, sent beside it. */
  readonly hedge?: true;
  /** Given up because another copy was answered first. */
  readonly superseded?: true;
  readonly class?: SafetyClass;
  readonly status?: number;
  readonly failure?: string;
  readonly detail?: string;
  /** What its callee claimed. */
  readonly claim?: string;
  readonly claimRefused?: string;
  readonly retriedDespite?: string;
}
