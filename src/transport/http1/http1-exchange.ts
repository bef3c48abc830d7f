import type { Failure, FailurePhase } from '../../core/failure.ts';
import { fieldValue } from '../../http1/field-list.ts';
import type { FieldList, ParseFault, ResponseHead } from '../../http1/message.ts';
import type { Clock } from '../clock.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { ConnectionUser } from './connection-user.ts';
import { ExchangeTimer } from '../exchange-timer.ts';
import {
  failureFromBody,
  failureFromClose,
  failureFromError,
  failureFromParseFault,
  failureFromTimeout,
  internalFailure,
  protocolFailure,
} from '../failure-from-error.ts';
import type { FailureSite } from '../failure-from-error.ts';
import type { Http1Connection } from './http1-connection.ts';
import { Http1Tunnel } from './http1-tunnel.ts';
import { RequestWriter } from './request-writer.ts';
import type { RequestWriterOwner } from '../request-writer-owner.ts';
import type { AttemptHandler, AttemptRequest, AttemptTimeouts } from '../transport.ts';

/** Request out, response in: one exchange on one connection, which is its alone until the end. */
export class Http1Exchange implements ConnectionUser, RequestWriterOwner {
  bytesSent = 0;
  bytesReceived = 0;

  readonly #connection: Http1Connection;
  readonly #pool: ConnectionPool;
  readonly #clock: Clock;
  readonly #handler: AttemptHandler;
  readonly #timer: ExchangeTimer;
  readonly #reused: boolean;
  readonly #idleMs: number;
  /** The protocol that was offered. */
  #offered: string | undefined;
  #tunnel: Http1Tunnel | undefined;
  #phase: FailurePhase = 'send';
  #writer: RequestWriter | undefined;
  #responseHead: ResponseHead | undefined;
  #trailers: FieldList | undefined;
  #paused = false;
  #writeError: Error | undefined;
  #done = false;

  constructor(
    connection: Http1Connection,
    pool: ConnectionPool,
    clock: Clock,
    handler: AttemptHandler,
    timeouts: AttemptTimeouts,
    reused: boolean,
  ) {
    this.#connection = connection;
    this.#pool = pool;
    this.#clock = clock;
    this.#handler = handler;
    this.#timer = new ExchangeTimer(timeouts);
    this.#reused = reused;
    this.#idleMs = timeouts.idleMs;
  }

  start(request: AttemptRequest, head: string): void {
    const { method, body, expectContinueMs } = request;
    this.#offered = request.upgrade;
    const { socket } = this.#connection;
    this.#connection.begin(this, method);
    if (body === undefined) {
      this.#phase = 'wait';
      this.bytesSent = head.length;
      socket.write(head, 'latin1');
    } else {
      this.#writer = new RequestWriter(socket, head, body, this);
      if (expectContinueMs > 0) {
        this.#timer.hold(this.#clock.nowMs() + expectContinueMs);
        this.#writer.writeHead();
      } else {
        this.#writer.start();
      }
    }
    this.#updateDeadline();
  }

