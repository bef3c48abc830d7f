const EMPTY = Buffer.alloc(0);

/** Holds the beginning of a line whose end has not arrived. The caller bounds it; memory is kept for the next line. */
export class LineBuffer {
  length = 0;
  #bytes: Buffer = EMPTY;

  append(chunk: Buffer, from: number, to: number): void {
    const needed = this.length + (to - from);
    if (needed > this.#bytes.length) {
      // Doubling keeps a head that drips in byte by byte linear.
      const grown = Buffer.allocUnsafeSlow(Math.max(256, needed, this.#bytes.length * 2));
      this.#bytes.copy(grown, 0, 0, this.length);
      this.#bytes = grown;
    }
    chunk.copy(this.#bytes, this.length, from, to);
    this.length = needed;
  }

  /** What is held; valid until the next `append`. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
    // A connection that once met a huge line must not keep its memory for life.
    if (this.#bytes.length > 4096) this.#bytes = EMPTY;
  }
}
