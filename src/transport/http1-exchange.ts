import type { Failure, FailurePhase } from '../core/failure.ts';
import { isIdempotent } from '../core/safety.ts';
import type { FieldList, ParseFault, ResponseHead } from '../http1/message.ts';
import type { Clock } from './clock.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { ExchangeTimer } from './exchange-timer.ts';
import {
  failureFromBody,
  failureFromClose,
  failureFromError,
  failureFromParseFault,
  failureFromTimeout,
  internalFailure,
  protocolFailure,
} from './failure-from-error.ts';
import type { FailureSite } from './failure-from-error.ts';
import type { ConnectionUser, Http1Connection } from './http1-connection.ts';
import { RequestWriter } from './request-writer.ts';
import type { RequestWriterOwner } from './request-writer.ts';
import type { Attempt, AttemptHandler, AttemptRequest, SendOptions } from './transport.ts';

/**
 * A pooled connection may have been closed by its server without our having looked. Two turns of the event loop let a FIN
 * or RST that has arrived be seen, and the request goes elsewhere with nothing sent. Done for a connection that idled
 * this long, and always for a request that could not be sent again; a busy pool's GETs do not pay for it.
 */
const suspectIdleMs = 20;

/** One attempt: request out, response in, on one connection. Also the handle that its sender holds. */
export class Http1Exchange implements Attempt, ConnectionUser, RequestWriterOwner {
  reused = false;
  bytesSent = 0;
  bytesReceived = 0;

  readonly #poolOf: () => ConnectionPool;
  readonly #clock: Clock;
  readonly #request: AttemptRequest;
  readonly #handler: AttemptHandler;
  readonly #options: SendOptions;
  readonly #head: string;
  readonly #timer: ExchangeTimer;
  #pool: ConnectionPool | undefined;
  #phase: FailurePhase = 'select';
  #connection: Http1Connection | undefined;
  #announced = false;
  #writer: RequestWriter | undefined;
  #responseHead: ResponseHead | undefined;
  #trailers: FieldList | undefined;
  #paused = false;
  #writeError: Error | undefined;
  #done = false;

  constructor(poolOf: () => ConnectionPool, clock: Clock, request: AttemptRequest, head: string, handler: AttemptHandler, options: SendOptions) {
    this.#poolOf = poolOf;
    this.#clock = clock;
    this.#request = request;
    this.#head = head;
    this.#handler = handler;
    this.#options = options;
    this.#timer = new ExchangeTimer(options.timeouts);
  }

  start(): void {
    this.#pool = this.#poolOf();
    this.#pool.acquire(this, this.#options.timeouts.connectMs, this.#options.freshConnection);
  }

