import { Readable } from 'node:stream';
import type { BodySink, BodySource } from '../transport/body/request-body.ts';

/** What a body that is read piece by piece may yield; text is sent as UTF-8. */
export type BodyPiece = string | Uint8Array | ArrayBuffer;
export type BodyPieces = AsyncIterable<BodyPiece> | Iterable<BodyPiece>;

/** Reads an iterable (a stream is one too) as its reader takes it. */
export class IterableSource implements BodySource {
  readonly #open: () => BodyPieces;
  readonly #failed: (error: unknown) => void;
  #iterator: AsyncIterator<BodyPiece> | Iterator<BodyPiece> | undefined;
  #sink: BodySink | undefined;
  #reading = false;
  #paused = false;
  #over = false;

  /** @param failed The source itself broke: that is its owner's error, not an attempt's. */
  constructor(open: () => BodyPieces, failed: (error: unknown) => void) {
    this.#open = open;
    this.#failed = failed;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    try {
      this.#iterator = iteratorOf(this.#open());
    } catch (error) {
      this.#break(error);
      return;
    }
    void this.#read();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    void this.#read();
  }

  /** Nobody will read the rest: a stream is destroyed, a generator runs its `finally`. */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    try {
      const ended = this.#iterator?.return?.();
      if (ended instanceof Promise) ended.catch(() => {});
    } catch {
      // It was given up already: what its `finally` throws changes nothing any more.
    }
  }

  async #read(): Promise<void> {
    if (this.#reading || this.#iterator === undefined) return;
    this.#reading = true;
    try {
      while (!this.#paused && !this.#over) {
        const next = await this.#iterator.next();
        if (this.#over) break;
        if (next.done === true) {
          this.#over = true;
          this.#sink?.end([]);
        } else this.#sink?.chunk(bytesOf(next.value));
      }
    } catch (error) {
      this.#break(error);
    }
    this.#reading = false;
  }

  #break(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#failed(error);
  }
}

/**
 * What reads it. A stream's own iterator cannot be given up while it waits for a piece: its `return` waits for that piece
 * too, which may never come.
 */
function iteratorOf(pieces: BodyPieces): AsyncIterator<BodyPiece> | Iterator<BodyPiece> {
  if (pieces instanceof ReadableStream) {
    const reader = (pieces as ReadableStream<BodyPiece>).getReader();
    return {
      next: () => reader.read() as Promise<IteratorResult<BodyPiece>>,
      return: async () => {
        await reader.cancel();
        return DONE;
      },
    };
  }
  const iterator = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
  if (!(pieces instanceof Readable)) return iterator;
  return {
    next: () => (iterator as AsyncIterator<BodyPiece>).next(),
    return: async () => {
      pieces.destroy();
      return DONE;
    },
  };
}

const DONE = { done: true, value: undefined } as const;

function bytesOf(piece: unknown): Buffer {
  if (Buffer.isBuffer(piece)) return piece;
  if (typeof piece === 'string') return Buffer.from(piece);
  if (piece instanceof ArrayBuffer) return Buffer.from(piece);
  if (ArrayBuffer.isView(piece)) return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  throw new TypeError(
    `request body: a piece of it is ${piece === null ? 'null' : `a ${typeof piece}`}; give text or bytes`,
  );
}