  resume(): void {
    if (!this.#paused || this.#done) return;
    this.#paused = false;
    this.#timer.readProgress(this.#clock.nowMs());
    this.#connection.socket.resume();
    this.#updateDeadline();
  }

  abort(): void {
    if (!this.#done) this.#leave();
    else this.#tunnel?.abort();
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
    } else if (this.#connection.parser.headStarted) {
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
    if (head.status === 101) return this.#switchProtocols(head);
    this.#responseHead = head;
    this.#phase = 'body';
    // An error says that the body is not wanted (RFC 9112 §9.5). A 2xx may need the rest of it: the origin answers while it reads.
    if (head.status >= 300) this.#writer?.stop();
    this.#handler.onHead(head);
  }

  onData(chunk: Buffer): void {
    if (this.#done) return;
    if (this.#handler.onData(chunk) || this.#done) return;
    this.#connection.giveReadBytes();
    if (this.#paused) return;
    this.#paused = true;
    this.#connection.socket.pause();
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

  onWriteError(error: Error, nothingLeft: boolean): void {
    if (this.#done || this.#writeError !== undefined) return;
    this.#writeError = error;
    if (nothingLeft) this.bytesSent = 0;
    this.#writer?.stop();
    this.#timer.writeFailed(this.#clock.nowMs());
    this.#updateDeadline();
  }

  onPeerGone(error: Error | undefined): void {
    if (this.#done) return;
    if (error === undefined) this.#connection.parser.end();
    else this.#readRest();
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

  #endHold(): void {
    if (!this.#timer.isHolding || this.#writeError !== undefined) return;
    this.#timer.releaseHold();
    this.#writer?.start();
  }

  /** From here on the connection belongs to the tunnel, and this exchange is over. */
  #switchProtocols(head: ResponseHead): void {
    const switched = fieldValue(head.fields, 'upgrade')?.toLowerCase();
    if (this.#offered === undefined || switched !== this.#offered.toLowerCase() || !this.#requestIsOut()) {
      this.#phase = 'head';
      const what = this.#offered === undefined ? 'although nobody asked it to' : 'to one that it was not asked for';
      return this.#fail(protocolFailure(`the upstream switched protocols ${what}`, this.#site()));
    }
    this.#done = true;
    const { bytesSent, bytesReceived } = this;
    const beginning = { bytesSent, bytesReceived, reused: this.#reused };
    const tunnel = new Http1Tunnel(this.#connection, this.#clock, this.#handler, this.#idleMs, beginning);
    this.#tunnel = tunnel;
    this.#connection.become(tunnel);
    this.#handler.onTunnel?.(head, tunnel);
  }

  #backToWaiting(): void {
    if (this.#phase === 'head') this.#phase = this.#requestIsOut() ? 'wait' : 'send';
  }

  /** Reads what the stream layer still holds of a dead connection whose reader was slow. */
  #readRest(): void {
    const rest: unknown = this.#paused ? this.#connection.socket.read() : null;
    if (!Buffer.isBuffer(rest)) return;
    this.bytesReceived += rest.length;
    this.#connection.parser.execute(rest);
  }

  #failLost(error: Error | undefined): void {
    const cause = this.#writeError ?? error;
    this.#fail(cause === undefined ? failureFromClose(this.#site()) : failureFromError(cause, this.#site()));
  }

  #requestIsOut(): boolean {
    return this.#writer === undefined || this.#writer.ended;
  }

  #updateDeadline(): void {
    if (this.#done) return;
    const writeIsBlocked = this.#writer?.isBlocked === true;
    const deadlineAtMs = this.#timer.deadline(this.#clock.nowMs(), {
      stage: this.#responseHead !== undefined ? 'body' : this.#phase === 'head' ? 'head' : 'wait',
      requestIsOut: this.#requestIsOut() && !writeIsBlocked,
      writeIsBlocked,
      readIsPaused: this.#paused,
    });
    this.#connection.setDeadline(deadlineAtMs);
  }

  #site(): FailureSite {
    return {
      phase: this.#phase,
      reused: this.#reused,
      bytesSent: this.bytesSent,
      bytesReceived: this.bytesReceived,
      context: `exchange with ${this.#connection.endpoint.key}`,
    };
  }

  #finish(trailers: FieldList, dirty: boolean): void {
    const connection = this.#connection;
    const head = this.#responseHead;
    if (head === undefined) return;
    this.#done = true;
    const flushed = this.#requestIsOut() && connection.socket.writableLength === 0 && this.#writeError === undefined;
    this.#writer?.stop();
    if (flushed && !dirty && head.keepAlive && head.bodyKind !== 'until-close') {
      connection.advertisedIdleMs = head.keepAliveTimeoutMs;
      this.#pool.release(connection);
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
    // With half a request in the socket a FIN would wait behind it; an RST tells the peer at once that it is cut.
    this.#connection.destroy(!this.#requestIsOut());
  }
}