  resume(): void {
    if (!this.#paused || this.#done) return;
    this.#paused = false;
    this.#timer.readProgress(this.#clock.nowMs());
    this.#connection?.socket.resume();
    this.#updateDeadline();
  }

  abort(): void {
    if (this.#done) return;
    if (this.#phase === 'select') this.#pool?.cancel(this);
    this.#leave();
  }

  onConnecting(connection: Http1Connection): void {
    this.#phase = 'connect';
    this.#connection = connection;
  }

  onNoConnection(failure: Failure): void {
    if (this.#done) return;
    this.#done = true;
    this.#connection = undefined;
    this.#handler.onFailure(failure);
  }

  onConnection(connection: Http1Connection, idleForMs: number): void {
    this.#connection = connection;
    this.reused = connection.requestCount > 0;
    this.#phase = 'send';
    // A pooled connection comes before `send` has returned, and its sender has no handle yet; and see suspectIdleMs.
    if (idleForMs < 0) this.#announce(connection);
    else if (idleForMs >= suspectIdleMs || !isIdempotent(this.#request.method)) setImmediate(lookAgain, this, connection);
    else process.nextTick(announceLater, this, connection);
  }

  announce(connection: Http1Connection): void {
    if (!this.#done && this.#connection === connection && !this.#announced) this.#announce(connection);
  }

  onRead(extra: boolean): void {
    if (this.#done) return;
    if (this.#trailers !== undefined) {
      this.#finish(this.#trailers, extra);
      return;
    }
    const nowMs = this.#clock.nowMs();
    if (this.#responseHead !== undefined) {
      this.#timer.readProgress(nowMs);
    } else if (this.#connection?.parser.headStarted === true) {
      if (this.#phase !== 'head') this.#timer.headBegan(nowMs);
      this.#phase = 'head';
    }
    this.#updateDeadline();
  }

  onInformational(head: ResponseHead): void {
    if (this.#done) return;
    this.#backToWaiting();
    this.#handler.onInformational(head);
    if (head.status === 100) this.#endHold();
  }

  onHead(head: ResponseHead): void {
    if (this.#done) return;
    if (head.status === 101) {
      this.#phase = 'head';
      this.#fail(protocolFailure('the upstream switched protocols although nobody asked it to', this.#site()));
      return;
    }
    this.#responseHead = head;
    this.#phase = 'body';
    // An error says that the body is not wanted (RFC 9112 §9.5). A 2xx may need the rest of it: the origin answers while it reads.
    if (head.status >= 300) this.#writer?.stop();
    this.#handler.onHead(head);
  }

  onData(chunk: Buffer): void {
    if (this.#done) return;
    if (!this.#handler.onData(chunk) && !this.#done && !this.#paused) {
      this.#paused = true;
      this.#connection?.socket.pause();
    }
  }

  /** The connection's state is judged when the whole read is parsed: bytes may follow that do not belong here. */
  onResponseEnd(trailers: FieldList): void {
    this.#trailers = trailers;
  }

  onFault(fault: ParseFault): void {
    if (this.#done) return;
    if (this.#responseHead === undefined) this.#phase = 'head';
    this.#fail(failureFromParseFault(fault, this.#site()));
  }

  onWriteError(error: Error, atOnce: boolean): void {
    if (this.#done || this.#writeError !== undefined) return;
    this.#writeError = error;
    // The system refused the very first write: not a byte left.
    if (atOnce && this.#connection?.writeCount === 1) this.bytesSent = 0;
    this.#writer?.stop();
    this.#timer.writeFailed(this.#clock.nowMs());
    this.#updateDeadline();
  }

  onPeerGone(error: Error | undefined): void {
    const connection = this.#connection;
    if (this.#done || connection === undefined) return;
    if (!this.#announced) {
      // Nothing was written and nobody was told of this connection: another one takes its place.
      this.#connection = undefined;
      this.#phase = 'select';
      this.reused = false;
      connection.destroy();
      this.start();
      return;
    }
    if (error === undefined) connection.parser.end();
    else this.#readRest(connection);
    if (this.#done) return;
    if (this.#trailers !== undefined) this.#finish(this.#trailers, true);
    else this.#failLost(error);
  }

  onDeadline(nowMs: number): void {
    const expired = this.#timer.expired(nowMs);
    if (expired === 'hold') this.#endHold();
    else if (expired === 'write-error') this.#failLost(undefined);
    else if (expired !== undefined) this.#fail(failureFromTimeout(expired.timeout, expired.limitMs, this.#site()));
    this.#updateDeadline();
  }

  onWritten(bytes: number): void {
    this.bytesSent += bytes;
  }

  onWriteBlocked(): void {
    this.#updateDeadline();
  }

  onWriteProgress(): void {
    if (this.#done) return;
    this.#timer.writeProgress(this.#clock.nowMs());
    this.#updateDeadline();
  }

  onRequestEnd(): void {
    if (this.#phase === 'send') this.#phase = 'wait';
    this.#updateDeadline();
  }

  onBodyFailure(failure: Failure): void {
    if (!this.#done) this.#fail(failureFromBody(failure, this.#site()));
  }

  onBodyInvalid(message: string): void {
    if (!this.#done) this.#fail(internalFailure('proxy_internal_error', `request body: ${message}`, this.#site()));
  }

  #announce(connection: Http1Connection): void {
    this.#announced = true;
    let held: void | Promise<void>;
    try {
      held = this.#handler.onConnected(connection.info(this.reused));
    } catch (error) {
      this.#hookFailed(error);
      return;
    }
    if (held === undefined) this.#writeRequest();
    else held.then(() => this.#writeRequest(), (error: unknown) => this.#hookFailed(error));
  }

  #hookFailed(error: unknown): void {
    const connection = this.#connection;
    if (this.#done || connection === undefined) return;
    const failure = internalFailure('hook_error', 'onConnected failed', this.#site(), error);
    this.#done = true;
    this.#connection = undefined;
    // Nothing was written: the connection is as good as before.
    this.#pool?.release(connection);
    this.#handler.onFailure(failure);
  }

  #writeRequest(): void {
    const connection = this.#connection;
    if (this.#done || connection === undefined) return;
    const { method, body, expectContinueMs } = this.#request;
    connection.expect(method);
    if (body === undefined) {
      this.#phase = 'wait';
      this.bytesSent += this.#head.length;
      connection.socket.write(this.#head, 'latin1');
    } else {
      const writer = new RequestWriter(connection.socket, this.#head, body, this);
      this.#writer = writer;
      if (expectContinueMs > 0) {
        this.#timer.hold(this.#clock.nowMs() + expectContinueMs);
        writer.writeHead();
      } else {
        writer.start();
      }
    }
    this.#updateDeadline();
  }

  #endHold(): void {
    if (!this.#timer.isHolding || this.#writeError !== undefined) return;
    this.#timer.releaseHold();
    this.#writer?.start();
  }

  #backToWaiting(): void {
    if (this.#phase === 'head') this.#phase = this.#requestIsOut() ? 'wait' : 'send';
  }

  /** Reads what the stream layer still holds of a dead connection whose reader was slow. */
  #readRest(connection: Http1Connection): void {
    const rest: unknown = this.#paused ? connection.socket.read() : null;
    if (!Buffer.isBuffer(rest)) return;
    this.bytesReceived += rest.length;
    connection.parser.execute(rest);
  }

  #failLost(error: Error | undefined): void {
    const cause = this.#writeError ?? error;
    this.#fail(cause === undefined ? failureFromClose(this.#site()) : failureFromError(cause, this.#site()));
  }

  #requestIsOut(): boolean {
    return this.#writer === undefined || this.#writer.ended;
  }

  #updateDeadline(): void {
    const connection = this.#connection;
    if (this.#done || connection === undefined) return;
    const writeIsBlocked = this.#writer?.isBlocked === true;
    const deadlineAtMs = this.#timer.deadline(this.#clock.nowMs(), {
      stage: this.#responseHead !== undefined ? 'body' : this.#phase === 'head' ? 'head' : 'wait',
      requestIsOut: this.#requestIsOut() && !writeIsBlocked,
      writeIsBlocked,
      readIsPaused: this.#paused,
    });
    connection.setDeadline(deadlineAtMs);
  }

  #site(): FailureSite {
    return { phase: this.#phase, reused: this.reused, bytesSent: this.bytesSent, bytesReceived: this.bytesReceived };
  }

  #finish(trailers: FieldList, dirty: boolean): void {
    const connection = this.#connection;
    const head = this.#responseHead;
    if (connection === undefined || head === undefined) return;
    this.#done = true;
    this.#connection = undefined;
    const flushed = this.#requestIsOut() && connection.socket.writableLength === 0 && this.#writeError === undefined;
    this.#writer?.stop();
    if (flushed && !dirty && head.keepAlive && head.bodyKind !== 'until-close') {
      connection.advertisedIdleMs = head.keepAliveTimeoutMs;
      this.#pool?.release(connection);
    } else {
      connection.destroy();
    }
    this.#handler.onComplete(trailers);
  }

  #fail(failure: Failure): void {
    this.#leave();
    this.#handler.onFailure(failure);
  }

  #leave(): void {
    this.#done = true;
    this.#writer?.stop();
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.destroy(!this.#requestIsOut());
  }
}

/** What arrived after the current poll began is only seen by the next one, so a single turn is not enough. */
function lookAgain(exchange: Http1Exchange, connection: Http1Connection): void {
  setImmediate(announceLater, exchange, connection);
}

function announceLater(exchange: Http1Exchange, connection: Http1Connection): void {
  exchange.announce(connection);
}
