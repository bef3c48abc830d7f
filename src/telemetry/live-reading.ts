import type { BreakerState } from '../core/circuit-breaker.ts';

/** What a gateway's live state was at one moment. The metrics and the admin's `/upstreams` show the same reading. */
export interface GatewayReading {
  readonly ready: boolean;
  readonly draining: boolean;
  readonly inflightRequestCount: number;
  readonly clientConnectionCount: number;
  /** Connections that were closed for what their clients did, by the reason; the reasons are few and fixed. */
  readonly refusedConnectionCounts: ReadonlyMap<string, number>;
  readonly replayMemory: { readonly usedBytes: number; readonly limitBytes: number };
  /** Lines of the access log that its target did not take. */
  readonly lostLogLineCount: number;
  /** Spans that the collector did not take. */
  readonly lostSpanCount: number;
  readonly events: { readonly readerCount: number; readonly droppedReaderCount: number };
  readonly reloads: {
    readonly acceptedCount: number;
    readonly refusedCount: number;
    /** Wall clock in milliseconds when the present configuration was taken into use. */
    readonly changedAtMs: number;
  };
  readonly routes: readonly string[];
  readonly upstreams: readonly UpstreamReading[];
}

export interface UpstreamReading {
  readonly name: string;
  /** Attempts in flight and their limit. */
  readonly permits: { readonly inflight: number; readonly limit: number };
  /** `balance`: retries that could be granted now; Infinity without a limit. */
  readonly retryBudget: { readonly kind: string; readonly balance: number };
  /** Every endpoint is judged unhealthy, so all are used in spite of it. */
  readonly panicking: boolean;
  readonly breakers: readonly BreakerReading[];
  readonly endpoints: readonly EndpointReading[];
}

export interface BreakerReading {
  /** Which of the upstream's breakers; empty where it has one. */
  readonly operation: string;
  readonly state: BreakerState;
}

/**
 * - `available`: takes traffic.
 * - `paused`: could not be connected to lately; used only when there is no other.
 * - `ejected`: its attempts failed too often.
 * - `unhealthy`: active health checks fail.
 * - `draining`: an operator took it out; requests in flight end.
 */
export type EndpointState = 'available' | 'paused' | 'ejected' | 'unhealthy' | 'draining';

export const ENDPOINT_STATES: readonly EndpointState[] = ['available', 'paused', 'ejected', 'unhealthy', 'draining'];

export interface EndpointReading {
  /** `host:port`. */
  readonly address: string;
  readonly state: EndpointState;
  /** Why it is not available. */
  readonly why: string | undefined;
  /** Milliseconds until the state may end by itself. */
  readonly forMs: number | undefined;
  readonly weight: number;
  readonly priority: number;
  /** Attempts in flight. */
  readonly inflight: number;
  readonly connections: { readonly open: number; readonly idle: number; readonly waiting: number };
}
