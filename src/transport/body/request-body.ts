import type { Failure } from '../../core/failure.ts';
import type { FieldList } from '../../http1/message.ts';

/** Where a body comes from. Push with back-pressure; nothing is read before `start`. */
export interface BodySource {
  /** Called once; chunks may come from then on. */
  start(sink: BodySink): void;
  /** No more chunks until `resume`. */
  pause(): void;
  /** Chunks may come again. */
  resume(): void;
}

/** What a source of a body fills. */
export interface BodySink {
  /** The chunk is owned by the sink from now on. */
  chunk(chunk: Buffer): void;
  /** Nothing follows. */
  end(trailers: FieldList): void;
  /** The source died (the client left or sent garbage). */
  fail(failure: Failure): void;
}

/** One attempt reading a request body from its first byte. */
export interface BodyReader {
  /** Returns false to be paused until `cursor.resume()`. */
  onChunk(chunk: Buffer): boolean;
  /** Every byte was given. */
  onEnd(trailers: FieldList): void;
  /** The client broke off; nothing follows. */
  onError(failure: Failure): void;
}

/** One reading of a request body. */
export interface BodyCursor {
  /** Takes more, after `onChunk` returned false. */
  resume(): void;
  /** Stops reading; the body can be opened again if it is still replayable. */
  close(): void;
}

/** A request body that can be read more than once while it fits its caps. */
export interface RequestBody {
  /** Declared length in bytes, or `undefined` when the body is chunked. */
  readonly contentLength: number | undefined;
  /** The body can be opened (again) from byte 0. True until a byte that was handed out is no longer kept. */
  readonly replayable: boolean;
  /** The whole body arrived from the source. */
  readonly complete: boolean;
  /** Bytes that arrived from the source so far. */
  readonly bytesReceived: number;
  /**
   * Begins delivery at byte 0; the reader may be called before this returns. The cursor is closed by itself after
   * `onEnd` or `onError`. @throws Error when not replayable, or already open.
   */
  open(reader: BodyReader): BodyCursor;
  /**
   * A body of its own with the same bytes, for an attempt beside the one that reads this one. `undefined` until the whole
   * body is here and kept: bytes cannot be streamed to two servers.
   */
  copy(): RequestBody | undefined;
  /** No further attempt will read it: forget what is kept, go on streaming to an open reader. */
  commit(): void;
  /** Forget everything and release the memory. */
  destroy(): void;
}
