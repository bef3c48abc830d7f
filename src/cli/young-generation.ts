import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Committed size at which it stops growing: two halves of 4 MB. */
const enoughBytes = 8 * 1024 * 1024;
/** What Buffers may take beyond what was left of them by the last collection. */
const bufferBytes = 16 * 1024 * 1024;
const lookEveryMs = 50;

/**
 * Bounds V8's young generation in a process that runs for long. Called before its modules are loaded.
 *
 * Left alone it grows to 32 MB under load and never shrinks while there is any. What a request makes is garbage when
 * its answer is sent: 8 MB are collected as cheaply, and stay in the processor's cache. (2 MB would cost 6 % of the time
 * in collections.) V8 reads the growth factor whenever this space would grow; its limit, `--max-semi-space-size`, only
 * before a program begins. So growth is held back while modules load, then let go step by step.
 *
 * What is read from clients lies outside of it, 64 KB for each small object that stands for it, and V8 waits for 64 MB
 * of these before it collects any. An upload of that size would be in memory twice over for nothing.
 */
export function boundYoungGeneration(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  setGrowth(1);
  let isGrowing = true;
  let leftBytes = 0;
  const timer = setInterval(() => {
    if (isGrowing) {
      isGrowing = youngBytes() < enoughBytes;
      setGrowth(isGrowing ? 2 : 1);
    }
    const outsideBytes = getHeapStatistics().external_memory;
    if (outsideBytes > leftBytes + bufferBytes) {
      collect({ type: 'minor' });
      leftBytes = getHeapStatistics().external_memory;
    } else if (outsideBytes < leftBytes) leftBytes = outsideBytes;
  }, lookEveryMs);
  timer.unref();
}

function setGrowth(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? Infinity;
}
