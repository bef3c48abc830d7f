import type { Socket } from 'node:net';
import type { FieldList, ParseFault, RequestHandler, RequestHead } from '../http1/message.ts';
import { createRequestParser } from '../http1/request-parser.ts';
import type { RequestParser } from '../http1/request-parser.ts';
import type { Clock } from '../transport/clock.ts';
import { Watchdog } from '../transport/watchdog.ts';
import type { ListenerLimits, RequestSink } from './downstream.ts';
import { DRAIN_IDLE_MS } from './downstream.ts';
import { isHalfClose, requestEndMark } from './half-close.ts';
import { Http1Downstream } from './http1-downstream.ts';
import type { DownstreamConnection } from './http1-downstream.ts';

/** Bytes of following requests that are held while one is being answered; more stay in the kernel. */
const PIPELINE_BYTES = 65_536;
/** Requests of one connection that are answered in one turn of the event loop; the others wait for the next turn. */
const AT_ONCE_COUNT = 16;
/** After an answer to a request that was not read whole: how long and how much is read and thrown away (RFC 9112 §9.6). */
const LINGER_MS = 2_000;
const LINGER_BYTES = 1_048_576;

/** What a connection waits for, each with a limit of its own. */
type Awaited = 'head' | 'body' | 'next-request' | 'last-bytes';

export interface ConnectionOwner {
  readonly sink: RequestSink;
  readonly limits: ListenerLimits;
  readonly clock: Clock;
  readonly draining: boolean;
  connectionClosed(connection: Http1ServerConnection): void;
}

/** One client connection of our own listener: requests one after another, answered in their order. */
export class Http1ServerConnection implements RequestHandler, DownstreamConnection {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly encrypted: boolean = false;

  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #parser: RequestParser;
  #exchange: Http1Downstream | undefined;
  /** Bytes that belong to later requests. */
  #backlog: Buffer | undefined;
  #awaited: Awaited = 'head';
  readonly #readWatchdog: Watchdog;
  readonly #writeWatchdog: Watchdog;
  /** The system has not taken everything that was written. */
  #blocked = false;
  #reading = true;
  #parsing = false;
  #halfClosed = false;
  /** The last answer was given: what still comes is no request. */
  #closing = false;
  /** The last answer left the process. */
  #flushed = false;
  #lingerBytes = 0;
  #requestEnd = 0;

