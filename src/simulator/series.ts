/** How often something happened, in each interval of virtual time. */
export class Series {
  total = 0;
  readonly counts: number[] = [];
  readonly #intervalMs: number;
  /** Of the interval being counted; times come in order. */
  #index = -1;
  #endMs = 0;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  add(nowMs: number): void {
    if (nowMs >= this.#endMs) this.#turn(nowMs);
    this.counts[this.#index] = this.counts[this.#index]! + 1;
    this.total += 1;
  }

  #turn(nowMs: number): void {
    this.#index = Math.floor(nowMs / this.#intervalMs);
    this.#endMs = (this.#index + 1) * this.#intervalMs;
    while (this.counts.length <= this.#index) this.counts.push(0);
  }

  /** Exactly so many intervals, with 0 where nothing happened. */
  read(intervalCount: number): number[] {
    return Array.from({ length: intervalCount }, (_, index) => this.counts[index] ?? 0);
  }
}

/** Intervals that people can read; at most some hundred of them in a run. */
const INTERVALS_MS = [100, 250, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 300_000, 600_000, 3_600_000, 86_400_000];
const MAX_INTERVAL_COUNT = 600;

export function intervalFor(durationMs: number): number {
  return INTERVALS_MS.find((intervalMs) => durationMs / intervalMs <= MAX_INTERVAL_COUNT) ?? 86_400_000;
}
