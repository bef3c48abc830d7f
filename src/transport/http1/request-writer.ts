import type { Socket } from 'node:net';
import type { Failure } from '../../core/failure.ts';
import type { FieldList } from '../../http1/message.ts';
import { CHUNK_END, chunkHead, lastChunk } from '../../http1/serializer.ts';
import type { BodyCursor, BodyReader, RequestBody } from '../body/request-body.ts';
import type { RequestWriterOwner } from '../request-writer-owner.ts';

/** Up to this size head and piece are copied into one buffer: cheaper than a vectored write of mixed parts. */
const copyBytes = 16_384;

/** Writes one request: the head together with the first piece of the body, then piece by piece as the socket takes them. */
export class RequestWriter implements BodyReader {
  /** The body was read to its end and written. */
  ended = false;
  readonly #socket: Socket;
  readonly #body: RequestBody;
  readonly #owner: RequestWriterOwner;
  #head: string;
  #cursor: BodyCursor | undefined;
  #stopped = false;
  #blocked = false;
  #bodyBytes = 0;

  constructor(socket: Socket, head: string, body: RequestBody, owner: RequestWriterOwner) {
    this.#socket = socket;
    this.#head = head;
    this.#body = body;
    this.#owner = owner;
  }

  /** The socket holds bytes that the system has not taken. */
  get isBlocked(): boolean {
    return this.#socket.writableLength > 0;
  }

  /** Sends the head alone, for a body that is held back until the peer agrees. */
  writeHead(): void {
    const head = this.#head;
    this.#head = '';
    this.#write(head, head.length);
  }

  start(): void {
    this.#socket.cork();
    try {
      const cursor = this.#body.open(this);
      if (this.#stopped) cursor.close();
      else this.#cursor = cursor;
    } catch (error) {
      this.#owner.onBodyInvalid((error as Error).message);
    }
    if (this.#head !== '' && !this.#stopped) this.writeHead();
    this.#socket.uncork();
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
    const prefix = this.#head;
    this.#head = '';
    if (contentLength === undefined) {
      this.#writeParts(prefix + chunkHead(chunk.length), chunk, CHUNK_END);
    } else if (this.#bodyBytes <= contentLength) {
      this.#writeParts(prefix, chunk, '');
    } else {
      this.#owner.onBodyInvalid(`declared ${String(contentLength)} bytes, more arrived`);
      return false;
    }
    this.#blocked = this.#socket.writableNeedDrain;
    if (this.isBlocked) this.#owner.onWriteBlocked();
    return !this.#blocked;
  }

  onEnd(trailers: FieldList): void {
    if (this.#stopped) return;
    const { contentLength } = this.#body;
    if (contentLength === undefined) {
      let tail: string;
      try {
        tail = this.#head + lastChunk(trailers);
      } catch (error) {
        this.#owner.onBodyInvalid(`trailers: ${(error as Error).message}`);
        return;
      }
      this.#head = '';
      this.#write(tail, tail.length);
    } else if (this.#bodyBytes !== contentLength) {
      this.#owner.onBodyInvalid(`declared ${String(contentLength)} bytes, ${String(this.#bodyBytes)} arrived`);
      return;
    } else if (this.#head !== '') {
      this.writeHead();
    }
    this.ended = true;
    this.#owner.onRequestEnd();
  }

  onError(failure: Failure): void {
    if (!this.#stopped) this.#owner.onBodyFailure(failure);
  }

  #writeParts(prefix: string, chunk: Buffer, suffix: string): void {
    const bytes = prefix.length + chunk.length + suffix.length;
    if (bytes === chunk.length) {
      this.#write(chunk, bytes);
    } else if (bytes <= copyBytes) {
      const joined = Buffer.allocUnsafe(bytes);
      joined.write(prefix, 0, 'latin1');
      chunk.copy(joined, prefix.length);
      joined.write(suffix, prefix.length + chunk.length, 'latin1');
      this.#write(joined, bytes);
    } else {
      this.#socket.cork();
      this.#socket.write(prefix, 'latin1');
      if (suffix === '') {
        this.#write(chunk, bytes);
      } else {
        this.#socket.write(chunk);
        this.#write(suffix, bytes);
      }
      this.#socket.uncork();
    }
  }

  #write(data: Buffer | string, bytes: number): void {
    this.#owner.onWritten(bytes);
    if (typeof data === 'string') this.#socket.write(data, 'latin1', this.#onTaken);
    else this.#socket.write(data, this.#onTaken);
  }

  readonly #onTaken = (error?: Error | null): void => {
    if (this.#stopped || (error !== undefined && error !== null)) return;
    this.#owner.onWriteProgress();
    if (this.#blocked && !this.#socket.writableNeedDrain) {
      this.#blocked = false;
      this.#cursor?.resume();
    }
  };
}
