import type { HedgePolicy } from '../core/hedging.ts';
import type { RetryPolicy } from '../core/retry-policy.ts';
import type { Upstream } from '../engine/upstream.ts';
import type { BodySource } from '../transport/body/request-body.ts';
import type { AttemptTimeouts } from '../transport/transport.ts';
import type { OwnershipRules } from './ownership-rules.ts';

/** Milliseconds; 0 switches one off. */
export interface ExchangeTimeouts extends AttemptTimeouts {
  /** From the request head to the head of the final response, waits and all attempts included. Default 15 000. */
  readonly requestMs: number;
}

export const DEFAULT_TIMEOUTS: ExchangeTimeouts = {
  requestMs: 15_000,
  connectMs: 1_000,
  attemptMs: 0,
  headMs: 10_000,
  idleMs: 60_000,
};

/** Bytes of a request body that are kept for another attempt. */
export const DEFAULT_REPLAY_BUFFER_BYTES = 65_536;

/** How a request is treated. `requestFilter` may replace it; the defaults are the proxy's. */
export interface ExchangePlan {
  /** In the record; and what the circuits of an upstream are told apart by. */
  readonly routeName: string | undefined;
  /** Undefined: `selectUpstream` must answer. */
  readonly upstream: Upstream | undefined;
  /** When a request is sent again. */
  readonly policy: RetryPolicy;
  /** In milliseconds; see `ExchangeTimeouts`. */
  readonly timeouts: ExchangeTimeouts;
  /** Bytes of a request body kept for another attempt. Default 65 536; 0 keeps nothing. */
  readonly replayBufferBytes: number;
  /** Stands between the client and whatever reads the request's body: sees every chunk once, and passes it on. */
  readonly tapBody?: ((source: BodySource) => BodySource) | undefined;
  /** Protocols, in lower case, that a client may switch to. Default: none; an Upgrade field is then not passed on. */
  readonly upgrade?: ReadonlySet<string> | undefined;
  /**
   * CONNECT opens a tunnel to an endpoint of the upstream. What the client names in its request is not connected to: a route
   * may match by it, and that is all. Default false: 405.
   */
  readonly connect?: boolean | undefined;
  /** Whether a request may be done twice, whatever its method. Default: its method, or its key, tells. */
  readonly repeatable?: boolean | undefined;
  /** Sends a copy of a request that takes long, where that can do no harm. Default: none. */
  readonly hedge?: HedgePolicy | undefined;
  /** With whom this request takes part in error ownership. Default: with nobody, and no claim passes. */
  readonly ownership?: OwnershipRules | undefined;
  /** An upstream that takes a retry when `upstream` has lost its last endpoint meanwhile. */
  readonly fallback?: (() => Upstream | undefined) | undefined;
}
