import type { ClientHttp2Stream } from 'node:http2';
import type { Failure, FailurePhase } from '../../core/failure.ts';
import type { FieldList, ParserLimits, ResponseHead } from '../../http1/message.ts';
import { parseFault } from '../../http1/parse-fault.ts';
import { hasForbiddenTrailer } from '../../http1/trailers.ts';
import type { Clock } from '../clock.ts';
import { ExchangeTimer } from '../exchange-timer.ts';
import {
  failureFromBody,
  failureFromClose,
  failureFromError,
  failureFromGoaway,
  failureFromParseFault,
  failureFromReset,
  failureFromTimeout,
  internalFailure,
} from '../failure-from-error.ts';
import type { FailureSite } from '../failure-from-error.ts';
import { http2Codes } from './http2-error-codes.ts';
import { fieldBytes, plainFields, readHttp2Head } from './http2-head.ts';
import { Http2RequestWriter } from './http2-request-writer.ts';
import type { Http2Session } from './http2-session.ts';
import { listenToStream } from './http2-stream-events.ts';
import type { StreamListener } from './http2-stream-events.ts';
import type { RequestWriterOwner } from '../request-writer-owner.ts';
import type { AttemptHandler, AttemptRequest, AttemptTimeouts } from '../transport.ts';
import { Watchdog } from '../watchdog.ts';

export type Http2Limits = Pick<ParserLimits, 'headBytes' | 'fieldCount' | 'informationalCount'>;

export interface Http2ExchangeOptions {
  readonly clock: Clock;
  readonly limits: Http2Limits;
  readonly timeouts: AttemptTimeouts;
  readonly reused: boolean;
  /** The stream is closed: its place is free. */
  readonly onClosed: () => void;
}

/** Request out, response in: one stream. */
export class Http2Exchange implements RequestWriterOwner, StreamListener {
  bytesSent = 0;
  bytesReceived = 0;

  readonly #session: Http2Session;
  readonly #handler: AttemptHandler;
  readonly #options: Http2ExchangeOptions;
  readonly #timer: ExchangeTimer;
  readonly #watchdog: Watchdog;
  #phase: FailurePhase = 'send';
  #stream: ClientHttp2Stream | undefined;
  #streamId = 0;
  #method = '';
  #writer: Http2RequestWriter | undefined;
  #head: ResponseHead | undefined;
  #informationalCount = 0;
  #trailers: FieldList = [];
  #paused = false;
  #done = false;

  constructor(session: Http2Session, handler: AttemptHandler, options: Http2ExchangeOptions) {
    this.#session = session;
    this.#handler = handler;
    this.#options = options;
    this.#timer = new ExchangeTimer(options.timeouts);
    this.#watchdog = new Watchdog(options.clock, (nowMs) => this.#onDeadline(nowMs));
  }

  /** @param headBytes What the head counts as sent. */
  start(request: AttemptRequest, fields: readonly string[], headBytes: number): void {
    const { body, method, expectContinueMs } = request;
    this.#method = method;
    const stream = this.#session.request(fields, body === undefined);
    this.#stream = stream;
    this.#streamId = stream.id ?? 0;
    this.bytesSent = headBytes;
    listenToStream(stream, this);
    if (body === undefined) {
      this.#phase = 'wait';
    } else {
      this.#writer = new Http2RequestWriter(stream, body, this);
      if (expectContinueMs > 0) this.#timer.hold(this.#options.clock.nowMs() + expectContinueMs);
      else this.#writer.start();
    }
    this.#updateDeadline();
  }

