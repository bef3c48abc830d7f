import type { ReplayMemory } from '../../transport/body/replay-memory.ts';

/** What a body that can be read once yields: bytes, or text that is sent as UTF-8. */
export type BodyChunk = Uint8Array | ArrayBuffer | string;

/**
 * A body that can be read once, made repeatable as far as it fits: what was handed out is kept, up to a cap. Over it the
 * rest streams through and the body cannot be sent again. It pulls: nothing is read before somebody asks for it.
 */
export interface BodyCapture {
  /** It can be read (again) from its first byte. */
  readonly replayable: boolean;
  /** Everything arrived from the source. */
  readonly complete: boolean;
  /** The source itself broke: no attempt can end well. */
  readonly failed: boolean;
  /** Its bytes cannot be streamed to two servers at a time. */
  copy(): undefined;
  /** Reads from byte 0; whoever read before gets nothing more. @throws Error when it is not replayable */
  open(): AsyncIterableIterator<Uint8Array>;
  /** Reads until the end or the cap, and gives all bytes if that was the end. */
  readAhead(): Promise<Uint8Array | undefined>;
  /** Gives the memory back; `cancel` closes a source that was not read to its end. */
  release(cancel: boolean): void;
}

export function captureBody(
  source: AsyncIterable<BodyChunk> | Iterable<BodyChunk>,
  capBytes: number,
  memory: ReplayMemory,
): BodyCapture {
  return new Capture(source, capBytes, memory);
}

class Capture implements BodyCapture {
  complete = false;
  failed = false;

  readonly #source: AsyncIterator<BodyChunk> | Iterator<BodyChunk>;
  readonly #capBytes: number;
  readonly #memory: ReplayMemory;
  #chunks: Uint8Array[] = [];
  #keptBytes = 0;
  #isKeeping = true;
  #isHandedOut = false;
  #isReleased = false;
  #error: unknown;
  #pull: Promise<void> | undefined;
  #reader: { index: number } | undefined;

  constructor(source: AsyncIterable<BodyChunk> | Iterable<BodyChunk>, capBytes: number, memory: ReplayMemory) {
    this.#source = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    this.#capBytes = capBytes;
    this.#memory = memory;
  }

  get replayable(): boolean {
    return !this.#isReleased && (this.#isKeeping || !this.#isHandedOut);
  }

  copy(): undefined {
    return undefined;
  }

  open(): AsyncIterableIterator<Uint8Array> {
    if (!this.replayable) throw new Error('request body: bytes that were sent are not kept; it cannot be sent again');
    const reader = { index: 0 };
    this.#reader = reader;
    const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
      for (;;) {
        // An end here would make half a body look like a whole one, if the attempt that reads it is still heard somewhere.
        if (this.#reader !== reader) throw new Error('request body: this attempt was given up');
        const chunk = this.#isKeeping ? this.#chunks[reader.index] : this.#chunks.shift();
        if (chunk !== undefined) {
          reader.index += 1;
          this.#isHandedOut = true;
          return { done: false, value: chunk };
        }
        if (this.failed) throw this.#error;
        if (this.complete) return { done: true, value: undefined };
        await this.#read();
      }
    };
    const close = async (): Promise<IteratorReturnResult<undefined>> => {
      if (this.#reader === reader) this.#reader = undefined;
      return { done: true, value: undefined };
    };
    const iterator: AsyncIterableIterator<Uint8Array> = { next, return: close, [Symbol.asyncIterator]: () => iterator };
    return iterator;
  }

  async readAhead(): Promise<Uint8Array | undefined> {
    while (!this.complete && !this.failed && this.#isKeeping) await this.#read();
    if (!this.complete || !this.#isKeeping) return undefined;
    const all = new Uint8Array(this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    let offset = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, offset);
      offset += chunk.length;
    }
    return all;
  }

  release(cancel: boolean): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#stopKeeping();
    if (!cancel) return;
    this.#reader = undefined;
    this.#chunks = [];
    // A source that fails while it is closed has nobody left to tell.
    if (!this.complete && !this.failed) Promise.resolve(this.#source.return?.()).catch(() => undefined);
  }

  /** What the reader has had is forgotten: from here on the list holds what is still to come. */
  #stopKeeping(): void {
    if (!this.#isKeeping) return;
    this.#isKeeping = false;
    this.#memory.release(this.#keptBytes);
    this.#keptBytes = 0;
    this.#chunks.splice(0, this.#reader?.index ?? 0);
  }

  /** One read of the source, shared: an attempt that died while it waited leaves the chunk to the next one. */
  #read(): Promise<void> {
    this.#pull ??= this.#readOnce().finally(() => (this.#pull = undefined));
    return this.#pull;
  }

  async #readOnce(): Promise<void> {
    try {
      const result = await this.#source.next();
      if (result.done === true) this.complete = true;
      else this.#admit(bytesOf(result.value));
    } catch (error) {
      this.failed = true;
      this.#error = error;
    }
  }

  #admit(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    if (this.#isKeeping) {
      const fits = this.#keptBytes + chunk.length <= this.#capBytes && this.#memory.tryReserve(chunk.length);
      if (fits) this.#keptBytes += chunk.length;
      else this.#stopKeeping();
    }
    // A source may use its buffer again for the next chunk: what is kept must not change.
    this.#chunks.push(this.#isKeeping ? Uint8Array.prototype.slice.call(chunk) : chunk);
  }
}

const encoder = new TextEncoder();

function bytesOf(chunk: BodyChunk): Uint8Array {
  if (typeof chunk === 'string') return encoder.encode(chunk);
  if (chunk instanceof Uint8Array) return chunk;
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  if (ArrayBuffer.isView(chunk)) {
    const view = chunk as ArrayBufferView;
    return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  }
  throw new TypeError(`request body: a chunk of type ${typeof chunk} was read; give bytes or text`);
}
