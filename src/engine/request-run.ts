import type { StopReason } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import type { HedgePolicy } from '../core/hedging.ts';
import type { ResponseFacts, Ruling } from '../core/outcome.ts';
import type { RequestFacts } from '../core/request-session.ts';
import type { RetryPolicy } from '../core/retry-policy.ts';
import type { ResponseHead } from '../http1/message.ts';
import type { Clock } from '../transport/clock.ts';
import type { RequestBody } from '../transport/body/request-body.ts';
import type { AttemptTimeouts } from '../transport/transport.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { Endpoint } from './endpoint.ts';
import type { RunHost } from './run-host.ts';
import type { Upstream } from './upstream.ts';

/** An attempt as far as a host may look at it. */
export interface SentAttempt {
  readonly upstream: Upstream;
  readonly endpoint: Endpoint;
  readonly record: AttemptRecord;
  /** The address at the other end of its connection; `undefined` before there is one, and where it is not the endpoint's. */
  readonly peerAddress: string | undefined;
}

/** What the loop asks of a request's body; who reads it is the transport's affair. */
export type ReplayState = Pick<RequestBody, 'replayable' | 'complete' | 'copy'>;

export interface RunRequestOptions {
  readonly facts: RequestFacts;
  readonly policy: RetryPolicy;
  readonly timeouts: AttemptTimeouts;
  readonly body: ReplayState | undefined;
  /** What the circuits of an upstream are told apart by; one of a bounded number, such as the route. Default: one for all. */
  readonly operation?: string | undefined;
  /** Sends a copy of a request that takes long. Default: none. */
  readonly hedge?: HedgePolicy | undefined;
  /**
   * What the sender knows of an outcome beyond its status or kind; asked once for each, with the head or the failure. When
   * it throws, the request is over. Default: nothing.
   */
  readonly classify?:
    | ((head: ResponseHead | undefined, failure: Failure | undefined) => Ruling | undefined)
    | undefined;
  /** Adds what the fields of an answer say of it beyond its status (a claim, advice). Default: nothing is added. */
  readonly readAnswer?: ((facts: ResponseFacts, head: ResponseHead, attempt: SentAttempt) => ResponseFacts) | undefined;
  /** Whether the callee is told with every attempt if another one could follow. Default: it is told of retries only. */
  readonly tellsHistory?: ((attempt: SentAttempt) => boolean) | undefined;
  /**
   * The deadline is shorter than the host's own, by the word of somebody who is not trusted: that it passed is no evidence
   * against an endpoint. Default false.
   */
  readonly strangersDeadline?: boolean | undefined;
  /** Whether the host would select another upstream for a retry when that of the attempt has no endpoint left. */
  readonly canMove?: (() => boolean) | undefined;
  readonly host: RunHost;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** One logical request under way. */
export interface RequestRun {
  readonly attempts: readonly AttemptRecord[];
  /** Retries sent, the free one included, copies not. */
  readonly retryCount: number;
  /** Milliseconds spent waiting between attempts. */
  readonly waitedMs: number;
  /** Why it ended; `undefined` while it runs. */
  readonly reason: StopReason | undefined;
  /** Whether the retry opportunity on this edge was handled: see `StopDecision.handled`. */
  readonly handled: boolean;
  /** Why the latest copy that was due was not sent. */
  readonly hedgeRefused: StopReason | undefined;
  /** When the circuit that ended the request lets something through again, in milliseconds from then. */
  readonly retryAfterMs: number | undefined;
  /** The upstream of the latest attempt. */
  readonly upstream: Upstream | undefined;
  /** The client takes more of the response body. */
  resume(): void;
  /** The client is gone: ends the wait, the attempt and every further attempt now. No host call follows. */
  cancel(): void;
}
