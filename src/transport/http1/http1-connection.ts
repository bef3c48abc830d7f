import type { Socket } from 'node:net';
import type { FieldList, ParseFault, ParserLimits, ResponseHandler, ResponseHead } from '../../http1/message.ts';
import { createResponseParser } from '../../http1/response-parser.ts';
import type { ResponseParser } from '../../http1/response-parser.ts';
import type { Clock } from '../clock.ts';
import type { Connect } from '../connect.ts';
import type { ConnectionClaimant, ConnectionUser } from './connection-user.ts';
import { failureFromError, failureFromTimeout } from '../failure-from-error.ts';
import { isTls, tlsInfoOf } from '../tls-info.ts';
import type { ConnectionInfo, EndpointAddress } from '../transport.ts';
import { Watchdog } from '../watchdog.ts';
import { holdWriteErrors } from './write-error-hold.ts';

export interface ConnectionOwner {
  /** No longer usable, whatever the reason; called once. */
  onGone(connection: Http1Connection): void;
  /** The operating system's socket is closed. */
  onSocketClosed(): void;
}

export interface ConnectionOptions {
  readonly clock: Clock;
  readonly connect: Connect;
  readonly limits: Partial<ParserLimits>;
}

/** What the system hands over at most in one read. */
const READ_BYTES = 65_536;

/**
 * One upstream connection: socket, parser and one watchdog. It carries one exchange at a time and decides nothing about
 * requests. Its callbacks are made once, not per request.
 */
export class Http1Connection implements ResponseHandler {
  readonly endpoint: EndpointAddress;
  readonly parser: ResponseParser;
  /** Requests that were begun on it. */
  requestCount = 0;
  /** When it became idle, on the monotonic clock. */
  idleSinceMs = 0;
  idleLimitMs = 0;
  /** The server's own idle limit, −1 when it named none. */
  advertisedIdleMs = -1;
  readonly socket: Socket;

  readonly #owner: ConnectionOwner;
  #claimant: ConnectionClaimant | undefined;
  #user: ConnectionUser | undefined;
  #isTunnel = false;
  /** Writes given to the operating system since the exchange began. */
  #writeCount = 0;
  #state: 'tcp' | 'tls' | 'open' | 'gone' = 'tcp';
  readonly #connectMs: number;
  #info: { first: ConnectionInfo; later: ConnectionInfo } | undefined;
  readonly #watchdog: Watchdog;
  /** Where reads end, one after another: new memory for each costs a 100 KB body a third more. */
  #readBuffer: Buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  #readBufferGiven = false;

