import { MAX_DELAY_MS } from '../../core/deadline.ts';
import type { Clock, Timer } from '../../transport/clock.ts';

/** Time where there may be no Node: a timer may be a number there, and cannot be told to let the process end. */
export function createPortableClock(): Clock {
  const nowMs = (): number => performance.now();
  return {
    nowMs,
    wallMs: () => Date.now(),
    setTimer(delayMs, fire): Timer {
      const dueMs = nowMs() + delayMs;
      let handle: ReturnType<typeof setTimeout> | undefined;
      let isHousekeeping = false;
      const arm = (): void => {
        const leftMs = Math.max(0, dueMs - nowMs());
        if (leftMs === Infinity) return;
        handle = setTimeout(wake, Math.min(Math.ceil(leftMs), MAX_DELAY_MS));
        if (isHousekeeping) unref(handle);
      };
      // A host rounds to its loop's time, and may wake too early.
      const wake = (): void => (nowMs() < dueMs ? arm() : fire());
      arm();
      return {
        cancel: () => clearTimeout(handle),
        unref() {
          isHousekeeping = true;
          if (handle !== undefined) unref(handle);
        },
      };
    },
  };
}

function unref(handle: ReturnType<typeof setTimeout>): void {
  if (typeof handle === 'object' && 'unref' in handle) handle.unref();
}
