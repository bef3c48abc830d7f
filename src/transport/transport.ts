import type { Failure } from '../core/failure.ts';
import type { FieldList, ResponseHead } from '../http1/message.ts';
import type { RequestBody } from './body/request-body.ts';
import type { TunnelEnd } from './tunnel-end.ts';

/** One address. `key` is `host:port` and names it in records and metrics. */
export interface EndpointAddress {
  /** IP address or name. */
  readonly host: string;
  /** 1–65535. */
  readonly port: number;
  /** `host:port`; names it in records and metrics. */
  readonly key: string;
  /** The name that led to this address: what a TLS certificate must be for. Default: `host`. */
  readonly name?: string | undefined;
}

/** One attempt's request, complete but for framing: Content-Length, Transfer-Encoding and Connection are the transport's. */
export interface AttemptRequest {
  /** Case-sensitive. */
  readonly method: string;
  /** Path and query, `*`, or for CONNECT an authority. */
  readonly target: string;
  /** End-to-end fields, Host included. */
  readonly fields: FieldList;
  /** `undefined`: no body. */
  readonly body: RequestBody | undefined;
  /** Hold the body until the peer answers 100, a final status, or this many milliseconds passed; 0: do not hold. */
  readonly expectContinueMs: number;
  /**
   * The protocol that is offered (RFC 9110 §7.8), for a request without a body. Only an HTTP/1.1 connection can switch: a 101
   * then comes by `onTunnel`. Elsewhere, and from a server that does not want to, an ordinary answer comes.
   */
  readonly upgrade?: string | undefined;
  /**
   * No request is written: as soon as a new connection is there, it comes by `onTunnel`, with a 200 in place of an answer.
   * For CONNECT, and not over HTTP/2.
   */
  readonly tunnel?: boolean | undefined;
}

/** All in milliseconds; 0 switches one off. */
export interface AttemptTimeouts {
  /** DNS, TCP and TLS together. Default 1000. */
  readonly connectMs: number;
  /** From "connection ready and request sent as far as the client delivered it" to the first byte of the final head. */
  readonly attemptMs: number;
  /** Whole final head, from its first byte. Default 10 000. */
  readonly headMs: number;
  /** Longest silence while the response body streams or in a tunnel, and longest time a write may make no progress. */
  readonly idleMs: number;
}

/** The connection an attempt runs on. */
export interface ConnectionInfo {
  /** Where it leads to. */
  readonly endpoint: EndpointAddress;
  /** It carried a request before. */
  readonly reused: boolean;
  /** IP address on our side. */
  readonly localAddress: string;
  /** On our side: with the address it names the socket. */
  readonly localPort: number;
  /** The other end of the connection, which may be a proxy's; empty where there is no address: within a tunnel. */
  readonly remoteAddress: string;
  /** Of HTTP, as in `network.protocol.version`. */
  readonly protocol: '1.1' | '2';
  /** `undefined`: plain text. */
  readonly tls: TlsInfo | undefined;
}

/** What a TLS handshake came to. */
export interface TlsInfo {
  /** `TLSv1.3`, say. */
  readonly version: string;
  /** The standard name of the cipher suite. */
  readonly cipher: string;
  /** What ALPN chose; `undefined`: nothing. */
  readonly alpn: string | undefined;
  /** Whether the peer's certificate was found valid. False only where that is not asked for. */
  readonly authorized: boolean;
  /** Of the peer's certificate: its common name, and its SHA-256 fingerprint. */
  readonly subject: string | undefined;
  readonly fingerprint: string | undefined;
}

/** What an attempt tells whoever sent it. */
export interface AttemptHandler {
  /** A connection is ready and no byte was written. A promise holds the write until it settles; a rejection fails the attempt unsent. */
  onConnected(info: ConnectionInfo): void | Promise<void>;
  /** A 1xx other than 101. */
  onInformational(head: ResponseHead): void;
  /** The final head; not of a 1xx. */
  onHead(head: ResponseHead): void;
  /**
   * The answer is a 101 to an offered `upgrade`, or the `tunnel` is open. `onComplete` follows when both directions were closed, `onFailure` when the
   * tunnel broke or was silent for `idleMs`.
   */
  onTunnel?(head: ResponseHead, tunnel: TunnelEnd): void;
  /**
   * Returns false to stop reading until `attempt.resume()`; what the same read already held still follows, the end too.
   * The bytes are lent: after `true` the next read overwrites them, so whoever keeps them copies them. After `false`
   * they are the handler's.
   */
  onData(chunk: Buffer): boolean;
  /** The response is whole. */
  onComplete(trailers: FieldList): void;
  /** Exactly once, unless `onComplete` or `abort` came first; nothing follows it. */
  onFailure(failure: Failure): void;
}

/** One attempt under way. */
export interface Attempt {
  /** Its connection had carried a request before. */
  readonly reused: boolean;
  /** Of the request, handed to the operating system so far. */
  readonly bytesSent: number;
  /** Of the response, so far. */
  readonly bytesReceived: number;
  /** Takes more of the response body, after `onData` returned false. */
  resume(): void;
  /** Closes the connection now, in any phase. No handler call follows. */
  abort(): void;
}

/** How an attempt is sent. */
export interface SendOptions {
  /** In milliseconds; see `AttemptTimeouts`. */
  readonly timeouts: AttemptTimeouts;
  /** Do not take a pooled connection. */
  readonly freshConnection: boolean;
}

/** Sends one attempt. Never re-sends and never throws for an upstream's failure: it comes as a `Failure`. */
export interface Transport {
  /** @throws UnsafeHeadError only when the request cannot be written safely */
  send(endpoint: EndpointAddress, request: AttemptRequest, handler: AttemptHandler, options: SendOptions): Attempt;
  /** An address is no longer used: its idle connections close now, busy ones when their attempt ends. */
  closeEndpoint?(endpoint: EndpointAddress): void;
  /** Connections to an endpoint, those being established included, and attempts that wait for one. */
  stats?(endpoint: EndpointAddress): { readonly open: number; readonly idle: number; readonly waiting: number };
  /** Closes idle connections now and busy ones when their attempt ends. */
  close(): void;
}
