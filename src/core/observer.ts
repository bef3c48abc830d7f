import type { BreakerState } from './circuit-breaker.ts';
import type { Claim } from './claim.ts';
import type { StopReason } from './decision.ts';
import type { SafetyClass } from './safety.ts';

/** Fields of every event. */
export interface EventFields {
  /** The host's wall clock, milliseconds since 1970. */
  readonly atMs: number;
}

/** Fields of every event of one request. */
export interface RequestEventFields extends EventFields {
  /** Names the request in this process; the same in all of its events. */
  readonly requestId: number;
  readonly route: string | undefined;
  /** The upstream asked last; undefined when none was asked. */
  readonly upstream: string | undefined;
}

/** How an attempt ended, in the words of the access record. */
export interface AttemptEnding {
  /** 1 for the first. */
  readonly attempt: number;
  readonly endpoint: string;
  /** Of a response whose head arrived. */
  readonly status: number | undefined;
  /** The kind of the failure when none did. */
  readonly failure: string | undefined;
  readonly safety: SafetyClass | undefined;
  /** What the callee claimed about its error, where it is believed. */
  readonly claim: Claim | undefined;
}

/** An attempt ended and another one follows. */
export interface RetryScheduled extends RequestEventFields {
  readonly type: 'retry-scheduled';
  /** What is retried. */
  readonly after: AttemptEnding;
  /** Milliseconds until it is sent. */
  readonly delayMs: number;
}

/** There was something to retry, and it is not retried; or a scheduled retry is not sent after all. */
export interface RetrySuppressed extends RequestEventFields {
  readonly type: 'retry-suppressed';
  /** The last attempt made; undefined when there was none. */
  readonly after: AttemptEnding | undefined;
  readonly reason: Exclude<StopReason, 'success'>;
}

/** The last event of a request: its answer was delivered, or its client is gone. */
export interface RequestEnded extends RequestEventFields {
  readonly type: 'request-ended';
  readonly method: string;
  /** Without query: it may carry secrets. */
  readonly path: string;
  /** What the client got; 499 when it left before an answer. */
  readonly status: number;
  readonly flags: readonly string[];
  /** Undefined when no upstream was asked. */
  readonly reason: StopReason | undefined;
  readonly truncated: boolean;
  /** Whose error the answer is: `owned`, `kept` or `relayed`; undefined without one, and where nobody asks. */
  readonly claimOut: string | undefined;
  readonly attemptCount: number;
  readonly retryCount: number;
  readonly durationMs: number;
}

/** Fields of every event of one endpoint of an upstream. */
export interface EndpointEventFields extends EventFields {
  readonly upstream: string;
  /** The endpoint's key, `host:port`. */
  readonly endpoint: string;
}

/** What its attempts said took an endpoint out of the choice. */
export interface EndpointEjected extends EndpointEventFields {
  readonly type: 'endpoint-ejected';
  readonly why: string;
  /** Milliseconds it stays out. */
  readonly forMs: number;
}

export interface EndpointReturned extends EndpointEventFields {
  readonly type: 'endpoint-returned';
}

/** Active health checks changed their mind. */
export interface EndpointHealthChanged extends EndpointEventFields {
  readonly type: 'endpoint-health-changed';
  readonly healthy: boolean;
  readonly why: string;
}

/** An operator took an endpoint out, or put it back. */
export interface EndpointDrainChanged extends EndpointEventFields {
  readonly type: 'endpoint-drain-changed';
  readonly drained: boolean;
}

export interface BreakerChanged extends EventFields {
  readonly type: 'breaker-changed';
  readonly upstream: string;
  /** Which of the upstream's breakers, where it has several. */
  readonly operation: string | undefined;
  readonly from: BreakerState;
  readonly to: BreakerState;
}

/** Another configuration was taken into use, or refused and the old one goes on. */
export interface ConfigReloaded extends EventFields {
  readonly type: 'config-reloaded';
  readonly accepted: boolean;
  /** Why it was refused. */
  readonly why: string | undefined;
}

/** The host stops: no new requests after `delayMs`. */
export interface DrainBegan extends EventFields {
  readonly type: 'drain-began';
  readonly delayMs: number;
}

export type RequestEvent = RetryScheduled | RetrySuppressed | RequestEnded;
export type EndpointEvent = EndpointEjected | EndpointReturned | EndpointHealthChanged | EndpointDrainChanged;

/** Everything that is told as it happens; the one vocabulary for it. */
export type MulliganEvent = RequestEvent | EndpointEvent | BreakerChanged | ConfigReloaded | DrainBegan;

/** Where events go. */
export interface EventChannel {
  /** Whether anybody listens. Ask before making an event of a request: there are many, and mostly nobody does. */
  readonly active: boolean;
  /** Called synchronously, in the order of the events. It neither throws nor changes anything. */
  publish(event: MulliganEvent): void;
}
