/** Steps a doubling: a step is 2.2 % wide. */
const STEPS = 32;
/** The shortest time that is told apart, in milliseconds. */
const FLOOR_MS = 0.001;
const STEP_COUNT = 44 * STEPS;

/** Percentiles of latencies, each at most 1.1 % wrong, from one nanosecond to weeks in 11 KiB. */
export class LatencyHistogram {
  count = 0;
  readonly #counts = new Float64Array(STEP_COUNT);
  #sumMs = 0;

  record(ms: number): void {
    this.count += 1;
    this.#sumMs += ms;
    const step = ms <= FLOOR_MS ? 0 : Math.min(STEP_COUNT - 1, Math.ceil(Math.log2(ms / FLOOR_MS) * STEPS));
    this.#counts[step] = this.#counts[step]! + 1;
  }

  /** NaN when nothing was recorded. */
  get meanMs(): number {
    return this.#sumMs / this.count;
  }

  /** @param share 0–1; 0.99 is the 99th percentile. NaN when nothing was recorded */
  percentileMs(share: number): number {
    if (this.count === 0) return Number.NaN;
    const wanted = Math.max(1, Math.ceil(share * this.count));
    let seen = 0;
    let step = 0;
    for (; step < STEP_COUNT - 1; step += 1) {
      seen += this.#counts[step]!;
      if (seen >= wanted) break;
    }
    return step === 0 ? 0 : FLOOR_MS * 2 ** ((step - 0.5) / STEPS);
  }
}
