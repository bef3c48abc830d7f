import type { Claim } from '../core/claim.ts';
import type { StopReason } from '../core/decision.ts';
import type { ClaimSuspicion } from '../core/ownership/claim-suspicion.ts';
import type { SafetyClass } from '../core/safety.ts';

/** What the metrics take of an access record; the record itself fits. */
export interface RequestSample {
  readonly method: string;
  readonly route: string | undefined;
  readonly upstream: string | undefined;
  readonly status: number;
  readonly flags: readonly string[];
  readonly reason: StopReason | undefined;
  readonly truncated: boolean;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly durationMs: number;
  /** Milliseconds spent waiting between attempts. */
  readonly retryBackoff: number;
  readonly replayLost: string | undefined;
  /** Retries made above it, as its client says. */
  readonly lineage?: number;
  /** Whether its client is one to tell claims to; undefined where that was not asked. */
  readonly callerTrusted?: boolean | undefined;
  /** Whose error the answer is: one of a few fixed words. */
  readonly claimOut?: string | undefined;
  readonly attempts: readonly AttemptSample[];
}

export interface AttemptSample {
  /** Names come from the configuration or its resolver, never from a client. */
  readonly upstream: string;
  /** The endpoint's key. */
  readonly endpoint: string;
  readonly durationMs: number;
  readonly free: boolean;
  /** A copy sent beside an attempt that took long. */
  readonly hedge?: boolean;
  /** Given up because another copy was answered first. */
  readonly superseded?: boolean;
  readonly class?: SafetyClass;
  readonly status?: number;
  readonly failure?: string;
  /** What its callee claimed and was believed. */
  readonly claim?: Claim;
  /** Why a claim that was there is not. */
  readonly claimRefused?: 'untrusted' | 'garbled';
  readonly claimSuspect?: ClaimSuspicion;
  /** It was retried although its callee said that nobody may. */
  readonly retriedDespite?: 'observe' | 'probe';
}
