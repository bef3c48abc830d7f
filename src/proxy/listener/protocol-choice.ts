import type { Socket } from 'node:net';
import { Watchdog } from '../../transport/watchdog.ts';
import { DRAIN_IDLE_MS } from '../downstream.ts';
import { PREFACE } from './http2-frames.ts';
import type { ConnectionHost, ServerConnection } from './server-connection.ts';

export interface ProtocolHandlers {
  /** `early` is what was read, from the connection's first byte. */
  http1(socket: Socket, early: Buffer): void;
  http2(socket: Socket, early: Buffer): void;
}

/** Looks at a connection's first bytes: HTTP/2 by prior knowledge begins with a preface of its own (RFC 9113 §3.3). */
export class ProtocolChoice implements ServerConnection {
  readonly #host: ConnectionHost;
  readonly #socket: Socket;
  readonly #handlers: ProtocolHandlers;
  readonly #watchdog: Watchdog;
  #early: Buffer | undefined;

  constructor(host: ConnectionHost, socket: Socket, handlers: ProtocolHandlers) {
    this.#host = host;
    this.#socket = socket;
    this.#handlers = handlers;
    this.#watchdog = new Watchdog(host.clock, this.#close);
    const { headerTimeoutMs } = host.limits;
    if (headerTimeoutMs > 0) this.#watchdog.set(host.clock.nowMs() + headerTimeoutMs);
    socket.on('data', this.#received);
    socket.on('end', this.#close);
    socket.on('error', this.#close);
    socket.on('close', this.#close);
  }

  /** What is on its way already gets its answer. */
  drain(): void {
    this.#watchdog.set(this.#host.clock.nowMs() + DRAIN_IDLE_MS);
  }

  cut(): void {
    this.#close();
  }

  readonly #received = (chunk: Buffer): void => {
    const early = this.#early === undefined ? chunk : Buffer.concat([this.#early, chunk]);
    const length = Math.min(early.length, PREFACE.length);
    const isPreface = early.compare(PREFACE, 0, length, 0, length) === 0;
    if (isPreface && length < PREFACE.length) {
      this.#early = early;
      return;
    }
    this.#release();
    const { http1, http2 } = this.#handlers;
    (isPreface ? http2 : http1)(this.#socket, early);
  };

  readonly #close = (): void => {
    this.#release();
    this.#socket.destroy();
  };

  #release(): void {
    const socket = this.#socket;
    this.#watchdog.stop();
    socket.off('data', this.#received);
    socket.off('end', this.#close);
    socket.off('error', this.#close);
    socket.off('close', this.#close);
    this.#host.connectionClosed(this);
  }
}
