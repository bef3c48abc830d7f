import type { Clock, Timer } from './clock.ts';
import { TimerWheel, maxHostDelayMs } from './timer-wheel.ts';

const neverFires: Timer = { cancel() {}, unref() {} };

/** A timer on the host's own clock, in steps that do not wrap and never early (the host rounds to its loop's time). */
class PreciseTimer implements Timer {
  readonly #dueMs: number;
  readonly #fire: () => void;
  #handle: NodeJS.Timeout;
  #holdsProcess = true;

  constructor(delayMs: number, fire: () => void) {
    this.#dueMs = performance.now() + delayMs;
    this.#fire = fire;
    this.#handle = setTimeout(this.#onWake, Math.min(delayMs, maxHostDelayMs));
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  unref(): void {
    this.#holdsProcess = false;
    this.#handle.unref();
  }

  readonly #onWake = (): void => {
    const remainingMs = this.#dueMs - performance.now();
    if (remainingMs <= 0) {
      this.#fire();
      return;
    }
    this.#handle = setTimeout(this.#onWake, Math.min(Math.ceil(remainingMs), maxHostDelayMs));
    if (!this.#holdsProcess) this.#handle.unref();
  };
}

/**
 * The machine's time. Coarse timers share one wheel and cost about as much as a few assignments; a delay of `Infinity`
 * never fires, a negative one fires as soon as possible.
 * @throws RangeError when a delay is NaN: it would otherwise fire at once, and no caller means that.
 */
export function createSystemClock(): Clock {
  const nowMs = (): number => performance.now();
  const wheel = new TimerWheel(nowMs);
  return {
    nowMs,
    wallMs: () => Date.now(),
    setTimer(delayMs, fire, precise = false) {
      if (Number.isNaN(delayMs))
        throw new RangeError('setTimer: delayMs is NaN; give milliseconds, or Infinity for never');
      if (delayMs === Infinity) return neverFires;
      const boundedMs = Math.max(0, delayMs);
      return precise ? new PreciseTimer(boundedMs, fire) : wheel.add(boundedMs, fire);
    },
  };
}
