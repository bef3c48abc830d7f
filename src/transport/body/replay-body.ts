import { crc32 } from 'node:zlib';
import type { Failure } from '../../core/failure.ts';
import type { FieldList } from '../../http1/message.ts';
import { internalFailure } from '../failure-from-error.ts';
import { BodyReading } from './body-reading.ts';
import type { BodyReadingOwner } from './body-reading.ts';
import { keptBody } from './kept-body.ts';
import { createPieceList } from './piece-list.ts';
import type { PieceList } from './piece-list.ts';
import type { ReplayMemory } from './replay-memory.ts';
import type { BodyCursor, BodyReader, BodySink, BodySource, RequestBody } from './request-body.ts';

/** Which limit made a body impossible to send again. */
export type NotReplayableReason = 'request-cap' | 'memory-cap';

export interface ReplayBodyOptions {
  readonly source: BodySource;
  /** Declared length in bytes; `undefined` when it is not known before the end. */
  readonly contentLength: number | undefined;
  /** Most bytes kept for a re-send, ≥ 0. A body of exactly this size is replayable. */
  readonly capBytes: number;
  readonly memory: ReplayMemory;
  /** Called once, when the body stops being replayable because of a limit. */
  readonly onNotReplayable?: (reason: NotReplayableReason) => void;
}

/** With nobody to read them, this many bytes are taken from the source before it is paused. */
const lowWaterBytes = 16_384;

/**
 * A request body that streams through and keeps what it handed out while that fits the caps. Over a cap it forgets and
 * goes on streaming. Nothing is read from the source before the first `open`; while no attempt reads, the source is paused.
 * Delivery to a reader may begin inside `open`.
 */
export function createReplayBody(options: ReplayBodyOptions): RequestBody {
  return new ReplayBody(options);
}

class ReplayBody implements RequestBody, BodySink, BodyReadingOwner {
  readonly contentLength: number | undefined;
  complete = false;
  bytesReceived = 0;

  readonly #source: BodySource;
  readonly #capBytes: number;
  readonly #memory: ReplayMemory;
  readonly #onNotReplayable: ((reason: NotReplayableReason) => void) | undefined;
  readonly #held: PieceList = createPieceList();
  readonly #lowBytes: number;

  /** Handed-out bytes are kept. */
  #keeping = true;
  /** Why keeping ends at the next byte that is handed out. It waits for that byte: until then nothing is lost. */
  #refusal: NotReplayableReason | undefined;
  /** Most bytes of the body that any reader got. */
  #handedOut = 0;
  /** Checksum of all bytes that arrived, while they are kept. */
  #checksum = 0;
  #trailers: FieldList = [];
  #failure: Failure | undefined;
  #reader: BodyReading | undefined;
  #started = false;
  #sourcePaused = false;
  #destroyed = false;

  constructor(options: ReplayBodyOptions) {
    const { contentLength, capBytes } = options;
    if (!(capBytes >= 0)) throw new RangeError(`replay body: capBytes is ${String(capBytes)}; give 0 or more`);
    this.contentLength = contentLength;
    this.#source = options.source;
    this.#capBytes = capBytes;
    this.#memory = options.memory;
    this.#onNotReplayable = options.onNotReplayable;
    this.#lowBytes = Math.min(lowWaterBytes, Math.max(1, capBytes));
    // Then it is streamed from the start, and the first byte that leaves makes it unrepeatable.
    if (contentLength !== undefined && contentLength > capBytes) this.#refusal = 'request-cap';
  }

  get replayable(): boolean {
    return !this.#destroyed && (this.#keeping || this.#handedOut === 0);
  }

  open(reader: BodyReader): BodyCursor {
    if (this.#reader !== undefined)
      throw new Error('request body: it is open already; close the cursor of the attempt before');
    if (!this.replayable)
      throw new Error('request body: bytes that were handed out are not kept; ask `replayable` before `open`');
    const reading = new BodyReading(this, reader);
    this.#reader = reading;
    if (this.#handedOut > 0 && !this.#isIntact()) {
      this.#failReader(
        internalFailure(
          'proxy_internal_error',
          'the kept request body changed since it arrived; it is not sent again',
          nowhere,
        ),
      );
    } else if (this.#failure !== undefined) {
      this.#failReader(this.#failure);
    } else if (!this.#started) {
      this.#started = true;
      this.#source.start(this);
    }
    this.pump();
    return reading;
  }

