const PERIOD_MS = 60_000;

/** The largest of the numbers of the last one to two minutes. */
export class RecentPeak {
  #period = 0;
  #now = 0;
  #before = 0;

  /** @param nowMs Monotonic milliseconds. */
  add(value: number, nowMs: number): void {
    this.#turn(nowMs);
    if (value > this.#now) this.#now = value;
  }

  read(nowMs: number): number {
    this.#turn(nowMs);
    return Math.max(this.#now, this.#before);
  }

  #turn(nowMs: number): void {
    const period = Math.floor(nowMs / PERIOD_MS);
    if (period <= this.#period) return;
    this.#before = period === this.#period + 1 ? this.#now : 0;
    this.#now = 0;
    this.#period = period;
  }
}
