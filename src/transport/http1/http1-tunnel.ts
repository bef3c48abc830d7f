import type { Clock } from '../clock.ts';
import type { ConnectionUser } from './connection-user.ts';
import { failureFromError, failureFromTimeout } from '../failure-from-error.ts';
import type { FailureSite } from '../failure-from-error.ts';
import type { Http1Connection } from './http1-connection.ts';
import type { AttemptHandler } from '../transport.ts';
import type { TunnelEnd, TunnelReceiver } from '../tunnel-end.ts';

/** After a write failed, how long the peer's last words are waited for, in milliseconds. */
const LAST_WORDS_MS = 1_000;

/** What the exchange before it counted. */
export interface TunnelBeginning {
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly reused: boolean;
}

/**
 * A connection after its 101: no longer HTTP, never pooled again, and at its end closed. Silence in both directions ends it
 * after `idleMs` (0: never).
 */
export class Http1Tunnel implements ConnectionUser, TunnelEnd {
  bytesSent: number;
  bytesReceived: number;

  readonly #connection: Http1Connection;
  readonly #clock: Clock;
  readonly #handler: AttemptHandler;
  readonly #idleMs: number;
  readonly #reused: boolean;
  #receiver: TunnelReceiver | undefined;
  /** What arrived before there was a receiver. */
  #early: Buffer[] = [];
  #paused = false;
  #blocked = false;
  #peerEnded = false;
  /** Our side said its last byte, and the system took it. */
  #flushed = false;
  #writeError: Error | undefined;
  #done = false;

  constructor(
    connection: Http1Connection,
    clock: Clock,
    handler: AttemptHandler,
    idleMs: number,
    beginning: TunnelBeginning,
  ) {
    this.#connection = connection;
    this.#clock = clock;
    this.#handler = handler;
    this.#idleMs = idleMs;
    this.bytesSent = beginning.bytesSent;
    this.bytesReceived = beginning.bytesReceived;
    this.#reused = beginning.reused;
    this.#touch();
  }

  // --- TunnelEnd ---------------------------------------------------------------------------------------------------

  open(receiver: TunnelReceiver): void {
    this.#receiver = receiver;
    const early = this.#early;
    this.#early = [];
    let wanted = true;
    for (const chunk of early) wanted = receiver.data(chunk) && wanted;
    if (wanted) this.resume();
    if (this.#peerEnded) receiver.ended();
  }

  write(chunk: Buffer): boolean {
    // The peer takes nothing more; what it said last is on its way to us.
    if (this.#done || this.#writeError !== undefined) return true;
    const { socket } = this.#connection;
    this.bytesSent += chunk.length;
    socket.write(chunk, this.#onTaken);
    this.#touch();
    if (socket.writableLength === 0) return true;
    this.#blocked = true;
    return false;
  }

  end(): void {
    if (this.#done) return;
    this.#connection.socket.end(() => {
      this.#flushed = true;
      this.#finishIfOver();
    });
  }

  resume(): void {
    if (!this.#paused || this.#done) return;
    this.#paused = false;
    this.#connection.socket.resume();
  }

  /** Closes both directions now. No handler call follows. */
  abort(): void {
    if (this.#done) return;
    this.#done = true;
    this.#connection.destroy();
  }

  // --- ConnectionUser ----------------------------------------------------------------------------------------------

  onData(chunk: Buffer): void {
    if (this.#done) return;
    this.#touch();
    if (this.#receiver === undefined) {
      this.#early.push(Buffer.from(chunk));
      this.#pause();
    } else if (!this.#receiver.data(chunk)) {
      this.#connection.giveReadBytes();
      this.#pause();
    }
  }

  onPeerGone(error: Error | undefined): void {
    if (this.#done || (this.#peerEnded && error === undefined)) return;
    if (error !== undefined) return this.#fail(error);
    if (this.#writeError !== undefined) return this.#fail(this.#writeError);
    this.#peerEnded = true;
    this.#receiver?.ended();
    this.#finishIfOver();
  }

  onWriteError(error: Error): void {
    if (this.#done || this.#writeError !== undefined) return;
    this.#writeError = error;
    if (this.#peerEnded) return this.#fail(error);
    this.#connection.setDeadline(this.#clock.nowMs() + LAST_WORDS_MS);
    // Whoever waits for it to be taken must not wait for ever.
    this.#drained();
  }

  onDeadline(): void {
    if (this.#done) return;
    if (this.#writeError !== undefined) return this.#fail(this.#writeError);
    this.#done = true;
    const failure = failureFromTimeout('read', this.#idleMs, this.#site());
    this.#connection.destroy();
    this.#handler.onFailure(failure);
  }

  // After the 101 nothing is read as HTTP.
  onInformational(): void {}
  onHead(): void {}
  onResponseEnd(): void {}
  onFault(): void {}
  onRead(): void {}

  // -----------------------------------------------------------------------------------------------------------------

  readonly #onTaken = (error?: Error | null): void => {
    if (this.#done || (error !== undefined && error !== null)) return;
    this.#touch();
    if (this.#connection.socket.writableLength === 0) this.#drained();
  };

  #drained(): void {
    if (!this.#blocked) return;
    this.#blocked = false;
    this.#receiver?.drained();
  }

  #pause(): void {
    this.#paused = true;
    this.#connection.socket.pause();
  }

  #touch(): void {
    if (this.#writeError !== undefined) return;
    this.#connection.setDeadline(this.#idleMs === 0 ? Infinity : this.#clock.nowMs() + this.#idleMs);
  }

  #finishIfOver(): void {
    if (this.#done || !this.#peerEnded || !this.#flushed) return;
    this.#done = true;
    this.#connection.destroy();
    this.#handler.onComplete([]);
  }

  #fail(error: Error): void {
    this.#done = true;
    this.#connection.destroy();
    this.#handler.onFailure(failureFromError(error, this.#site()));
  }

  #site(): FailureSite {
    return {
      phase: 'body',
      reused: this.#reused,
      bytesSent: this.bytesSent,
      bytesReceived: this.bytesReceived,
      context: `tunnel to ${this.#connection.endpoint.key}`,
    };
  }
}
