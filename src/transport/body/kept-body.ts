import type { FieldList } from '../../http1/message.ts';
import type { BodyCursor, BodyReader, RequestBody } from './request-body.ts';

/** A whole body in the pieces in which it is kept, for one more reader; the pieces are shared, not copied. */
export function keptBody(
  pieces: readonly Buffer[],
  contentLength: number | undefined,
  trailers: FieldList,
): RequestBody {
  return new KeptBody(pieces, contentLength, trailers);
}

class KeptBody implements RequestBody {
  readonly complete = true;
  readonly contentLength: number | undefined;
  readonly bytesReceived: number;
  readonly #trailers: FieldList;
  #pieces: readonly Buffer[] | undefined;
  #reading: PieceReading | undefined;

  constructor(pieces: readonly Buffer[], contentLength: number | undefined, trailers: FieldList) {
    this.#pieces = pieces;
    this.contentLength = contentLength;
    this.bytesReceived = pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.#trailers = trailers;
  }

  get replayable(): boolean {
    return this.#pieces !== undefined;
  }

  open(reader: BodyReader): BodyCursor {
    if (this.#reading?.closed === false)
      throw new Error('request body: it is open already; close the cursor of the attempt before');
    if (this.#pieces === undefined) throw new Error('request body: it was destroyed');
    const reading = new PieceReading(this.#pieces, this.#trailers, reader);
    this.#reading = reading;
    reading.resume();
    return reading;
  }

  copy(): RequestBody | undefined {
    return this.#pieces === undefined ? undefined : keptBody(this.#pieces, this.contentLength, this.#trailers);
  }

  commit(): void {}

  destroy(): void {
    this.#pieces = undefined;
    this.#reading?.close();
  }
}

class PieceReading implements BodyCursor {
  closed = false;
  readonly #pieces: readonly Buffer[];
  readonly #trailers: FieldList;
  readonly #reader: BodyReader;
  #next = 0;
  #delivering = false;

  constructor(pieces: readonly Buffer[], trailers: FieldList, reader: BodyReader) {
    this.#pieces = pieces;
    this.#trailers = trailers;
    this.#reader = reader;
  }

  resume(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    let isWanted = true;
    while (isWanted && !this.closed && this.#next < this.#pieces.length) {
      const piece = this.#pieces[this.#next] as Buffer;
      this.#next += 1;
      isWanted = this.#reader.onChunk(piece);
    }
    this.#delivering = false;
    if (!isWanted || this.closed) return;
    this.closed = true;
    this.#reader.onEnd(this.#trailers);
  }

  close(): void {
    this.closed = true;
  }
}
