import type { BodyCursor, BodyReader, BodySink, RequestBody } from '../transport/body/request-body.ts';
import { IterableSource } from './iterable-source.ts';
import type { BodyPieces } from './iterable-source.ts';

/** A body that its owner gives anew for each attempt: a file, a Blob, a function. Nothing of it is kept. */
export class ReopenedBody implements RequestBody {
  readonly contentLength: number | undefined;
  readonly complete = true;
  bytesReceived = 0;
  readonly #open: () => BodyPieces;
  readonly #failed: (error: unknown) => void;
  #reading: Reading | undefined;
  #destroyed = false;

  constructor(open: () => BodyPieces, contentLength: number | undefined, failed: (error: unknown) => void) {
    this.#open = open;
    this.contentLength = contentLength;
    this.#failed = failed;
  }

  get replayable(): boolean {
    return !this.#destroyed;
  }

  open(reader: BodyReader): BodyCursor {
    if (this.#destroyed) throw new Error('request body: it was destroyed');
    if (this.#reading?.over === false)
      throw new Error('request body: it is open already; close the cursor of the attempt before');
    const reading = new Reading(new IterableSource(this.#open, this.#failed), reader);
    this.#reading = reading;
    reading.start();
    return reading;
  }

  copy(): RequestBody | undefined {
    return this.#destroyed ? undefined : new ReopenedBody(this.#open, this.contentLength, this.#failed);
  }

  commit(): void {}

  destroy(): void {
    this.#destroyed = true;
    this.#reading?.close();
  }
}

class Reading implements BodyCursor, BodySink {
  over = false;
  readonly #source: IterableSource;
  readonly #reader: BodyReader;

  constructor(source: IterableSource, reader: BodyReader) {
    this.#source = source;
    this.#reader = reader;
  }

  start(): void {
    this.#source.start(this);
  }

  chunk(chunk: Buffer): void {
    if (this.over || chunk.length === 0) return;
    if (!this.#reader.onChunk(chunk)) this.#source.pause();
  }

  end(): void {
    if (this.over) return;
    this.over = true;
    this.#reader.onEnd([]);
  }

  fail(): void {}

  resume(): void {
    if (!this.over) this.#source.resume();
  }

  close(): void {
    this.over = true;
    this.#source.stop();
  }
}
