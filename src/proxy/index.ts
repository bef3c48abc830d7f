export { createProxy } from './proxy.ts';
export type { ListenOptions, Proxy, ProxyOptions } from './proxy.ts';
export { HttpStatusError } from './error-response.ts';
export type { ErrorResponse } from './error-response.ts';
export type { AccessRecord, ResponseFlag } from './access-record.ts';
export type { ClientCertificate, ClientPeer } from './client-peer.ts';
export { recordLine } from './access-record.ts';
export type { ConnectionRefusal, ListenAddress, Listener, ListenerEngine, ListenerLimits } from './downstream.ts';
export type { Http2Flood } from './listener/http2-flood-guard.ts';
export type { ListenerTls, TlsCertificate } from './listener/tls-settings.ts';
export type { FilteredChunk } from './exchange/body-filter.ts';
export type {
  Exchange,
  HookName,
  LocalAnswer,
  MutableRequest,
  MutableResponse,
  ProxyHooks,
  ProxyRequest,
  UpstreamChoice,
} from './phases.ts';
export type { ClaimWord } from './exchange/exchange-ownership.ts';
export type { OwnershipRules } from './ownership-rules.ts';
export type { ExchangePlan, ExchangeTimeouts } from './plan.ts';
export type { Diagnostics } from './proxy-state.ts';
export type { ArrivedRequest, BuiltAttempt, RequestTrace, Tracing } from './request-trace.ts';
export { createUpstream } from '../engine/upstream.ts';
export type { EndpointBook } from '../engine/attempt-report.ts';
export type { Circuits } from '../engine/circuits.ts';
export type { Upstream, UpstreamChange, UpstreamOptions } from '../engine/upstream.ts';
export { parseAddress } from '../engine/endpoint.ts';
export type { Endpoint, EndpointOptions, EndpointVerdicts } from '../engine/endpoint.ts';
export { createTransport } from '../transport/create-transport.ts';
export { createHttp1Transport } from '../transport/http1/http1-transport.ts';
export type { BodyCursor, BodyReader, BodySink, BodySource, RequestBody } from '../transport/body/request-body.ts';
export type { Http1Transport, Http1TransportOptions } from '../transport/http1/http1-transport.ts';
export type { EndpointCooldown } from '../core/endpoint-cooldown.ts';
export type { AttemptRecord } from '../engine/attempt-record.ts';
export type { DecisionOverride, MaybePromise } from '../engine/run-host.ts';
export { fieldValue, fieldValues, hasField, removeFields } from '../http1/field-list.ts';
export type { BodyKind, FieldList, ParserLimits, ResponseHead } from '../http1/message.ts';
export type { Clock, Timer } from '../transport/clock.ts';
export { createSystemClock } from '../transport/system-time.ts';
export type { Connect } from '../transport/connect.ts';
export type { OpenStream } from '../transport/proxy-tunnel.ts';
export type { PoolStats } from '../transport/pool.ts';
export type { ComposedTransport, TransportOptions, TransportProtocol } from '../transport/create-transport.ts';
export type { TlsSettings } from '../transport/tls-connect.ts';
export type { TunnelEnd, TunnelReceiver } from '../transport/tunnel-end.ts';
export type { NotReplayableReason } from '../transport/body/replay-body.ts';
export type { ReplayMemory } from '../transport/body/replay-memory.ts';
export type {
  Attempt,
  AttemptHandler,
  AttemptRequest,
  AttemptTimeouts,
  ConnectionInfo,
  EndpointAddress,
  SendOptions,
  TlsInfo,
  Transport,
} from '../transport/transport.ts';
