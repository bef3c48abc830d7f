import type { MaybePromise } from '../../engine/run-host.ts';
import { isPromise } from '../../engine/ask.ts';
import type { FieldList } from '../../http1/message.ts';

/** What a filter gives back for a chunk: other bytes, text for UTF-8, or nothing to leave it as it is. */
export type FilteredChunk = Uint8Array | string | void;

/** Between what stands around a filter. */
export interface BodyFilterEnds {
  /** Asks user code about a chunk, or, with `end`, about what follows the last one. */
  ask(chunk: Buffer, end: boolean): MaybePromise<FilteredChunk>;
  /** Returns false when the client is slow. */
  write(chunk: Buffer): boolean;
  /** Everything was written. */
  ended(trailers: FieldList): void;
  /** More is wanted of the upstream. */
  resume(): void;
  failed(error: unknown): void;
}

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Takes a response body through user code, chunk by chunk and in order. While the answer to one is awaited, nothing more
 * is asked of the upstream: what comes all the same is what its last read already held.
 */
export class BodyFilter {
  readonly #ends: BodyFilterEnds;
  readonly #waiting: Buffer[] = [];
  #trailers: FieldList | undefined;
  #thinking = false;
  #clientIsFull = false;
  /** The upstream was told to wait. */
  #paused = false;
  #over = false;

  constructor(ends: BodyFilterEnds) {
    this.#ends = ends;
  }

  /** Returns false to get no more until `resume` is called. */
  data(chunk: Buffer): boolean {
    if (this.#over) return true;
    // The bytes are lent for the time of this call; a hook may keep what it is shown.
    if (this.#thinking || this.#waiting.length > 0) this.#waiting.push(Buffer.from(chunk));
    else this.#ask(Buffer.from(chunk), false);
    this.#paused = this.#thinking || this.#clientIsFull;
    return !this.#paused;
  }

  complete(trailers: FieldList): void {
    this.#trailers = trailers;
    if (!this.#thinking) this.#next();
  }

  /** The client takes more. */
  drained(): void {
    this.#clientIsFull = false;
    this.#resume();
  }

  #ask(chunk: Buffer, end: boolean): void {
    let answer: MaybePromise<FilteredChunk>;
    try {
      answer = this.#ends.ask(chunk, end);
    } catch (error) {
      return this.#fail(error);
    }
    if (!isPromise(answer)) return this.#answered(chunk, end, answer);
    this.#thinking = true;
    answer.then(
      (value) => {
        this.#thinking = false;
        this.#answered(chunk, end, value);
        this.#next();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #answered(chunk: Buffer, end: boolean, answer: FilteredChunk): void {
    if (this.#over) return;
    const bytes = answer === undefined ? chunk : bytesOf(answer);
    if (bytes === undefined)
      return this.#fail(new TypeError(`responseBodyFilter returned a ${typeof answer}; give bytes, text or nothing`));
    if (bytes.length > 0 && !this.#ends.write(bytes)) this.#clientIsFull = true;
    if (!end) return;
    this.#over = true;
    this.#ends.ended(this.#trailers ?? []);
  }

  /** What has waited is asked about, up to one that takes time; then the end; then the upstream may go on. */
  #next(): void {
    while (!this.#over && !this.#thinking) {
      const chunk = this.#waiting.shift();
      if (chunk !== undefined) this.#ask(chunk, false);
      else if (this.#trailers !== undefined) this.#ask(NOTHING, true);
      else return this.#resume();
    }
  }

  #resume(): void {
    if (!this.#paused || this.#thinking || this.#clientIsFull || this.#over) return;
    this.#paused = false;
    this.#ends.resume();
  }

  #fail(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#waiting.length = 0;
    this.#ends.failed(error);
  }
}

function bytesOf(answer: Uint8Array | string): Buffer | undefined {
  if (typeof answer === 'string') return Buffer.from(answer);
  if (!(answer instanceof Uint8Array)) return undefined;
  return Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength);
}