  copy(): RequestBody | undefined {
    if (!this.complete || !this.replayable || !this.#isIntact()) return undefined;
    return keptBody([...this.#held.pieces()], this.contentLength, this.#trailers);
  }

  commit(): void {
    this.#keeping = false;
    if (this.#reader !== undefined) this.#forgetBefore(this.#reader.offset);
    else if (this.#handedOut > 0) this.#forgetBefore(Infinity);
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#keeping = false;
    this.#reader = undefined;
    this.#forgetBefore(Infinity);
    if (this.#started && !this.complete && this.#failure === undefined) this.#pauseSource();
  }

  chunk(chunk: Buffer): void {
    if (chunk.length === 0 || this.#destroyed || this.complete || this.#failure !== undefined) return;
    this.bytesReceived += chunk.length;
    // Committed, or streamed past the caps to an attempt that is over: nobody can ever read this.
    if (this.#reader === undefined && !this.replayable) return;
    if (this.#keeping) this.#admit(chunk);
    else this.#memory.reserve(chunk.length);
    this.#held.append(chunk);
    this.pump();
  }

  end(trailers: FieldList): void {
    if (this.complete || this.#destroyed || this.#failure !== undefined) return;
    this.complete = true;
    this.#trailers = trailers;
    this.pump();
  }

  fail(failure: Failure): void {
    if (this.complete || this.#destroyed || this.#failure !== undefined) return;
    this.#failure = failure;
    this.#failReader(failure);
  }

  /** Gives the reader what is held, until it is paused or has everything. */
  pump(): void {
    const reading = this.#reader;
    if (reading === undefined) {
      this.#balance();
      return;
    }
    if (reading.pumping) return;
    reading.pumping = true;
    while (this.#reader === reading && !reading.paused && reading.offset < this.bytesReceived) {
      this.#deliver(reading, this.#held.at(reading.offset));
    }
    reading.pumping = false;
    if (this.#reader === reading && this.complete && !reading.paused && reading.offset === this.bytesReceived) {
      this.#reader = undefined;
      reading.reader.onEnd(this.#trailers);
      return;
    }
    this.#balance();
  }

  closed(reading: BodyReading): void {
    if (this.#reader !== reading) return;
    this.#reader = undefined;
    if (!this.replayable) this.#forgetBefore(Infinity);
    this.#balance();
  }

  #admit(chunk: Buffer): void {
    this.#checksum = crc32(chunk, this.#checksum);
    if (this.#refusal === undefined && this.bytesReceived > this.#capBytes) this.#refusal = 'request-cap';
    if (this.#memory.tryReserve(chunk.length)) return;
    this.#refusal ??= 'memory-cap';
    this.#memory.reserve(chunk.length);
  }

  #deliver(reading: BodyReading, piece: Buffer): void {
    reading.offset += piece.length;
    if (reading.offset > this.#handedOut) this.#handedOut = reading.offset;
    if (this.#keeping && this.#refusal !== undefined) {
      this.#keeping = false;
      this.#onNotReplayable?.(this.#refusal);
    }
    if (!this.#keeping) this.#forgetBefore(reading.offset);
    if (!reading.reader.onChunk(piece)) reading.paused = true;
  }

  #failReader(failure: Failure): void {
    const reading = this.#reader;
    this.#reader = undefined;
    reading?.reader.onError(failure);
  }

  #forgetBefore(offset: number): void {
    this.#memory.release(this.#held.dropBefore(offset));
  }

  /** Asks the source for more only while somebody takes it, or to have a first piece ready for the next attempt. */
  #balance(): void {
    if (!this.#started || this.complete || this.#destroyed || this.#failure !== undefined) return;
    const reading = this.#reader;
    const unread = this.bytesReceived - (reading === undefined ? this.#handedOut : reading.offset);
    const wanted =
      reading === undefined ? this.replayable && unread < this.#lowBytes : !reading.paused || unread < this.#lowBytes;
    if (!wanted) this.#pauseSource();
    else if (this.#sourcePaused) {
      this.#sourcePaused = false;
      this.#source.resume();
    }
  }

  #pauseSource(): void {
    if (this.#sourcePaused) return;
    this.#sourcePaused = true;
    this.#source.pause();
  }

  #isIntact(): boolean {
    let checksum = 0;
    for (const piece of this.#held.pieces()) checksum = crc32(piece, checksum);
    return this.#held.startOffset === 0 && this.#held.heldBytes === this.bytesReceived && checksum === this.#checksum;
  }
}

const nowhere = { phase: 'send', reused: false, bytesSent: 0, bytesReceived: 0 } as const;
