import type { ClientHttp2Stream } from 'node:http2';
import type { FieldList } from '../../http1/message.ts';
import { lastChunk } from '../../http1/serializer.ts';
import type { Failure } from '../../core/failure.ts';
import { isLeftOut } from './http2-head.ts';
import type { BodyCursor, BodyReader, RequestBody } from '../body/request-body.ts';
import type { RequestWriterOwner } from '../request-writer-owner.ts';

/** Writes the body of one request on its stream, as fast as the peer's window and the connection take it. */
export class Http2RequestWriter implements BodyReader {
  /** The body was read to its end and written. */
  ended = false;
  readonly #stream: ClientHttp2Stream;
  readonly #body: RequestBody;
  readonly #owner: RequestWriterOwner;
  #cursor: BodyCursor | undefined;
  #stopped = false;
  #blocked = false;
  #bodyBytes = 0;
  #trailers: FieldList = [];

  constructor(stream: ClientHttp2Stream, body: RequestBody, owner: RequestWriterOwner) {
    this.#stream = stream;
    this.#body = body;
    this.#owner = owner;
    // Without trailers this sends an empty last DATA frame.
    stream.on('wantTrailers', () => this.#sendTrailers());
  }

  /** The peer has not taken what was written. */
  get isBlocked(): boolean {
    return this.#stream.writableLength > 0;
  }

  start(): void {
    try {
      const cursor = this.#body.open(this);
      if (this.#stopped) cursor.close();
      else this.#cursor = cursor;
    } catch (error) {
      this.#owner.onBodyInvalid((error as Error).message);
    }
  }

  /** Reads no more of the body. */
  stop(): void {
    this.#stopped = true;
    const cursor = this.#cursor;
    this.#cursor = undefined;
    cursor?.close();
  }

  onChunk(chunk: Buffer): boolean {
    if (this.#stopped) return false;
    this.#bodyBytes += chunk.length;
    const { contentLength } = this.#body;
    if (contentLength !== undefined && this.#bodyBytes > contentLength) {
      this.#owner.onBodyInvalid(`declared ${String(contentLength)} bytes, more arrived`);
      return false;
    }
    this.#owner.onWritten(chunk.length);
    this.#blocked = !this.#stream.write(chunk, this.#onTaken);
    if (this.isBlocked) this.#owner.onWriteBlocked();
    return !this.#blocked;
  }

  onEnd(trailers: FieldList): void {
    if (this.#stopped) return;
    const { contentLength } = this.#body;
    if (contentLength !== undefined && this.#bodyBytes !== contentLength) {
      this.#owner.onBodyInvalid(`declared ${String(contentLength)} bytes, ${String(this.#bodyBytes)} arrived`);
      return;
    }
    try {
      // The same rules hold as for HTTP/1.1: nothing that could split a message is sent.
      lastChunk(trailers);
    } catch (error) {
      this.#owner.onBodyInvalid(`trailers: ${(error as Error).message}`);
      return;
    }
    this.#trailers = trailers;
    this.ended = true;
    this.#stream.end();
    this.#owner.onRequestEnd();
  }

  onError(failure: Failure): void {
    if (!this.#stopped) this.#owner.onBodyFailure(failure);
  }

  #sendTrailers(): void {
    const fields: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
    for (let i = 0; i + 1 < this.#trailers.length; i += 2) {
      const name = this.#trailers[i]!;
      if (!isLeftOut(name)) (fields[name.toLowerCase()] ??= []).push(this.#trailers[i + 1]!);
    }
    try {
      this.#stream.sendTrailers(fields);
    } catch (error) {
      // Thrown into an event of Node's, it would end the process.
      this.#owner.onBodyInvalid(`trailers: ${(error as Error).message}`);
    }
  }

  readonly #onTaken = (error?: Error | null): void => {
    if (this.#stopped || (error !== undefined && error !== null)) return;
    this.#owner.onWriteProgress();
    if (this.#blocked && !this.#stream.writableNeedDrain) {
      this.#blocked = false;
      this.#cursor?.resume();
    }
  };
}
