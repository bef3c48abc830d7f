import type { Failure } from '../../core/failure.ts';
import { isIdempotent } from '../../core/safety.ts';
import type { Clock } from '../clock.ts';
import { failureFromClose, failureFromError, internalFailure } from '../failure-from-error.ts';
import type { FailureSite } from '../failure-from-error.ts';
import { Http2Exchange } from './http2-exchange.ts';
import type { Http2Limits } from './http2-exchange.ts';
import type { Http2Pool, SessionClaimant } from './http2-pool.ts';
import type { Http2Session } from './http2-session.ts';
import { suspectIdleMs } from '../suspect-idle.ts';
import type { Attempt, AttemptHandler, AttemptRequest, SendOptions } from '../transport.ts';

export interface Http2AttemptOptions {
  readonly poolOf: () => Http2Pool;
  readonly clock: Clock;
  readonly limits: Http2Limits;
  readonly send: SendOptions;
  /** Sends the same over HTTP/1.1, which the peer chose when the connection was made. Nothing was sent before. */
  readonly sendHttp1: ((connectMs: number) => Attempt) | undefined;
}

/** One attempt, as its sender holds it: finds a session, announces it, and runs the exchange on a stream of it. */
export class Http2Attempt implements Attempt, SessionClaimant {
  readonly #request: AttemptRequest;
  readonly #fields: readonly string[];
  readonly #headBytes: number;
  readonly #handler: AttemptHandler;
  readonly #options: Http2AttemptOptions;
  readonly #startedAtMs: number;
  #pool: Http2Pool | undefined;
  #session: Http2Session | undefined;
  #exchange: Http2Exchange | undefined;
  /** It goes on over HTTP/1.1. */
  #successor: Attempt | undefined;
  #reused = false;
  #announced = false;
  #done = false;

  constructor(
    request: AttemptRequest,
    fields: readonly string[],
    headBytes: number,
    handler: AttemptHandler,
    options: Http2AttemptOptions,
  ) {
    this.#request = request;
    this.#fields = fields;
    this.#headBytes = headBytes;
    this.#handler = handler;
    this.#options = options;
    this.#startedAtMs = options.clock.nowMs();
  }

  get reused(): boolean {
    return this.#successor?.reused ?? this.#reused;
  }

  get bytesSent(): number {
    return this.#successor?.bytesSent ?? this.#exchange?.bytesSent ?? 0;
  }

  get bytesReceived(): number {
    return this.#successor?.bytesReceived ?? this.#exchange?.bytesReceived ?? 0;
  }

  start(): void {
    const { send, poolOf } = this.#options;
    this.#pool = poolOf();
    this.#pool.acquire(this, send.timeouts.connectMs, send.freshConnection);
  }

  resume(): void {
    (this.#successor ?? this.#exchange)?.resume();
  }

  abort(): void {
    if (this.#successor !== undefined) return this.#successor.abort();
    if (this.#exchange !== undefined) return this.#exchange.abort();
    if (this.#done) return;
    this.#done = true;
    this.#pool?.cancel(this);
    this.#giveBack();
  }

  onSession(session: Http2Session, reused: boolean): void {
    this.#session = session;
    this.#reused = reused;
    const { clock } = this.#options;
    const isSuspect = clock.nowMs() - session.idleSinceMs >= suspectIdleMs || !isIdempotent(this.#request.method);
    // Its sender has no handle yet. A session that others use is known to live.
    if (!reused || session.userCount > 1 || !isSuspect) process.nextTick(announceLater, this);
    else setImmediate(lookAgain, this);
  }

  onNoSession(failure: Failure): void {
    if (!this.#done) this.#fail(failure);
  }

  onHttp1(): void {
    const { sendHttp1, clock, send } = this.#options;
    if (this.#done || sendHttp1 === undefined) return;
    const { connectMs } = send.timeouts;
    const leftMs = Math.max(1, connectMs - (clock.nowMs() - this.#startedAtMs));
    this.#successor = sendHttp1(connectMs > 0 ? leftMs : 0);
  }

  onSessionLost(error: Error | undefined): void {
    // A stream tells of its end itself.
    if (this.#done || this.#exchange !== undefined) return;
    const site = this.#site();
    this.#giveBack();
    if (this.#announced || !this.#reused)
      this.#fail(error === undefined ? failureFromClose(site) : failureFromError(error, site));
    else {
      // Nothing was written and nobody was told of this connection: another one takes its place. One that was made for
      // this attempt has no such second: a peer that greets and leaves would be greeted for ever.
      this.#reused = false;
      this.start();
    }
  }

  announce(): void {
    const session = this.#session;
    if (this.#done || this.#announced || session === undefined) return;
    if (!session.isOpen) return this.onSessionLost(undefined);
    this.#announced = true;
    let held: void | Promise<void>;
    try {
      held = this.#handler.onConnected(session.info(this.#reused));
    } catch (error) {
      this.#onHookFailed(error);
      return;
    }
    if (held === undefined) this.#exchangeMessages();
    else {
      held.then(
        () => this.#exchangeMessages(),
        (error: unknown) => this.#onHookFailed(error),
      );
    }
  }

  #exchangeMessages(): void {
    const session = this.#session;
    if (this.#done || session === undefined) return;
    if (!session.isOpen) return this.onSessionLost(session.lost);
    const { clock, limits, send } = this.#options;
    const exchange = new Http2Exchange(session, this.#handler, {
      clock,
      limits,
      timeouts: send.timeouts,
      reused: this.#reused,
      onClosed: () => this.#giveBack(),
    });
    this.#exchange = exchange;
    try {
      exchange.start(this.#request, this.#fields, this.#headBytes);
    } catch (error) {
      this.#exchange = undefined;
      const site = this.#site();
      this.#giveBack();
      this.#fail(internalFailure('http_request_error', 'the request cannot be written', site, error));
    }
  }

  #onHookFailed(error: unknown): void {
    if (this.#done || this.#session === undefined) return;
    const site = this.#site();
    this.#giveBack();
    this.#fail(internalFailure('hook_error', 'onConnected failed', site, error));
  }

  #giveBack(): void {
    const session = this.#session;
    this.#session = undefined;
    if (session !== undefined) this.#pool?.release(session, this);
  }

  #fail(failure: Failure): void {
    this.#done = true;
    this.#handler.onFailure(failure);
  }

  #site(): FailureSite {
    const key = this.#session?.endpoint.key ?? '';
    return { phase: 'send', reused: this.#reused, bytesSent: 0, bytesReceived: 0, context: `before writing to ${key}` };
  }
}

/** What arrived after the current poll began is only seen by the next one, so a single turn is not enough. */
function lookAgain(attempt: Http2Attempt): void {
  setImmediate(announceLater, attempt);
}

function announceLater(attempt: Http2Attempt): void {
  attempt.announce();
}
