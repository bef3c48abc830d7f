import type { ReplayMemory } from '../transport/body/replay-memory.ts';
import { createReplayMemory } from '../transport/body/replay-memory.ts';

/** A memory whose limit a reload can change. */
export function createResizableMemory(limitBytes: () => number): ReplayMemory {
  const memory = createReplayMemory(Infinity);
  return {
    get limitBytes() {
      return limitBytes();
    },
    get usedBytes() {
      return memory.usedBytes;
    },
    tryReserve: (bytes) => memory.usedBytes + bytes <= limitBytes() && memory.tryReserve(bytes),
    reserve: (bytes) => memory.reserve(bytes),
    release: (bytes) => memory.release(bytes),
  };
}
