import type { Socket } from 'node:net';

/** After an answer to a request that was not read whole: how much is read and thrown away. */
const LINGER_BYTES = 1_048_576;

/**
 * Closing after the last answer: FIN first, and what the client still sends is read for a while, for a reset would take
 * the answer from it that it has not read yet (RFC 9112 §9.6).
 */
export class LingeringClose {
  readonly #socket: Socket;
  readonly #destroy: () => void;
  /** The last answer left the process. */
  #flushed = false;
  #halfClosed: boolean;
  #bytes = 0;

  /** `wait`: the answer is out, and the client may still send for a while. */
  constructor(socket: Socket, halfClosed: boolean, destroy: () => void, wait: () => void) {
    this.#socket = socket;
    this.#halfClosed = halfClosed;
    this.#destroy = destroy;
    socket.resume();
    socket.end(() => {
      this.#flushed = true;
      if (this.#halfClosed || this.#bytes > LINGER_BYTES) destroy();
      else wait();
    });
  }

  /** The client said its last byte. */
  halfClose(): void {
    this.#halfClosed = true;
    if (this.#flushed) this.#destroy();
  }

  discard(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= LINGER_BYTES) return;
    if (this.#flushed) this.#destroy();
    else this.#socket.pause();
  }
}