  resume(): void {
    if (!this.#paused || this.#done) return;
    this.#paused = false;
    this.#timer.readProgress(this.#options.clock.nowMs());
    this.#stream?.resume();
    this.#updateDeadline();
  }

  abort(): void {
    if (!this.#done) this.#leave();
  }

  onWritten(bytes: number): void {
    this.bytesSent += bytes;
  }

  onWriteBlocked(): void {
    this.#updateDeadline();
  }

  onWriteProgress(): void {
    if (this.#done) return;
    this.#timer.writeProgress(this.#options.clock.nowMs());
    this.#updateDeadline();
  }

  onRequestEnd(): void {
    if (this.#phase === 'send') this.#phase = 'wait';
    this.#updateDeadline();
  }

  onBodyFailure(failure: Failure): void {
    this.#fail(failureFromBody(failure, this.#site()));
  }

  onBodyInvalid(message: string): void {
    this.#fail(internalFailure('proxy_internal_error', `request body: ${message}`, this.#site()));
  }

  onHead(raw: readonly string[], isEnd: boolean): void {
    if (this.#done) return;
    this.#heard(fieldBytes(raw));
    const reading = readHttp2Head(raw, this.#method, isEnd, this.#options.limits);
    if ('fault' in reading) {
      this.#phase = 'head';
      return this.#fail(failureFromParseFault(reading.fault, this.#site()));
    }
    const { head } = reading;
    if (head.status < 200) return this.#onInformational(head);
    this.#head = head;
    this.#phase = 'body';
    // As on HTTP/1.1: an error says that the rest of the body is not wanted.
    if (head.status >= 300) this.#writer?.stop();
    this.#handler.onHead(head);
    this.#updateDeadline();
  }

  #onInformational(head: ResponseHead): void {
    this.#informationalCount += 1;
    if (this.#informationalCount > this.#options.limits.informationalCount) {
      this.#phase = 'head';
      return this.#fail(failureFromParseFault(parseFault('TOO_MANY_INFORMATIONAL'), this.#site()));
    }
    this.#handler.onInformational(head);
    if (head.status === 100) this.#endHold();
  }

  onData(chunk: Buffer): void {
    if (this.#done) return;
    this.#heard(chunk.length);
    this.#timer.readProgress(this.#options.clock.nowMs());
    if (!this.#handler.onData(chunk) && !this.#isOver() && !this.#paused) {
      this.#paused = true;
      this.#stream?.pause();
    }
    this.#updateDeadline();
  }

  onTrailers(raw: readonly string[]): void {
    const trailers = plainFields(raw);
    this.#heard(fieldBytes(raw));
    if (this.#done) return;
    if (hasForbiddenTrailer(trailers))
      return this.#fail(failureFromParseFault(parseFault('FORBIDDEN_TRAILER'), this.#site()));
    this.#trailers = trailers;
  }

  onEnd(): void {
    if (this.#done || this.#head === undefined) return;
    this.#done = true;
    this.#watchdog.stop();
    // A peer that has answered need never take the rest: the stream would keep its place, and the session its socket.
    const isRequestOut = this.#writer === undefined || (this.#writer.ended && !this.#writer.isBlocked);
    this.#writer?.stop();
    if (!isRequestOut) this.#reset();
    this.#handler.onComplete(this.#trailers);
  }

  onHeadNotSent(isTooLarge: boolean): void {
    this.bytesSent = 0;
    if (isTooLarge)
      this.#fail(internalFailure('http_request_error', 'the request head is too large for HTTP/2', this.#site()));
  }

  onClose(error: (Error & { readonly code?: string }) | undefined): void {
    this.#options.onClosed();
    if (this.#done) return;
    const failure = this.#failureOf(error);
    // Whoever refuses would refuse the next one too: a retry goes to another connection, and there is one for all of them.
    if (failure.kind === 'request_rejected') this.#session.drain();
    this.#fail(failure);
  }

  #failureOf(error: (Error & { readonly code?: string }) | undefined): Failure {
    const { lost, goaway, isGone } = this.#session;
    const site = this.#site();
    const code = this.#stream?.rstCode ?? 0;
    // The proof holds however Node came to close the stream: one that met a GOAWAY on its way out has a code of our side.
    if (goaway !== undefined && this.#streamId > goaway.lastStreamId)
      return failureFromGoaway(goaway, this.#streamId, site);
    if (error?.code === 'ERR_HTTP2_STREAM_ERROR') return failureFromReset(code, site);
    if (goaway !== undefined && goaway.code !== http2Codes.noError)
      return failureFromGoaway(goaway, this.#streamId, site);
    const cause = lost ?? error;
    if (cause !== undefined) return failureFromError(cause, site);
    return isGone ? failureFromClose(site) : failureFromReset(code, site);
  }

  #endHold(): void {
    if (!this.#timer.isHolding) return;
    this.#timer.releaseHold();
    this.#writer?.start();
  }

  #heard(bytes: number): void {
    this.bytesReceived += bytes;
    this.#session.heard();
  }

  #onDeadline(nowMs: number): void {
    const expired = this.#timer.expired(nowMs);
    if (expired === 'hold') this.#endHold();
    else if (expired !== undefined && expired !== 'write-error')
      this.#fail(failureFromTimeout(expired.timeout, expired.limitMs, this.#site()));
    this.#updateDeadline();
  }

  #updateDeadline(): void {
    if (this.#done) return;
    const writeIsBlocked = this.#writer?.isBlocked === true;
    const deadlineAtMs = this.#timer.deadline(this.#options.clock.nowMs(), {
      stage: this.#head === undefined ? 'wait' : 'body',
      requestIsOut: this.#writer?.ended !== false && !writeIsBlocked,
      writeIsBlocked,
      readIsPaused: this.#paused,
    });
    this.#watchdog.set(deadlineAtMs);
  }

  #isOver(): boolean {
    return this.#done;
  }

  #site(): FailureSite {
    return {
      phase: this.#phase,
      reused: this.#options.reused,
      bytesSent: this.bytesSent,
      bytesReceived: this.bytesReceived,
      context: `exchange with ${this.#session.endpoint.key}`,
    };
  }

  #fail(failure: Failure): void {
    if (this.#done) return;
    this.#leave();
    this.#handler.onFailure(failure);
  }

  #leave(): void {
    this.#done = true;
    this.#watchdog.stop();
    this.#writer?.stop();
    this.#reset();
  }

  #reset(): void {
    const stream = this.#stream;
    if (stream === undefined || stream.destroyed) return;
    stream.close(http2Codes.cancel);
    stream.destroy();
  }
}
