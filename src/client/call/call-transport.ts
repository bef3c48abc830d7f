import type { Failure } from '../../core/failure.ts';
import type { Clock, Timer } from '../../transport/clock.ts';
import { failureFromError, failureFromTimeout, internalFailure } from '../../transport/failure-from-error.ts';
import type { FailureSite } from '../../transport/failure-from-error.ts';
import type { Attempt, AttemptHandler, SendOptions, Transport } from '../../transport/transport.ts';
import type { CallOutcome, CallRequest } from './call.ts';
import { CallHead } from './call.ts';
import { rememberError } from './original-error.ts';

/** How far a function came that tells nothing of it: its request may have been sent, and processed. */
export const UNKNOWN_SITE: FailureSite = Object.freeze({
  phase: 'wait',
  reused: false,
  bytesSent: 1,
  bytesReceived: 0,
});

/** A transport over functions that send: one attempt is one call of a `Call`. */
export function createCallTransport(clock: Clock): Transport {
  return {
    send: (_endpoint, request, handler, options) => {
      const attempt = new CallAttemptRun(request as CallRequest<unknown>, handler, clock);
      attempt.begin(options);
      return attempt;
    },
    close() {},
  };
}

class CallAttemptRun implements Attempt {
  readonly reused = false;
  readonly bytesSent = UNKNOWN_SITE.bytesSent;
  readonly bytesReceived = 0;

  readonly #request: CallRequest<unknown>;
  readonly #handler: AttemptHandler;
  readonly #clock: Clock;
  readonly #aborter = new AbortController();
  #timer: Timer | undefined;
  #head: CallHead<unknown> | undefined;
  #isOver = false;

  constructor(request: CallRequest<unknown>, handler: AttemptHandler, clock: Clock) {
    this.#request = request;
    this.#handler = handler;
    this.#clock = clock;
  }

  begin({ timeouts }: SendOptions): void {
    const { attemptMs } = timeouts;
    if (attemptMs > 0) this.#timer = this.#clock.setTimer(attemptMs, () => this.#expire(attemptMs));
    void this.#run();
  }

  resume(): void {}

  abort(): void {
    if (this.#isOver) return;
    this.#end();
    this.#aborter.abort();
    if (this.#head !== undefined) this.#discard(this.#head.value);
  }

  async #run(): Promise<void> {
    const { call, number, fields, send } = this.#request;
    let outcome: CallOutcome<unknown>;
    try {
      outcome = await send(() => call.attempt({ number, fields, signal: this.#aborter.signal }));
    } catch (error) {
      outcome = { type: 'failed', failure: failureFromError(error, UNKNOWN_SITE), error };
    }
    if (this.#isOver) {
      if (outcome.type === 'answered') this.#discard(outcome.value);
    } else if (outcome.type === 'failed') {
      this.#fail(outcome.failure, outcome.error);
    } else {
      this.#answered(outcome);
    }
  }

  /** Whether it is delivered or put aside is decided inside `onHead`. */
  #answered({ answer, value }: CallOutcome<unknown> & { readonly type: 'answered' }): void {
    this.#timer?.cancel();
    const callHead = new CallHead<unknown>(answer, value);
    this.#head = callHead;
    this.#handler.onHead(callHead);
    if (this.#isOver) return;
    if (callHead.taken) this.#complete();
    else void this.#keep(callHead);
  }

  async #keep(head: CallHead<unknown>): Promise<void> {
    const { call } = this.#request;
    let kept: unknown = head.value;
    let error: unknown;
    try {
      if (call.keep !== undefined) kept = await call.keep(head.value);
    } catch (thrown) {
      kept = undefined;
      error = thrown;
    }
    if (this.#isOver) return;
    if (kept === undefined && call.keep !== undefined) {
      const message = 'the answer could not be kept';
      return this.#fail(internalFailure('http_response_incomplete', message, BODY_SITE, error), error);
    }
    head.value = kept;
    this.#complete();
  }

  #complete(): void {
    this.#end();
    this.#handler.onComplete([]);
  }

  #expire(limitMs: number): void {
    this.#timer = undefined;
    const failure = failureFromTimeout('attempt', limitMs, UNKNOWN_SITE);
    const error = new DOMException(`no response began within ${String(limitMs)} ms`, 'TimeoutError');
    this.#end();
    // The request ends before the next one begins.
    this.#aborter.abort(error);
    this.#fail(failure, error);
  }

  #fail(failure: Failure, error: unknown): void {
    this.#end();
    rememberError(failure, error);
    this.#handler.onFailure(failure);
  }

  #discard(value: unknown): void {
    this.#request.call.discard?.(value);
  }

  #end(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }
}

const BODY_SITE: FailureSite = { ...UNKNOWN_SITE, phase: 'body' };
