import type { Decision } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import type { Endpoint } from '../engine/endpoint.ts';
import type { DecisionOverride, MaybePromise } from '../engine/run-host.ts';
import type { Upstream } from '../engine/upstream.ts';
import type { FieldList } from '../http1/message.ts';
import type { ConnectionInfo } from '../transport/transport.ts';
import type { AccessRecord, ResponseFlag } from './access-record.ts';
import type { FilteredChunk } from './exchange/body-filter.ts';
import type { ClientCertificate } from './client-peer.ts';
import type { ErrorResponse } from './error-response.ts';
import type { ExchangePlan } from './plan.ts';

/** The client's request, immutable: every attempt is built from it anew. */
export interface ProxyRequest {
  /** Of HTTP, in front. */
  readonly protocol: '1.0' | '1.1' | '2';
  /** As received; case-sensitive. */
  readonly method: string;
  /** As received: origin-form, absolute-form, or for CONNECT an authority. */
  readonly target: string;
  /** Path and query in origin-form; `/` for CONNECT, which has none. */
  readonly path: string;
  /** Authority of the request: the Host field, or the target's. */
  readonly host: string;
  /** Names and values by turns, as received, connection fields included; see `fieldValue`. */
  readonly fields: Readonly<FieldList>;
  /** IP address of the client. */
  readonly remoteAddress: string;
  /** It came over TLS. */
  readonly encrypted: boolean;
  /** What the client showed, verified; undefined unless the listener asks for certificates. */
  readonly clientCertificate: ClientCertificate | undefined;
  /** The name of the listener it came in at; undefined when that has none. */
  readonly listener?: string | undefined;
}

/** One request on its way through the proxy. */
export interface Exchange<Context> {
  /** The same for all attempts. */
  readonly request: ProxyRequest;
  /** Made by `createContext`, for this request alone. */
  readonly context: Context;
  /** 1 for the first attempt; 0 before it. */
  readonly attemptNumber: number;
  /** May be replaced by `requestFilter`, before anything is sent. */
  plan: ExchangePlan;
}

/** An answer of a filter itself; no upstream is asked. */
export interface LocalAnswer {
  /** 200–599. */
  readonly status: number;
  /** Names and values by turns; framing fields are left out. Default: none. */
  readonly fields?: Readonly<FieldList>;
  /** Default: none. */
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

/** What an upstream will be sent, body apart. */
export interface MutableRequest {
  /** One that is not idempotent makes the request so: it is not sent again where it might have been done. */
  method: string;
  /** Path and query. */
  path: string;
  /** Names and values by turns. Framing and connection fields are the transport's, and are left out of it. */
  fields: FieldList;
}

/** What the client will be sent, body apart. */
export interface MutableResponse {
  /** 200–599. 204 and 304 only for a response that has no body. 101 and the 200 of a CONNECT stay as they are. */
  status: number;
  /** May be empty; HTTP/2 has none. */
  reason: string;
  /** Names and values by turns. Framing and connection fields are the listener's, and are left out of it. */
  fields: FieldList;
  /**
   * Whether `responseBodyFilter` is asked about the body. Its length is then not known in advance: no Content-Length. Set it
   * to false for what the filter has nothing to do with. Default: true where there is such a hook.
   */
  filterBody: boolean;
}

/**
 * User code at every step of a request. Every hook may answer at once or by a promise, and may throw whatever it likes.
 * The request then ends: with the status of an `HttpStatusError`, with the answer of the failure in a `FailureError`, else
 * with 500, or cut off where the answer had begun; with a record in any case. The process goes on.
 *
 * A hook that never answers ends with its request: 504 at the deadline (`timeouts.requestMs`). `docs/phases.md` has the
 * order, and what a retry goes back to.
 */
export interface ProxyHooks<Context> {
  /**
   * Called first, once a request, also for one that is refused because it cannot be read; its fields are then empty. Only
   * `log` and the hooks that shape lines may see an exchange without a context: where this hook failed, or the client left
   * before it answered.
   */
  createContext?(request: ProxyRequest): MaybePromise<Context>;
  /** Before anything is sent. May answer by itself, may replace `exchange.plan`. */
  requestFilter?(exchange: Exchange<Context>): MaybePromise<LocalAnswer | void>;
  /**
   * Before every attempt: where to. Default: `exchange.plan.upstream`. `undefined`: nowhere, which ends the request with 503.
   */
  selectUpstream?(exchange: Exchange<Context>): MaybePromise<UpstreamChoice | undefined>;
  /** The attempt's request, built anew for the endpoint that was picked; may change it. */
  upstreamRequestFilter?(exchange: Exchange<Context>, request: MutableRequest, endpoint: Endpoint): MaybePromise<void>;
  /** A connection is ready, new or used before, and nothing of this attempt was written on it. */
  connected?(exchange: Exchange<Context>, connection: ConnectionInfo): MaybePromise<void>;
  /**
   * No connection: nothing was sent, so any method may be sent again. Sees what the core decided, and may change it as far
   * as `DecisionOverride` says.
   */
  failToConnect?(
    exchange: Exchange<Context>,
    failure: Failure,
    decision: Decision,
  ): MaybePromise<DecisionOverride | void>;
  /**
   * The attempt died after the connection was ready and before a response head was complete. May change the decision, but
   * never so that a request could be done twice.
   */
  errorWhileProxy?(
    exchange: Exchange<Context>,
    failure: Failure,
    decision: Decision,
  ): MaybePromise<DecisionOverride | void>;
  /** The response that will be delivered; may change its head. Not called for attempts that are retried. */
  responseFilter?(exchange: Exchange<Context>, response: MutableResponse): MaybePromise<void>;
  /**
   * The body of the response that is delivered, chunk by chunk and in order, as the upstream sent it (encoded, if it is);
   * then once with `end` and no bytes, for what is to follow. What it returns takes the chunk's place; nothing: the chunk
   * stays. While a promise is awaited the upstream is held back, for at most `timeouts.idleMs`. The chunk is the hook's own;
   * what it returned it must not change any more. Not called for tunnels, answers made here, and responses without a body.
   * The head is gone by then: what throws here cuts the response off.
   */
  responseBodyFilter?(exchange: Exchange<Context>, chunk: Buffer, end: boolean): MaybePromise<FilteredChunk>;
  /**
   * No response to deliver: the answer that the proxy is about to make, which may be changed. Has a second, where the deadline
   * has passed already.
   */
  failToProxy?(
    exchange: Exchange<Context>,
    failure: Failure,
    answer: ErrorResponse,
  ): MaybePromise<ErrorResponse | void>;
  /**
   * True: no error line for this request. The access record is written in any case. This hook and the two below only shape
   * lines: nothing waits for them, and the line is written without them when they fail or take more than a second.
   */
  suppressErrorLog?(exchange: Exchange<Context>, failure: Failure): MaybePromise<boolean>;
  /** True: no line for this retry. It is the only line of that attempt: count it yourself. */
  suppressRetryLog?(exchange: Exchange<Context>): MaybePromise<boolean>;
  /** What error and retry lines say of the request. Default: method, path without query, host. */
  requestSummary?(exchange: Exchange<Context>): MaybePromise<string>;
  /** Last, once a request, whatever happened; nothing waits for it. While it is undefined, and nobody else wants records, none is made. */
  readonly log?: ((exchange: Exchange<Context>, record: AccessRecord) => MaybePromise<void>) | undefined;
}

/** The name of a hook. */
export type HookName = keyof ProxyHooks<unknown>;
