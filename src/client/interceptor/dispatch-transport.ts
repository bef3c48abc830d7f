import type { Failure } from '../../core/failure.ts';
import type { FieldList } from '../../http1/message.ts';
import type { Clock, Timer } from '../../transport/clock.ts';
import { failureFromError, failureFromTimeout, internalFailure } from '../../transport/failure-from-error.ts';
import type { FailureSite } from '../../transport/failure-from-error.ts';
import type { Attempt, AttemptHandler, AttemptRequest, SendOptions, Transport } from '../../transport/transport.ts';
import { rememberError } from '../call/original-error.ts';
import { DispatchHead, fieldsOf } from './dispatch-head.ts';
import type { Headers } from './dispatch-head.ts';
import type { AttemptListener } from './inner-handler.ts';
import { InnerHandler } from './inner-handler.ts';

/** The caller's side of an attempt, beside what the loop asks. */
export interface DispatchSender {
  /** Dispatches this attempt; may throw. */
  dispatch(fields: FieldList, handler: InnerHandler): void;
  /** The caller's own body broke. */
  readonly bodyFailed: boolean;
  started(context: unknown): void;
  bodySent(chunk: unknown): void;
  requestSent(): void;
  responseStarted(): void;
}

export interface DispatchAttemptRequest extends AttemptRequest {
  readonly sender: DispatchSender;
}

/** A transport over the dispatcher below an interceptor: one attempt is one call of its `dispatch`. */
export function createDispatchTransport(clock: Clock): Transport {
  return {
    send(_endpoint, request, handler, options) {
      const attempt = new DispatchAttempt(request as DispatchAttemptRequest, handler, options, clock);
      attempt.begin();
      return attempt;
    },
    close() {},
  };
}

class DispatchAttempt implements Attempt, AttemptListener {
  /** Undici does not tell: what is taken for new is never sent again as if it were a stale connection's. */
  readonly reused = false;
  bytesSent = 0;
  bytesReceived = 0;

  readonly #request: DispatchAttemptRequest;
  readonly #sender: DispatchSender;
  readonly #handler: AttemptHandler;
  readonly #attemptMs: number;
  readonly #clock: Clock;
  #phase: 'connect' | 'send' | 'wait' | 'body' = 'connect';
  #abort: ((reason: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  #timer: Timer | undefined;
  #isOver = false;

  constructor(request: DispatchAttemptRequest, handler: AttemptHandler, { timeouts }: SendOptions, clock: Clock) {
    this.#request = request;
    this.#sender = request.sender;
    this.#handler = handler;
    this.#attemptMs = timeouts.attemptMs;
    this.#clock = clock;
  }

  begin(): void {
    try {
      this.#sender.dispatch(this.#request.fields, new InnerHandler(this));
    } catch (error) {
      this.failed(error);
    }
  }

  resume(): void {
    this.#resume?.();
  }

  abort(): void {
    if (this.#isOver) return;
    this.#end();
    this.#abort?.(given());
  }

  // --- AttemptListener ---------------------------------------------------------------------------------------------

  started(abort: (reason: Error) => void, context: unknown): void {
    // It was queued when it was given up; from here on it would be written.
    if (this.#isOver) return abort(given());
    this.#abort = abort;
    if (this.#phase === 'connect') this.#phase = 'send';
    // Its head goes out with this call, and undici does not say when.
    this.bytesSent = Math.max(this.bytesSent, 1);
    if (this.#attemptMs > 0) this.#timer ??= this.#clock.setTimer(this.#attemptMs, () => this.#expire());
    this.#sender.started(context);
  }

  head(
    status: number,
    raw: readonly Buffer[] | undefined,
    headers: Headers | undefined,
    message: string,
    resume: () => void,
  ): boolean {
    if (this.#isOver) return true;
    this.#wrote(0);
    this.bytesReceived = Math.max(this.bytesReceived, 1);
    const head = new DispatchHead(status, message, raw, headers);
    if (status < 200) {
      this.#handler.onInformational(head);
      return true;
    }
    this.#phase = 'body';
    this.#resume = resume;
    this.#timer?.cancel();
    this.#handler.onHead(head);
    return true;
  }

  data(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    this.bytesReceived += chunk.length;
    return this.#handler.onData(chunk);
  }

  ended(raw: readonly Buffer[] | undefined, trailers: Headers | undefined): void {
    if (this.#isOver) return;
    this.#end();
    this.#handler.onComplete(
      raw === undefined ? fieldsOf(trailers ?? {}) : raw.map((bytes) => bytes.toString('latin1')),
    );
  }

  failed(error: unknown): void {
    if (this.#isOver) return;
    this.#fail(this.#failureOf(error), error);
  }

  bodySent(chunk: unknown): void {
    if (this.#isOver) return;
    this.#wrote(typeof chunk === 'object' && chunk !== null && 'length' in chunk ? Number(chunk.length) : 1);
    this.#sender.bodySent(chunk);
  }

  requestSent(): void {
    if (this.#isOver) return;
    this.#wrote(0);
    if (this.#phase === 'send') this.#phase = 'wait';
    this.#sender.requestSent();
  }

  responseStarted(): void {
    if (!this.#isOver) this.#sender.responseStarted();
  }

  // -----------------------------------------------------------------------------------------------------------------

  /** Something below may leave `started` out: whatever shows that bytes left counts. */
  #wrote(bytes: number): void {
    if (this.#phase === 'connect') this.#phase = 'send';
    this.bytesSent = Math.max(this.bytesSent, 1) + bytes;
  }

  #expire(): void {
    this.#timer = undefined;
    const failure = failureFromTimeout('attempt', this.#attemptMs, this.#site());
    this.#end();
    // The request ends before the next one begins.
    this.#abort?.(given());
    this.#handler.onFailure(failure);
  }

  #failureOf(error: unknown): Failure {
    if (this.#sender.bodyFailed)
      return internalFailure('http_request_error', 'the request body could not be read', this.#site(), error);
    return failureFromError(error, this.#site());
  }

  #site(): FailureSite {
    return { phase: this.#phase, reused: false, bytesSent: this.bytesSent, bytesReceived: this.bytesReceived };
  }

  #fail(failure: Failure, error: unknown): void {
    this.#end();
    rememberError(failure, error);
    this.#handler.onFailure(failure);
  }

  #end(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }
}

/** What undici is told; nobody sees it, for the attempt is over by then. */
function given(): Error {
  return new Error('this attempt was given up');
}
