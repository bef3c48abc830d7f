/** Pieces shorter than this are copied together, so that a body sent byte by byte does not cost a Buffer per byte. */
const smallBytes = 4096;
const maxSlabBytes = 16_384;

/** The held part of a body: consecutive bytes from `startOffset` on, readable from any offset in it. */
export interface PieceList {
  /** Offset in the body of the first held byte. */
  readonly startOffset: number;
  readonly heldBytes: number;
  append(chunk: Buffer): void;
  /** The longest run of bytes at `offset` that lies in one piece. `offset` must be held. */
  at(offset: number): Buffer;
  /** Drops pieces that end at or before `offset`; returns how many bytes that were. */
  dropBefore(offset: number): number;
  /** The held pieces, in order. */
  pieces(): readonly Buffer[];
}

export function createPieceList(): PieceList {
  let pieces: Buffer[] = [];
  let startOffset = 0;
  let heldBytes = 0;
  /** The last piece is the filled part of this growing buffer, if it is set. */
  let slab: Buffer | undefined;
  /** Where the last `at` found its piece: reads are sequential, so the search is almost always over at once. */
  let foundIndex = 0;
  let foundOffset = 0;

  const appendToLast = (last: Buffer, chunk: Buffer): void => {
    const length = last.length + chunk.length;
    if (slab === undefined || length > slab.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(maxSlabBytes, Math.max(1024, 2 * length)));
      last.copy(grown);
      slab = grown;
    }
    chunk.copy(slab, last.length);
    pieces[pieces.length - 1] = slab.subarray(0, length);
  };

  return {
    get startOffset() {
      return startOffset;
    },
    get heldBytes() {
      return heldBytes;
    },
    append(chunk) {
      const last = pieces.at(-1);
      heldBytes += chunk.length;
      if (
        last !== undefined &&
        chunk.length < smallBytes &&
        last.length < smallBytes &&
        last.length + chunk.length <= maxSlabBytes
      ) {
        appendToLast(last, chunk);
        return;
      }
      slab = undefined;
      pieces.push(chunk);
    },
    at(offset) {
      if (offset < foundOffset) {
        foundIndex = 0;
        foundOffset = startOffset;
      }
      for (;;) {
        const piece = pieces[foundIndex];
        if (piece === undefined) throw new RangeError(`no byte is held at offset ${String(offset)}`);
        if (offset < foundOffset + piece.length)
          return offset === foundOffset ? piece : piece.subarray(offset - foundOffset);
        foundIndex += 1;
        foundOffset += piece.length;
      }
    },
    dropBefore(offset) {
      let count = 0;
      let droppedBytes = 0;
      for (const piece of pieces) {
        if (startOffset + droppedBytes + piece.length > offset) break;
        count += 1;
        droppedBytes += piece.length;
      }
      if (count === 0) return 0;
      if (count === pieces.length) slab = undefined;
      pieces = pieces.slice(count);
      startOffset += droppedBytes;
      heldBytes -= droppedBytes;
      foundIndex = 0;
      foundOffset = startOffset;
      return droppedBytes;
    },
    pieces: () => pieces,
  };
}
