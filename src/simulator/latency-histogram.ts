/** Steps a doubling, a power of two: a step is at most 3.1 % wide. */
const STEPS = 32;
const STEP_BITS = 5;
/** Up to here a time in microseconds is a whole number of 31 bits; longer times are counted in a thousandth of the steps. */
const FINE_MS = 2_000_000;
const COARSE_BITS = 10;
const STEP_COUNT = 44 * STEPS;

/**
 * Percentiles of latencies, each at most 1.6 % wrong, from 32 µs to weeks; below that within a microsecond. No logarithm:
 * the steps of a doubling are the leading bits of the time in microseconds.
 */
export class LatencyHistogram {
  count = 0;
  readonly #counts = new Uint32Array(STEP_COUNT);
  #sumMs = 0;

  record(ms: number): void {
    this.count += 1;
    this.#sumMs += ms;
    const step = ms < FINE_MS ? stepOf((ms * 1000) | 0) : stepOf((ms * 1000) / 2 ** COARSE_BITS) + COARSE_BITS * STEPS;
    this.#counts[step] = this.#counts[step]! + 1;
  }

  /** Takes over what another one has recorded. */
  add(other: LatencyHistogram): void {
    this.count += other.count;
    this.#sumMs += other.#sumMs;
    for (const [step, count] of other.#counts.entries())
      if (count > 0) this.#counts[step] = this.#counts[step]! + count;
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
    return middleOf(step) / 1000;
  }
}

/** Below one doubling each microsecond is a step. */
function stepOf(micros: number): number {
  const whole = micros | 0;
  if (whole < STEPS) return whole;
  const shift = 31 - STEP_BITS - Math.clz32(whole);
  return shift * STEPS + (whole >>> shift);
}

/** The middle of a step in microseconds. */
function middleOf(step: number): number {
  if (step < STEPS) return step;
  const shift = Math.floor(step / STEPS) - 1;
  return ((step % STEPS) + STEPS + 0.5) * 2 ** shift;
}