  constructor(owner: ConnectionOwner, socket: Socket) {
    this.#owner = owner;
    this.#socket = socket;
    this.remoteAddress = socket.remoteAddress ?? '';
    this.remotePort = socket.remotePort ?? 0;
    this.#parser = createRequestParser(this, { headBytes: owner.limits.headerBytes });
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#received(chunk));
    socket.on('end', () => this.#halfClose());
    socket.on('error', () => this.#lost());
    socket.on('close', () => this.#lost());
    this.#readWatchdog = new Watchdog(owner.clock, () => this.#late());
    this.#writeWatchdog = new Watchdog(owner.clock, () => this.destroy());
    this.#await('head', owner.limits.headerTimeoutMs);
  }

  get draining(): boolean {
    return this.#owner.draining;
  }

  get busy(): boolean {
    return this.#exchange !== undefined;
  }

  /** Closes the connection after its next answer, or soon when none is asked for. */
  drain(): void {
    if (this.#exchange === undefined && !this.#parser.headStarted) this.#await('next-request', DRAIN_IDLE_MS);
  }

  // --- from the socket ---------------------------------------------------------------------------------------------

  #received(chunk: Buffer): void {
    if (this.#closing) return this.#discard(chunk);
    // A backlog, or an answer that the client does not take, comes first: answers keep their order.
    if (this.#backlog !== undefined || this.#parser.complete || (this.#blocked && this.#exchange === undefined)) {
      return this.#queue(chunk);
    }
    this.#parse(chunk);
    if (this.#exchange === undefined && this.#parser.complete) this.#advance();
  }

  #parse(chunk: Buffer): void {
    const fresh = !this.#parser.headStarted && !this.#parser.inBody;
    this.#parsing = true;
    const taken = this.#parser.execute(chunk);
    this.#parsing = false;
    if (this.#closing || this.#parser.faulted) return;
    if (this.#parser.complete) this.#requestEnd = requestEndMark();
    if (taken < chunk.length) this.#queue(chunk.subarray(taken));
    if (fresh && this.#exchange === undefined && this.#parser.headStarted) {
      this.#await('head', this.#owner.limits.headerTimeoutMs);
    } else if (this.#parser.inBody) this.#armBody();
  }

  #queue(chunk: Buffer): void {
    this.#backlog = this.#backlog === undefined ? chunk : Buffer.concat([this.#backlog, chunk]);
    this.updateReading();
  }

  #halfClose(): void {
    this.#halfClosed = true;
    const exchange = this.#exchange;
    if (this.#closing) {
      if (this.#flushed) this.destroy();
      return;
    }
    if (exchange === undefined) {
      if (this.#backlog === undefined) this.destroy();
      return;
    }
    if (!exchange.requestComplete || !isHalfClose(this.#requestEnd)) this.destroy();
  }

  /** One for all writes: the system took what was given, or the socket is broken, which its own events tell. */
  readonly #onTaken = (error?: Error | null): void => {
    if (!this.#blocked || this.#socket.writableLength > 0 || (error !== undefined && error !== null)) return;
    this.#blocked = false;
    this.#writeWatchdog.set(Infinity);
    if (this.#exchange === undefined) this.#advance();
    else this.#exchange.listener.drained();
  };

  #lost(): void {
    if (!this.#socket.destroyed) this.#socket.destroy();
    this.#readWatchdog.stop();
    this.#writeWatchdog.stop();
    this.#backlog = undefined;
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.#owner.connectionClosed(this);
    if (exchange !== undefined && !exchange.ended) {
      exchange.ended = true;
      exchange.listener.gone();
    }
  }

  // --- from the parser ---------------------------------------------------------------------------------------------

  onHead(head: RequestHead): void {
    this.#readWatchdog.set(Infinity);
    const exchange = new Http1Downstream(this, head);
    this.#exchange = exchange;
    this.#owner.sink.request(exchange);
    this.updateReading();
  }

  onData(chunk: Buffer): void {
    this.#exchange?.bodyChunk(chunk);
  }

  onComplete(trailers: FieldList): void {
    this.#readWatchdog.set(Infinity);
    this.#exchange?.bodyEnd(trailers);
  }

  onFault(fault: ParseFault): void {
    const exchange = this.#exchange;
    if (exchange !== undefined) return exchange.bodyFault('http_request_error', fault.message);
    this.#refuse(fault.status, fault.message);
  }

  // --- from the exchange -------------------------------------------------------------------------------------------

  write(data: Buffer | string): boolean {
    this.#give(data);
    return this.#isTaken();
  }

  writeTogether(before: string, chunk: Buffer, after: string): boolean {
    this.#socket.cork();
    this.#give(before);
    this.#give(chunk);
    if (after !== '') this.#give(after);
    this.#socket.uncork();
    return this.#isTaken();
  }

  updateReading(): void {
    const exchange = this.#exchange;
    // Reading goes on while a request waits for its answer: it is how a client that leaves is noticed.
    const wanted =
      exchange === undefined || exchange.requestComplete
        ? (this.#backlog?.length ?? 0) < PIPELINE_BYTES
        : exchange.wantsBody;
    if (wanted === this.#reading) return;
    this.#reading = wanted;
    if (wanted) this.#socket.resume();
    else this.#socket.pause();
    if (wanted && this.#parser.inBody) this.#armBody();
    else if (this.#parser.inBody) this.#readWatchdog.set(Infinity);
  }

  responded(close: boolean): void {
    this.#exchange = undefined;
    this.#readWatchdog.set(Infinity);
    if (close || this.draining) return this.#finish();
    if (!this.#parsing) this.#advance();
  }

  destroy(): void {
    this.#socket.destroy();
    this.#lost();
  }

  /** The process ends: a request under way is told so, as far as that is still possible. */
  cut(): void {
    this.#exchange?.listener.cut();
    this.destroy();
  }

  reset(): void {
    this.#socket.resetAndDestroy();
    this.#lost();
  }

  // -----------------------------------------------------------------------------------------------------------------

  /**
   * On to the next request, which may have arrived already. Not while the client takes nothing: it could have any number
   * of answers made. And not too many in one turn of the event loop: others are served, too.
   */
  readonly #advance = (): void => {
    for (let count = 0; this.#exchange === undefined && !this.#isOver; count += 1) {
      if (this.#parser.complete) this.#parser.next();
      if (this.#blocked) return;
      const backlog = this.#backlog;
      if (backlog === undefined) return this.#awaitNext();
      if (count === AT_ONCE_COUNT) {
        setImmediate(this.#advance);
        return;
      }
      this.#backlog = undefined;
      this.#parse(backlog);
      if (!this.#parser.complete) break;
    }
    if (this.#exchange === undefined && !this.#isOver) this.#awaitNext();
  };

  get #isOver(): boolean {
    return this.#closing || this.#parser.faulted || this.#socket.destroyed;
  }

  #awaitNext(): void {
    this.updateReading();
    if (this.#halfClosed) return this.destroy();
    if (!this.#parser.headStarted && !this.#parser.inBody) this.#await('next-request', this.#owner.limits.keepAliveMs);
  }

  /** The answer is the last one: FIN, and what the client still sends is read for a while, lest it never sees the answer. */
  #finish(): void {
    this.#closing = true;
    this.#backlog = undefined;
    this.#reading = true;
    this.#socket.resume();
    this.#socket.end(() => {
      this.#flushed = true;
      if (this.#halfClosed || this.#lingerBytes > LINGER_BYTES) this.destroy();
      else this.#await('last-bytes', LINGER_MS);
    });
  }

  #discard(chunk: Buffer): void {
    this.#lingerBytes += chunk.length;
    if (this.#lingerBytes <= LINGER_BYTES) return;
    if (this.#flushed) this.destroy();
    else this.#socket.pause();
  }

  /** What it waits for has not come in time. */
  #late(): void {
    switch (this.#awaited) {
      case 'head':
        if (this.#parser.headStarted) return this.#refuse(408, 'The request head did not arrive in time.');
        return this.destroy();
      case 'body':
        this.#exchange?.bodyFault('downstream_timeout', 'the request body stood still for too long');
        return;
      case 'next-request':
      case 'last-bytes':
        return this.destroy();
    }
  }

  #armBody(): void {
    if (this.#reading) this.#await('body', this.#owner.limits.bodyIdleMs);
  }

  /** 0 switches a limit off. */
  #await(what: Awaited, limitMs: number): void {
    this.#awaited = what;
    this.#readWatchdog.set(limitMs === 0 ? Infinity : this.#owner.clock.nowMs() + limitMs);
  }

  #give(data: Buffer | string): void {
    if (typeof data === 'string') this.#socket.write(data, 'latin1', this.#onTaken);
    else this.#socket.write(data, this.#onTaken);
  }

  /** Node tries to write at once; what is left then waits in the socket, and so does whoever writes. */
  #isTaken(): boolean {
    if (this.#socket.writableLength === 0) return true;
    this.#blocked = true;
    const { bodyIdleMs } = this.#owner.limits;
    this.#writeWatchdog.set(bodyIdleMs === 0 ? Infinity : this.#owner.clock.nowMs() + bodyIdleMs);
    return false;
  }

  #refuse(status: number, detail: string): void {
    const exchange = new Http1Downstream(this, NO_HEAD);
    this.#exchange = exchange;
    this.#owner.sink.refused(exchange, status, detail);
  }
}

/** Stands for a request that could not be read. */
const NO_HEAD: RequestHead = {
  versionMinor: 1,
  method: '',
  target: '',
  fields: [],
  bodyKind: 'none',
  contentLength: -1,
  keepAlive: false,
  expectContinue: false,
  upgrade: false,
};
