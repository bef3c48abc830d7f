import type { Decision } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import type { Endpoint } from '../engine/endpoint.ts';
import type { DecisionOverride, MaybePromise } from '../engine/run-host.ts';
import type { Upstream } from '../engine/upstream.ts';
import type { FieldList } from '../http1/message.ts';
import type { ConnectionInfo } from '../transport/transport.ts';
import type { AccessRecord, ResponseFlag } from './access-record.ts';
import type { ClientCertificate } from './client-peer.ts';
import type { ErrorResponse } from './error-response.ts';
import type { ExchangePlan } from './plan.ts';

/** The client's request, immutable: every attempt is built from it anew. */
export interface ProxyRequest {
  readonly protocol: '1.0' | '1.1' | '2';
  readonly method: string;
  /** As received: origin-form, absolute-form, or for CONNECT an authority. */
  readonly target: string;
  /** Path and query in origin-form; `/` for CONNECT, which has none. */
  readonly path: string;
  /** Authority of the request: the Host field, or the target's. */
  readonly host: string;
  readonly fields: Readonly<FieldList>;
  readonly remoteAddress: string;
  readonly encrypted: boolean;
  /** What the client showed, verified; undefined unless the listener asks for certificates. */
  readonly clientCertificate: ClientCertificate | undefined;
  /** The name of the listener it came in at; undefined when that has none. */
  readonly listener?: string | undefined;
}

/** One request on its way through the proxy. */
export interface Exchange<Context> {
  readonly request: ProxyRequest;
  /** Made by `createContext`, for this request alone. */
  readonly context: Context;
  /** 1 for the first attempt; 0 before it. */
  readonly attemptNumber: number;
  plan: ExchangePlan;
}

/** An answer of a filter itself; no upstream is asked. */
export interface LocalAnswer {
  /** 200–599. */
  readonly status: number;
  readonly fields?: Readonly<FieldList>;
  readonly body?: string | Uint8Array;
  /** Says in the record why there was no other answer. */
  readonly flag?: ResponseFlag | undefined;
}

/** What `selectUpstream` may name: an upstream (its balancer picks), or one endpoint of it. */
export type UpstreamChoice =
  | Upstream
  | { readonly upstream: Upstream; readonly endpoint: Endpoint }
  /** `host:port`, or several: the proxy makes an upstream of them and remembers it by these names. */
  | string
  | readonly string[];

export interface MutableRequest {
  method: string;
  path: string;
  fields: FieldList;
}

export interface MutableResponse {
  status: number;
  reason: string;
  fields: FieldList;
}

/**
 * User code at every step of a request. All may be sync or async, and all may throw: the request then ends with 500
 * (or the status of an `HttpStatusError`) and a record; the process goes on.
 */
export interface ProxyHooks<Context> {
  /** Called first, once a request. */
  createContext?(request: ProxyRequest): Context;
  /** Before anything is sent. May answer by itself, may replace `exchange.plan`. */
  requestFilter?(exchange: Exchange<Context>): MaybePromise<LocalAnswer | void>;
  /** Before every attempt. Default: `exchange.plan.upstream`. */
  selectUpstream?(exchange: Exchange<Context>): MaybePromise<UpstreamChoice | undefined>;
  /** The attempt's request, built anew for the endpoint that was picked; may change it. */
  upstreamRequestFilter?(exchange: Exchange<Context>, request: MutableRequest, endpoint: Endpoint): MaybePromise<void>;
  /** A connection is ready and nothing was written on it. */
  connected?(exchange: Exchange<Context>, connection: ConnectionInfo): MaybePromise<void>;
  /** No connection: nothing was sent, so any method may be sent again. */
  failToConnect?(
    exchange: Exchange<Context>,
    failure: Failure,
    decision: Decision,
  ): MaybePromise<DecisionOverride | void>;
  /** The attempt died after the connection was ready and before a response head was complete. */
  errorWhileProxy?(
    exchange: Exchange<Context>,
    failure: Failure,
    decision: Decision,
  ): MaybePromise<DecisionOverride | void>;
  /** The response that will be delivered; may change its head. Not called for attempts that are retried. */
  responseFilter?(exchange: Exchange<Context>, response: MutableResponse): MaybePromise<void>;
  /** No response to deliver: the answer that the proxy is about to make, which may be changed. */
  failToProxy?(
    exchange: Exchange<Context>,
    failure: Failure,
    answer: ErrorResponse,
  ): MaybePromise<ErrorResponse | void>;
  /** True: no error line for this request. The access record is written in any case. */
  suppressErrorLog?(exchange: Exchange<Context>, failure: Failure): boolean;
  /** True: no line for this retry. It is the only line of that attempt: count it yourself. */
  suppressRetryLog?(exchange: Exchange<Context>): boolean;
  /** What error and retry lines say of the request. Default: method, path without query, host. */
  requestSummary?(exchange: Exchange<Context>): string;
  /** Last, once a request, whatever happened. While it is undefined, and nobody else wants records, none is made. */
  readonly log?: ((exchange: Exchange<Context>, record: AccessRecord) => MaybePromise<void>) | undefined;
}
