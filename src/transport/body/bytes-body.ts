import type { BodyCursor, BodyReader, RequestBody } from './request-body.ts';

/** Bytes go out in pieces, so that a large body meets back-pressure and a stuck peer is noticed. */
const pieceBytes = 65_536;

/**
 * A body that is in memory and can be sent as often as needed. Text is sent as UTF-8. A Buffer is not copied: its owner
 * must not change it until the request is over.
 */
export function bytesBody(bytes: Buffer | string): RequestBody {
  return new BytesBody(typeof bytes === 'string' ? Buffer.from(bytes, 'utf8') : bytes);
}

/** A body of length 0, announced as such; a request without any body has `undefined`. */
export function emptyBody(): RequestBody {
  return new BytesBody(Buffer.alloc(0));
}

class BytesBody implements RequestBody {
  readonly complete = true;
  readonly #bytes: Buffer;
  #open = false;
  #destroyed = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get contentLength(): number {
    return this.#bytes.length;
  }

  get bytesReceived(): number {
    return this.#bytes.length;
  }

  get replayable(): boolean {
    return !this.#destroyed;
  }

  open(reader: BodyReader): BodyCursor {
    if (this.#open) throw new Error('request body: it is open already; close the cursor of the attempt before');
    if (this.#destroyed) throw new Error('request body: it was destroyed');
    this.#open = true;
    const bytes = this.#bytes;
    let offset = 0;
    let closed = false;
    let delivering = false;
    const close = (): void => {
      if (closed) return;
      closed = true;
      this.#open = false;
    };
    const resume = (): void => {
      if (delivering) return;
      delivering = true;
      let wanted = true;
      while (wanted && !closed && offset < bytes.length) {
        const piece = bytes.subarray(offset, offset + pieceBytes);
        offset += piece.length;
        wanted = reader.onChunk(piece);
      }
      delivering = false;
      if (wanted && !closed && !this.#destroyed) {
        close();
        reader.onEnd([]);
      }
    };
    resume();
    return { resume, close };
  }

  copy(): RequestBody | undefined {
    return this.#destroyed ? undefined : new BytesBody(this.#bytes);
  }

  commit(): void {}

  destroy(): void {
    this.#destroyed = true;
  }
}
