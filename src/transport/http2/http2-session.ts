import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { failureFromClose, failureFromError } from '../failure-from-error.ts';
import type { FailureSite } from '../failure-from-error.ts';
import type { Goaway } from './http2-error-codes.ts';
import { sessionOptions, sessionWindowBytes } from './http2-settings.ts';
import { isTls, tlsInfoOf } from '../tls-info.ts';
import type { SessionOptions, SessionOwner, SessionUser } from './http2-session-owner.ts';
import type { ConnectionInfo, EndpointAddress } from '../transport.ts';
import { Watchdog } from '../watchdog.ts';

/** How long a farewell may take to be written, in milliseconds. */
const farewellMs = 1000;
const connecting: Partial<Record<string, string>> = {
  tcp: 'connect to',
  tls: 'TLS handshake with',
  settings: 'HTTP/2 handshake with',
};

/**
 * One HTTP/2 connection. Nothing is sent on it before the peer's SETTINGS arrived: until then it is not known that the
 * peer speaks HTTP/2, and a request that went out earlier could not be called unsent.
 */
export class Http2Session {
  readonly endpoint: EndpointAddress;
  readonly number: number;
  /** Requests that were begun on it. */
  requestCount = 0;
  idleSinceMs = 0;
  /** Why it ended, where it was no orderly end. */
  lost: Error | undefined;
  goaway: Goaway | undefined;

  readonly #options: SessionOptions;
  readonly #owner: SessionOwner;
  readonly #users = new Set<SessionUser>();
  readonly #watchdog: Watchdog;
  readonly #socket: Socket;
  #session: ClientHttp2Session | undefined;
  #state: 'tcp' | 'tls' | 'settings' | 'open' | 'draining' | 'gone' = 'tcp';
  #info: { first: ConnectionInfo; later: ConnectionInfo } | undefined;
  #heardAtMs = 0;
  #pingAtMs = 0;

