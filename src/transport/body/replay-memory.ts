/** One limit for the bytes that all request bodies of a process keep for a possible re-send. */
export interface ReplayMemory {
  /** Most bytes for all bodies together. */
  readonly limitBytes: number;
  /** Bytes that are kept now. */
  readonly usedBytes: number;
  /** Takes `bytes` if they fit. */
  tryReserve(bytes: number): boolean;
  /** Takes `bytes` that are held already and cannot be refused; may pass the limit by one read of a socket. */
  reserve(bytes: number): void;
  /** Gives bytes back. */
  release(bytes: number): void;
}

/** @param limitBytes ≥ 0; `Infinity` for no limit. @throws RangeError when it is negative or NaN. */
export function createReplayMemory(limitBytes: number): ReplayMemory {
  if (!(limitBytes >= 0)) throw new RangeError(`replay memory: limitBytes is ${String(limitBytes)}; give 0 or more`);
  let usedBytes = 0;
  return {
    limitBytes,
    get usedBytes() {
      return usedBytes;
    },
    tryReserve(bytes) {
      if (usedBytes + bytes > limitBytes) return false;
      usedBytes += bytes;
      return true;
    },
    reserve(bytes) {
      usedBytes += bytes;
    },
    release(bytes) {
      usedBytes -= bytes;
    },
  };
}
