import type { FieldList } from '../http1/message.ts';
import type { BodySource } from '../transport/body/request-body.ts';
import type { TunnelEnd } from '../transport/tunnel-end.ts';
import type { ClientCertificate } from './client-peer.ts';
import type { Http2Flood } from './listener/http2-flood-guard.ts';
import type { ListenerTls } from './listener/tls-settings.ts';

/** How the body that follows a response head is delimited for the client. */
export interface ResponseFraming {
  readonly kind: 'none' | 'length' | 'stream';
  /** Bytes, for `length`; for `none` what HEAD or 304 declares, −1 for nothing. */
  readonly length: number;
}

/** What a listener tells about the exchange after its request head. */
export interface DownstreamListener {
  /** The client is gone before the answer was complete. Called once; nothing follows. */
  gone(): void;
  /** The process ends before the answer is complete. It may still be answered, if that has not begun; nothing follows. */
  cut(): void;
  /** It takes more of the response body after `write` returned false. */
  drained(): void;
}

/**
 * One request at a listener, in the terms the proxy needs. Every listener (own HTTP/1.1, `node:http`, HTTP/2) gives
 * this, so that no rule of the proxy knows which one it stands on.
 */
export interface Downstream {
  readonly protocol: '1.0' | '1.1' | '2';
  readonly method: string;
  readonly target: string;
  readonly fields: FieldList;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly encrypted: boolean;
  /** Undefined unless the listener asks for certificates. */
  readonly clientCertificate: ClientCertificate | undefined;
  /** Undefined: the request has no body. Nothing is read from the client before it is started. */
  readonly body: BodySource | undefined;
  /** Declared bytes, −1 for a chunked body. */
  readonly contentLength: number;
  /** The client waits for a 100 before it sends the body. */
  readonly expectContinue: boolean;
  /** The client offers to switch protocols, in a request without a body, and this listener can. Absent: no. */
  readonly offersUpgrade?: boolean;
  /** Set by the proxy, once, before it does anything that may end the exchange. */
  listener: DownstreamListener;
  /** A 1xx other than 101. */
  informational(status: number, reason: string, fields: FieldList): void;
  /**
   * Answers an offered upgrade with 101, where `fields` holds the Upgrade field, or CONNECT with 200. From here on `end` and
   * `abort` close the tunnel. Absent: this listener has no tunnels.
   */
  openTunnel?(status: 101 | 200, reason: string, fields: FieldList): TunnelEnd;
  /** The final head. Connection-level fields and body framing are the listener's. */
  respond(status: number, reason: string, fields: FieldList, framing: ResponseFraming): void;
  /**
   * Returns false when the client is slower than the upstream: wait for `drained`. After `true` the bytes may change:
   * they are on their way, or copied. After `false` they must stay as they are.
   */
  write(chunk: Buffer): boolean;
  end(trailers: FieldList): void;
  /** Cuts the connection so that the client sees that the response is not whole. */
  abort(): void;
  /** After the answer the connection is closed: the request was not read to its end. */
  closeAfterResponse(): void;
}

/** Where a listener brings its requests. */
export interface RequestSink {
  request(downstream: Downstream): void;
  /** A request that cannot be read: `downstream` has no fields, and may only be answered and closed. */
  refused(downstream: Downstream, status: number, detail: string): void;
  /** A connection that is closed for what its client did, outside of any request. `detail` is for people. */
  connectionRefused(reason: ConnectionRefusal, remoteAddress: string, detail: string): void;
}

/** Why a connection was closed that asked for nothing, or for too much. */
export type ConnectionRefusal = 'tls-handshake' | 'head-timeout' | 'protocol-error' | Http2Flood;

/** What a client may take at a listener. A limit that is passed is answered where that is possible. */
export interface ListenerLimits {
  /** Request line and header section, in bytes. Default 16 384. */
  readonly headerBytes: number;
  /** Milliseconds from a request's first byte (or from the connection's start) to the end of its head. Default 10 000. */
  readonly headerTimeoutMs: number;
  /** Milliseconds a request body may stand still while we wait for it, and a client may take none of the response. Default 30 000. */
  readonly bodyIdleMs: number;
  /** Milliseconds a connection without a request is kept. Default 65 000. */
  readonly keepAliveMs: number;
  /** Connections at the same time. Default 10 000. */
  readonly maxConnections: number;
  /** Requests at the same time on one HTTP/2 connection. Default 100. */
  readonly maxStreams: number;
}

/**
 * How long a connection without a request stays open in a drain. A request may be on its way already: it gets its answer,
 * and with it the word that the connection closes, where closing at once would meet it with a reset.
 */
export const DRAIN_IDLE_MS = 1_000;

export const DEFAULT_LISTENER_LIMITS: ListenerLimits = {
  headerBytes: 16_384,
  headerTimeoutMs: 10_000,
  bodyIdleMs: 30_000,
  keepAliveMs: 65_000,
  maxConnections: 10_000,
  maxStreams: 100,
};

/** Where a listener listens. */
export interface ListenAddress {
  /** IP address, or a name that resolves to one. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** One open address. */
export interface Listener {
  /** The address it is bound to, with the real port. */
  readonly address: ListenAddress;
  /** Open connections. */
  readonly connectionCount: number;
  /**
   * Other limits, without closing anything. Connections that are open keep their limit of head bytes, and a timer that
   * runs keeps its time.
   */
  setLimits(limits: ListenerLimits): void;
  /**
   * Other certificates for connections to come; those that are open keep theirs.
   * @throws Error when the listener has no TLS, when the settings are no good, or when client certificates would no
   * longer, or newly, be asked for; nothing has changed then
   */
  setTls(settings: ListenerTls): void;
  /** No new connections; the others close after their next answer, which says so, idle ones after `DRAIN_IDLE_MS`. */
  drain(): void;
  /** Cuts everything that is left. Resolves when no socket is open. */
  close(): Promise<void>;
}

/** `own`: the strict server of this package; `node`: `node:http`. */
export type ListenerEngine = 'own' | 'node';
