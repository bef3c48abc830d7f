import { FRAME } from './http2-frames.ts';

const HEAD_BYTES = 9;
const CODE_BYTES = 4;

export interface FrameHandler {
  /**
   * A frame begins. `errorCode` is that of RST_STREAM, 0 for all others. False stops the scan: the bytes from here on
   * are not wanted.
   */
  frame(type: number, flags: number, lengthBytes: number, errorCode: number): boolean;
}

/** Finds the frames in one direction of an HTTP/2 connection, however its bytes are cut. Payloads are skipped. */
export class Http2FrameScanner {
  readonly #handler: FrameHandler;
  readonly #head = Buffer.alloc(HEAD_BYTES + CODE_BYTES);
  #headBytes = 0;
  /** Bytes of a payload, or of what comes before the first frame, that are still to come. */
  #skipBytes: number;
  #type = -1;

  /** @param skipBytes Bytes before the first frame: the client's preface. */
  constructor(handler: FrameHandler, skipBytes: number) {
    this.#handler = handler;
    this.#skipBytes = skipBytes;
  }

  /** The type of the frame whose payload is not complete; −1 between frames. */
  get openType(): number {
    return this.#skipBytes > 0 ? this.#type : -1;
  }

  /** Returns false when the handler wants no more. */
  scan(chunk: Uint8Array): boolean {
    let at = 0;
    for (;;) {
      const skipped = Math.min(this.#skipBytes, chunk.length - at);
      this.#skipBytes -= skipped;
      at += skipped;
      if (at === chunk.length) return true;
      const wanted = this.#wantedBytes();
      while (this.#headBytes < wanted && at < chunk.length) this.#head[this.#headBytes++] = chunk[at++]!;
      // The head alone tells whether the code belongs to what is wanted.
      if (this.#headBytes < this.#wantedBytes()) {
        if (at === chunk.length) return true;
        continue;
      }
      if (!this.#emit()) return false;
    }
  }

  /** The code of RST_STREAM stands in its payload: it is wanted with the head. */
  #wantedBytes(): number {
    const complete = this.#headBytes >= HEAD_BYTES;
    return complete && this.#head[3] === FRAME.resetStream && this.#lengthBytes() === CODE_BYTES
      ? HEAD_BYTES + CODE_BYTES
      : HEAD_BYTES;
  }

  #lengthBytes(): number {
    return this.#head.readUIntBE(0, 3);
  }

  #emit(): boolean {
    const head = this.#head;
    const lengthBytes = this.#lengthBytes();
    const code = this.#headBytes > HEAD_BYTES ? head.readUInt32BE(HEAD_BYTES) : 0;
    this.#skipBytes = lengthBytes - (this.#headBytes - HEAD_BYTES);
    this.#headBytes = 0;
    this.#type = head[3]!;
    return this.#handler.frame(this.#type, head[4]!, lengthBytes, code);
  }
}
