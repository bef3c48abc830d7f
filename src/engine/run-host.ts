import type { Decision, StopReason } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import type { FieldList, ResponseHead } from '../http1/message.ts';
import type { AttemptRequest, ConnectionInfo } from '../transport/transport.ts';
import type { TunnelEnd } from '../transport/tunnel-end.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { Endpoint } from './endpoint.ts';
import type { Upstream } from './upstream.ts';

/** An answer at once, or later. */
export type MaybePromise<T> = T | Promise<T>;

/** Where an attempt goes. Without an endpoint the upstream picks one that this request has not tried. */
export interface Selection {
  readonly upstream: Upstream;
  readonly endpoint?: Endpoint | undefined;
}

/**
 * A host's word on a decision of the core. `stop` always holds. `retry` makes the policy cover this failure and
 * nothing more: safety, attempts, deadline, body and budget stay the core's.
 */
export interface DecisionOverride {
  readonly type: 'retry' | 'stop';
  /** For `retry`: milliseconds to wait instead of the policy's; never shortens a pushback of the server. */
  readonly delayMs?: number | undefined;
}

/** What a host of the engine (the proxy, the client) provides. Every `MaybePromise` may be answered at once: no promise is made then. */
export interface RunHost {
  select(attemptNumber: number): MaybePromise<Selection | undefined>;
  /** What keeps requests at the same endpoint: the value of a request field, or the client's address where there is none. */
  hashKey(header: string | undefined): string;
  /** Builds the attempt's request anew from the immutable original. */
  buildRequest(endpoint: Endpoint, attemptNumber: number): MaybePromise<AttemptRequest>;
  onConnected(info: ConnectionInfo): void | Promise<void>;
  /**
   * May change the decision about an attempt that died without a response. Not asked about one beside which another copy
   * of the request is under way: there is nothing to decide yet.
   */
  reviewFailure(failure: Failure, decision: Decision): MaybePromise<DecisionOverride | undefined>;
  /** An attempt ended and another one follows after `delayMs`. */
  onRetry(attempt: AttemptRecord, delayMs: number): void;
  onInformational(head: ResponseHead): void;
  /** The response that is delivered begins; a promise holds its body back. */
  onResponse(head: ResponseHead): void | Promise<void>;
  /**
   * The answer is a 101 to a request that offered an upgrade: needed by hosts that build such requests. What the tunnel
   * carries goes by the tunnel itself; its end comes by `onComplete` or `onTruncated`.
   */
  onTunnel?(head: ResponseHead, tunnel: TunnelEnd): void | Promise<void>;
  /** Returns false to be asked with `resume`. The bytes are lent, as `AttemptHandler.onData` says. */
  onData(chunk: Buffer): boolean;
  onComplete(trailers: FieldList): void;
  /** No response can be delivered. `reason` says why no retry followed. */
  onFailed(failure: Failure, reason: StopReason): void;
  /** The response broke after its head was delivered: the client must see that. */
  onTruncated(failure: Failure): void;
  /** User code threw, in a hook that a call above runs. The run is over; an answer may have begun. */
  onError(error: unknown): void;
  /** A retry was refused, and the upstream is configured to answer 503 then instead of the original outcome. */
  onRefused(reason: StopReason): void;
}
