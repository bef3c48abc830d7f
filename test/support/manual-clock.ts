import type { Clock, Timer } from '../../src/transport/clock.ts';

export interface ManualClock extends Clock {
  /** Moves time on and fires what falls due, in order of time, then of setting; a timer set meanwhile fires too if it is due. */
  advance(ms: number): void;
  /** Timers that wait to fire. */
  readonly pendingCount: number;
  /** The instant of the next timer, `undefined` when none waits. */
  readonly nextDueMs: number | undefined;
}

interface Pending {
  readonly dueMs: number;
  readonly order: number;
  readonly fire: () => void;
}

/** A clock that stands still until it is told to move. Wall time starts at `startWallMs` and moves along. */
export function createManualClock(startMs = 0, startWallMs: number = Date.UTC(2026, 0, 1)): ManualClock {
  let nowMs = startMs;
  let order = 0;
  const pending = new Set<Pending>();

  const next = (): Pending | undefined => {
    let first: Pending | undefined;
    for (const timer of pending) {
      if (
        first === undefined ||
        timer.dueMs < first.dueMs ||
        (timer.dueMs === first.dueMs && timer.order < first.order)
      )
        first = timer;
    }
    return first;
  };

  return {
    nowMs: () => nowMs,
    wallMs: () => startWallMs + (nowMs - startMs),
    setTimer(delayMs, fire): Timer {
      if (Number.isNaN(delayMs)) throw new RangeError('setTimer: delayMs is NaN');
      order += 1;
      const timer: Pending = { dueMs: nowMs + Math.max(0, delayMs), order, fire };
      if (delayMs !== Infinity) pending.add(timer);
      return {
        cancel: () => {
          pending.delete(timer);
        },
        unref: () => {},
      };
    },
    advance(ms) {
      const untilMs = nowMs + ms;
      for (let timer = next(); timer !== undefined && timer.dueMs <= untilMs; timer = next()) {
        pending.delete(timer);
        nowMs = Math.max(nowMs, timer.dueMs);
        timer.fire();
      }
      nowMs = untilMs;
    },
    get pendingCount() {
      return pending.size;
    },
    get nextDueMs() {
      return next()?.dueMs;
    },
  };
}
