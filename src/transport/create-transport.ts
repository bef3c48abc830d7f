import type { ParserLimits } from '../http1/message.ts';
import type { Clock } from './clock.ts';
import { createTcpConnect } from './connect.ts';
import type { Connect } from './connect.ts';
import { poolKey } from './pool.ts';
import { createHttp1Transport } from './http1/http1-transport.ts';
import type { Http1Transport } from './http1/http1-transport.ts';
import { createHttp2Transport } from './http2/http2-transport.ts';
import type { OpenStream } from './proxy-tunnel.ts';
import { createTlsConnect } from './tls-connect.ts';
import type { TlsSettings } from './tls-connect.ts';
import type { AttemptHandler, AttemptRequest, EndpointAddress } from './transport.ts';

/**
 * `http1`: HTTP/1.1. `http2`: HTTP/2, on plain text by prior knowledge; with TLS, a peer that does not agree to it is not
 * spoken to. `auto`: with TLS what the peer chooses in the handshake (ALPN), else HTTP/1.1.
 */
export type TransportProtocol = 'http1' | 'http2' | 'auto';

/** Of connections to upstreams. */
export interface TransportOptions {
  /** `createSystemClock()`, or one that a test moves. */
  readonly clock: Clock;
  /** Default `http1`. */
  readonly protocol?: TransportProtocol | undefined;
  /** Default: plain text. One transport has one TLS setup, so that its pools need be told apart by address and name alone. */
  readonly tls?: TlsSettings | undefined;
  /** What TLS runs over in place of TCP: a tunnel through a proxy. */
  readonly openStream?: OpenStream | undefined;
  /** Local address to bind. */
  readonly localAddress?: string | undefined;
  /** Of a response; see `ParserLimits` for the defaults. */
  readonly limits?: Partial<ParserLimits> | undefined;
  /** Longest time in milliseconds a connection waits for its next request. Default 50 000. */
  readonly idleMs?: number | undefined;
  /** Most connections to one endpoint, ≥ 1. Default 256. */
  readonly maxConnections?: number | undefined;
  /** Most requests that wait for a connection or stream to one endpoint, ≥ 0; each at most its `connectMs`. Default 1024. */
  readonly maxWaiting?: number | undefined;
  /** Requests after which a connection is closed; 0 for no limit. Default 0. */
  readonly maxRequestsPerConnection?: number | undefined;
  /** HTTP/2: silence with requests under way, in milliseconds, after which a PING asks for life; 0: never. Default 15 000. */
  readonly pingAfterMs?: number | undefined;
  /** HTTP/2: how long the answer to a PING may take, in milliseconds. Default 5000. */
  readonly pingTimeoutMs?: number | undefined;
}

/** Chooses for each endpoint what is spoken there. */
export type ComposedTransport = Http1Transport;

/**
 * A transport for HTTP/1.1, HTTP/2 or both.
 * @throws RangeError when a limit is out of its range; Error when certificate, key or authorities cannot be used
 */
export function createTransport(options: TransportOptions): ComposedTransport {
  const { protocol = 'http1', tls } = options;
  const http1 = createHttp1Transport({ ...definedOf(options), connect: connectOf(options, ['http/1.1']) });
  // Without TLS there is nothing by which a peer could choose.
  if (protocol === 'http1' || (protocol === 'auto' && tls === undefined)) return http1;

  /** Endpoints that chose HTTP/1.1, or that asked for it: until they are closed. */
  const http1Only = new Set<string>();
  let socketCount = 0;
  let onAllClosed: (() => void)[] = [];
  const isAuto = protocol === 'auto';
  const http2 = createHttp2Transport({
    clock: options.clock,
    connect: connectOf(options, isAuto ? ['h2', 'http/1.1'] : ['h2']),
    scheme: tls === undefined ? 'http' : 'https',
    limits: { headBytes: 65_536, fieldCount: 200, informationalCount: 32, ...options.limits },
    idleMs: options.idleMs ?? 50_000,
    maxConnections: options.maxConnections ?? 256,
    maxWaiting: options.maxWaiting ?? 1024,
    maxRequestsPerConnection: options.maxRequestsPerConnection ?? 0,
    pingAfterMs: options.pingAfterMs ?? 15_000,
    pingTimeoutMs: options.pingTimeoutMs ?? 5000,
    sockets: {
      socketOpened: () => {
        socketCount += 1;
      },
      socketClosed: () => {
        socketCount -= 1;
        if (socketCount > 0) return;
        for (const resolve of onAllClosed) resolve();
        onAllClosed = [];
      },
    },
    sendHttp1: isAuto
      ? (endpoint, request, handler, send) => {
          http1Only.add(poolKey(endpoint));
          return http1.send(endpoint, request, handler, send);
        }
      : undefined,
  });
  const isHttp1 = (endpoint: EndpointAddress, request: AttemptRequest): boolean =>
    http1Only.has(poolKey(endpoint)) || (isAuto && request.upgrade !== undefined);

  return {
    send(endpoint, request, handler, send) {
      if (isHttp1(endpoint, request)) return http1.send(endpoint, request, handler, send);
      return http2.send(
        endpoint,
        request,
        notingHttp1(handler, () => http1Only.add(poolKey(endpoint))),
        send,
      );
    },
    closeEndpoint(endpoint) {
      http1Only.delete(poolKey(endpoint));
      http1.closeEndpoint?.(endpoint);
      http2.closeEndpoint(endpoint);
    },
    close() {
      http1.close();
      http2.close();
    },
    stats(endpoint) {
      const one = http1.stats(endpoint);
      const two = http2.stats(endpoint);
      return { open: one.open + two.open, idle: one.idle + two.idle, waiting: one.waiting + two.waiting };
    },
    get socketCount() {
      return http1.socketCount + socketCount;
    },
    async dispose() {
      http2.close();
      await http1.dispose();
      if (socketCount > 0) await new Promise<void>((resolve) => onAllClosed.push(resolve));
    },
  };
}

/** Remembers a peer that wants HTTP/1.1 (RFC 9113 §7, HTTP_1_1_REQUIRED): whatever comes next is sent so. */
function notingHttp1(handler: AttemptHandler, note: () => void): AttemptHandler {
  return {
    onConnected: (info) => handler.onConnected(info),
    onInformational: (head) => handler.onInformational(head),
    onHead: (head) => handler.onHead(head),
    onData: (chunk) => handler.onData(chunk),
    onComplete: (trailers) => handler.onComplete(trailers),
    onFailure(failure) {
      if (failure.kind === 'http_1_1_required') note();
      handler.onFailure(failure);
    },
  };
}

function connectOf({ tls, localAddress, openStream }: TransportOptions, alpn: readonly ('h2' | 'http/1.1')[]): Connect {
  return tls === undefined
    ? createTcpConnect({ localAddress })
    : createTlsConnect(tls, alpn, { localAddress }, openStream);
}

function definedOf({
  clock,
  limits,
  idleMs,
  maxConnections,
  maxWaiting,
  maxRequestsPerConnection,
}: TransportOptions): Parameters<typeof createHttp1Transport>[0] {
  return {
    clock,
    ...(limits === undefined ? {} : { limits }),
    ...(idleMs === undefined ? {} : { idleMs }),
    ...(maxConnections === undefined ? {} : { maxConnections }),
    ...(maxWaiting === undefined ? {} : { maxWaiting }),
    ...(maxRequestsPerConnection === undefined ? {} : { maxRequestsPerConnection }),
  };
}
