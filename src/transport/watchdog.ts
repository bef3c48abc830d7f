import type { Clock, Timer } from './clock.ts';

/**
 * One movable deadline on one coarse timer. Moving it back costs an assignment: the timer is left to fire early and is
 * then set anew, so that a busy connection touches the timer wheel about once per time limit and not once per request.
 */
export class Watchdog {
  readonly #clock: Clock;
  readonly #onDeadline: (nowMs: number) => void;
  #deadlineAtMs = Infinity;
  #timerAtMs = Infinity;
  #timer: Timer | undefined;

  constructor(clock: Clock, onDeadline: (nowMs: number) => void) {
    this.#clock = clock;
    this.#onDeadline = onDeadline;
  }

  /** The instant, on the clock's monotonic time, at which to bark; `Infinity` for never. */
  set(atMs: number): void {
    this.#deadlineAtMs = atMs;
    if (atMs >= this.#timerAtMs) return;
    this.#timer?.cancel();
    this.#arm(atMs, this.#clock.nowMs());
  }

  /** Barks no more and holds no timer. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAtMs = Infinity;
    this.#deadlineAtMs = Infinity;
  }

  #arm(atMs: number, nowMs: number): void {
    this.#timerAtMs = atMs;
    this.#timer = this.#clock.setTimer(Math.max(0, atMs - nowMs), this.#onTimer);
    // A busy socket holds the process by itself; an idle one must not.
    this.#timer.unref();
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined;
    this.#timerAtMs = Infinity;
    const nowMs = this.#clock.nowMs();
    if (this.#deadlineAtMs > nowMs) {
      if (this.#deadlineAtMs !== Infinity) this.#arm(this.#deadlineAtMs, nowMs);
      return;
    }
    this.#deadlineAtMs = Infinity;
    this.#onDeadline(nowMs);
  };
}