  /** Begins to connect. Throws what `connect` throws. */
  constructor(
    endpoint: EndpointAddress,
    options: ConnectionOptions,
    owner: ConnectionOwner,
    claimant: ConnectionClaimant,
    connectMs: number,
  ) {
    this.endpoint = endpoint;
    this.#owner = owner;
    this.#claimant = claimant;
    this.#connectMs = connectMs;
    this.parser = createResponseParser(this, options.limits);
    this.#watchdog = new Watchdog(options.clock, (nowMs) => this.#onDeadline(nowMs));
    const socket = options.connect(endpoint, {
      buffer: () => this.#nextReadBuffer(),
      callback: (length) => {
        this.#onData(this.#readBuffer.subarray(0, length));
        return true;
      },
    });
    this.socket = socket;
    if (isTls(socket)) {
      socket.on('connect', () => {
        if (this.#state === 'tcp') this.#state = 'tls';
      });
      socket.on('secureConnect', () => this.#onEstablished());
    } else {
      socket.on('connect', () => this.#onEstablished());
    }
    // Starts the reading, and takes what a socket delivers that was made without our buffer.
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.on('end', () => this.#onGone(undefined));
    socket.on('error', (error) => this.#onGone(error));
    socket.on('close', () => {
      // Without a FIN or an error before it this is no orderly end: a body without a length must not pass as complete.
      this.#onGone(closedWithoutEnd);
      owner.onSocketClosed();
    });
    if (connectMs > 0) this.#watchdog.set(options.clock.nowMs() + connectMs);
  }

  info(reused: boolean): ConnectionInfo {
    if (this.#info === undefined) {
      const { localAddress = '', localPort = 0, remoteAddress = '' } = this.socket;
      const tls = tlsInfoOf(this.socket);
      const { endpoint } = this;
      const shared = { endpoint, localAddress, localPort, remoteAddress, protocol: '1.1', tls } as const;
      this.#info = { first: { ...shared, reused: false }, later: { ...shared, reused: true } };
    }
    return reused ? this.#info.later : this.#info.first;
  }

  /** Takes an idle connection out of its rest. */
  reserve(claimant: ConnectionClaimant, nowMs: number): void {
    this.#claimant = claimant;
    this.#watchdog.set(Infinity);
    this.socket.ref();
    claimant.onConnection(this, nowMs - this.idleSinceMs);
  }

  /** The claimant's exchange begins; it reads a response to this method. */
  begin(user: ConnectionUser, method: string): void {
    this.#claimant = undefined;
    this.#user = user;
    this.requestCount += 1;
    this.#writeCount = 0;
    this.parser.expect(method);
  }

  /** HTTP is over: what arrives from now on goes to `tunnel` as it is. */
  become(tunnel: ConnectionUser): void {
    this.#claimant = undefined;
    this.#user = tunnel;
    this.#isTunnel = true;
  }

  /** Waits for its next exchange; whatever arrives meanwhile, or `limitMs` of silence, ends it. */
  becomeIdle(nowMs: number, limitMs: number): void {
    this.#claimant = undefined;
    this.#user = undefined;
    this.idleSinceMs = nowMs;
    this.idleLimitMs = limitMs;
    this.setDeadline(nowMs + limitMs);
    this.socket.resume();
    // An idle connection must not keep the process alive.
    this.socket.unref();
  }

  /** The bytes of the current read are no longer ours: somebody keeps them. */
  giveReadBytes(): void {
    this.#readBufferGiven = true;
  }

  /** The one instant at which the user wants to be asked again; `Infinity` for none. */
  setDeadline(atMs: number): void {
    this.#watchdog.set(atMs);
  }

  /** Closes now. With `reset`, bytes that still wait to be sent are dropped, so that the peer learns of it at once. */
  destroy(reset = false): void {
    this.#leave();
    if (this.socket.destroyed) return;
    if (reset && !isTls(this.socket) && !this.socket.connecting) this.socket.resetAndDestroy();
    else this.socket.destroy();
  }

  onInformational(head: ResponseHead): void {
    this.#user?.onInformational(head);
  }

  onHead(head: ResponseHead): void {
    this.#user?.onHead(head);
  }

  onData(chunk: Buffer): void {
    this.#user?.onData(chunk);
  }

  onComplete(trailers: FieldList): void {
    this.#user?.onResponseEnd(trailers);
  }

  onFault(fault: ParseFault): void {
    this.#user?.onFault(fault);
  }

  #onEstablished(): void {
    const claimant = this.#claimant;
    if (this.#state === 'gone' || claimant === undefined) return;
    this.#state = 'open';
    this.#watchdog.set(Infinity);
    holdWriteErrors(
      this.socket,
      () => {
        this.#writeCount += 1;
      },
      // Refused at once, and it was the first: not a byte left.
      (error, atOnce) => this.#user?.onWriteError(error, atOnce && this.#writeCount === 1),
    );
    claimant.onConnection(this, -1);
  }

  #nextReadBuffer(): Buffer {
    if (this.#readBufferGiven) {
      this.#readBufferGiven = false;
      this.#readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);
    }
    return this.#readBuffer;
  }

  #onData(chunk: Buffer): void {
    const user = this.#user;
    if (user === undefined) {
      // Nobody asked for these bytes: an answer to nothing, or the end of an earlier one (response smuggling).
      this.#onGone(undefined);
      return;
    }
    user.bytesReceived += chunk.length;
    if (this.#isTunnel) return user.onData(chunk);
    const taken = this.parser.execute(chunk);
    if (this.#user === user) user.onRead(taken < chunk.length);
    else if (this.#isTunnel && taken < chunk.length) this.#user?.onData(chunk.subarray(taken));
  }

  #onGone(error: Error | undefined): void {
    if (this.#state === 'gone') return;
    const claimant = this.#claimant;
    if (this.#user !== undefined) {
      this.#user.onPeerGone(error);
    } else if (claimant === undefined) {
      this.destroy();
    } else if (this.#state === 'open') {
      claimant.onConnectionLost(error);
    } else {
      const failure = failureFromError(error ?? closedWhileConnecting, this.#connectSite());
      this.destroy();
      claimant.onNoConnection(failure);
    }
  }

  #leave(): void {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    this.#claimant = undefined;
    this.#user = undefined;
    this.#watchdog.stop();
    this.#owner.onGone(this);
  }

  #onDeadline(nowMs: number): void {
    const claimant = this.#claimant;
    if (this.#user !== undefined) {
      this.#user.onDeadline(nowMs);
    } else if (claimant === undefined) {
      this.destroy();
    } else {
      const failure = failureFromTimeout('connect', this.#connectMs, this.#connectSite());
      this.destroy();
      claimant.onNoConnection(failure);
    }
  }

  #connectSite(): Parameters<typeof failureFromError>[1] {
    const tls = this.#state === 'tls';
    const context = `${tls ? 'TLS handshake with' : 'connect to'} ${this.endpoint.key}`;
    return { phase: tls ? 'tls' : 'connect', reused: false, bytesSent: 0, bytesReceived: 0, context };
  }
}

const closedWithoutEnd = Object.assign(new Error('the socket was closed'), { code: 'ECONNRESET' });
const closedWhileConnecting = Object.assign(new Error('the connection closed before it was ready'), {
  code: 'ECONNRESET',
});