  /** Begins to connect; `number` counts the sessions of a pool. Throws what `connect` throws. */
  constructor(endpoint: EndpointAddress, number: number, options: SessionOptions, owner: SessionOwner) {
    this.endpoint = endpoint;
    this.number = number;
    this.#options = options;
    this.#owner = owner;
    this.#watchdog = new Watchdog(options.clock, (nowMs) => this.#onDeadline(nowMs));
    const socket = options.connect(endpoint);
    this.#socket = socket;
    socket.once('connect', () => {
      if (!isTls(socket)) this.#speak();
      else if (this.#state === 'tcp') this.#state = 'tls';
    });
    socket.once('secureConnect', () => this.#speak());
    // What arrived whole can still be read from its stream; the rest dies with the socket's close.
    socket.on('end', () => socket.end());
    socket.on('error', (error) => this.#lose(error));
    socket.once('close', () => {
      this.#lose(undefined);
      this.#watchdog.stop();
      owner.onSocketClosed(this);
    });
  }

  get isConnecting(): boolean {
    return this.#state === 'tcp' || this.#state === 'tls' || this.#state === 'settings';
  }

  /** Streams may be opened, were there room. */
  get isOpen(): boolean {
    return this.#state === 'open' && this.#session?.closed === false;
  }

  get isGone(): boolean {
    return this.#state === 'gone';
  }

  get userCount(): number {
    return this.#users.size;
  }

  /** Streams the peer allows at the same time. */
  get maxStreams(): number {
    return this.#session?.remoteSettings.maxConcurrentStreams ?? 0;
  }

  get hasRoom(): boolean {
    return this.isOpen && this.#users.size < this.maxStreams;
  }

  get site(): FailureSite {
    const phase = this.#state === 'tls' ? 'tls' : 'connect';
    const context = `${connecting[this.#state] ?? 'connection to'} ${this.endpoint.key}`;
    return { phase, reused: false, bytesSent: 0, bytesReceived: 0, context };
  }

  info(reused: boolean): ConnectionInfo {
    if (this.#info === undefined) {
      const { localAddress = '', localPort = 0, remoteAddress = '' } = this.#socket;
      const at = { endpoint: this.endpoint, localAddress, localPort, remoteAddress };
      const shared = { ...at, protocol: '2', tls: tlsInfoOf(this.#socket) } as const;
      this.#info = { first: { ...shared, reused: false }, later: { ...shared, reused: true } };
    }
    return reused ? this.#info.later : this.#info.first;
  }

  /** Takes a place. The session holds the process while there is one. */
  enter(user: SessionUser): void {
    if (this.#users.size === 0) this.#session?.ref();
    this.#users.add(user);
    this.heard();
  }

  leave(user: SessionUser): void {
    if (!this.#users.delete(user) || this.#users.size > 0 || this.#state === 'gone') return;
    this.idleSinceMs = this.#options.clock.nowMs();
    if (this.#state === 'draining') return this.destroy();
    this.#session?.unref();
    this.#watchdog.set(this.idleSinceMs + this.#options.idleMs);
  }

  /** Opens a stream. @throws what node:http2 throws when the fields cannot be sent */
  request(fields: readonly string[], isEnd: boolean): ClientHttp2Stream {
    const stream = this.#session!.request(fields, { endStream: isEnd, waitForTrailers: !isEnd });
    this.requestCount += 1;
    return stream;
  }

  /** The peer gave a sign of life. */
  heard(): void {
    const { clock, pingAfterMs } = this.#options;
    this.#heardAtMs = clock.nowMs();
    this.#pingAtMs = 0;
    this.#watchdog.set(pingAfterMs > 0 ? this.#heardAtMs + pingAfterMs : Infinity);
  }

  /** Takes no further streams; ends with the last one that is open. */
  drain(): void {
    if (this.#state !== 'open') return;
    this.#state = 'draining';
    this.#owner.onDraining(this);
    if (this.#users.size === 0) this.destroy();
  }

  /** Closes now. */
  destroy(): void {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    // A farewell that a stuck peer does not take must not keep the socket.
    this.#watchdog.set(this.#options.clock.nowMs() + farewellMs);
    // Of a socket that is gone Node ends the streams itself, and those that arrived whole can still be read.
    if (!this.#socket.destroyed) (this.#session ?? this.#socket).destroy();
    // After an error its farewell might never be written, and node:http2 would wait for it.
    if (this.lost !== undefined) this.#socket.destroy();
    this.#owner.onDraining(this);
  }

  #speak(): void {
    if (this.#state === 'gone') return;
    const socket = this.#socket;
    const scheme = isTls(socket) ? 'https' : 'http';
    if (isTls(socket) && socket.alpnProtocol !== 'h2') {
      this.destroy();
      return this.#owner.onNotReady(this, undefined);
    }
    this.#state = 'settings';
    // Loaded with the first connection: it costs memory that a gateway without HTTP/2 need not have.
    const session = process.getBuiltinModule('node:http2').connect(`${scheme}://${this.endpoint.key}`, {
      createConnection: () => socket,
      ...sessionOptions,
    });
    this.#session = session;
    session.on('remoteSettings', () => {
      if (this.#state === 'settings') {
        this.#state = 'open';
        session.setLocalWindowSize(sessionWindowBytes);
        this.idleSinceMs = this.#options.clock.nowMs();
        this.#watchdog.set(this.idleSinceMs + this.#options.idleMs);
        if (this.#users.size === 0) session.unref();
      }
      if (this.#state === 'open') this.#owner.onReady(this);
    });
    session.on('goaway', (code, lastStreamId) => {
      this.goaway = { code, lastStreamId };
      this.drain();
      // node:http2 hears nothing more of a peer that broke the rules behind its GOAWAY, not even its FIN.
      if (this.#users.size > 0 && this.#options.pingAfterMs > 0) this.#askForLife();
    });
    session.on('error', (error) => this.#lose(error));
    session.once('close', () => this.#lose(undefined));
  }

  #lose(error: Error | undefined): void {
    if (this.#state === 'gone') return;
    const wasConnecting = this.isConnecting;
    const { site } = this;
    this.lost ??= error;
    this.destroy();
    if (wasConnecting) {
      const failure = error === undefined ? failureFromClose(site) : failureFromError(error, site);
      this.#owner.onNotReady(this, failure);
    }
    for (const user of [...this.#users]) user.onSessionLost(error);
  }

  #onDeadline(nowMs: number): void {
    if (this.#state === 'gone') return void this.#socket.destroy();
    if (this.#users.size === 0) return this.destroy();
    const { pingAfterMs, pingTimeoutMs } = this.#options;
    if (this.#pingAtMs > 0) {
      const message = `no answer to a PING within ${String(pingTimeoutMs)} ms`;
      return this.#lose(Object.assign(new Error(message), { code: 'ERR_HTTP2_PING_CANCEL' }));
    }
    if (nowMs - this.#heardAtMs < pingAfterMs) return this.#watchdog.set(this.#heardAtMs + pingAfterMs);
    this.#askForLife();
  }

  #askForLife(): void {
    if (this.#state === 'gone') return;
    const { clock, pingTimeoutMs } = this.#options;
    this.#pingAtMs = clock.nowMs();
    this.#watchdog.set(this.#pingAtMs + pingTimeoutMs);
    this.#session?.ping((error) => {
      if (error === null && this.#state !== 'gone') this.heard();
    });
  }
}
