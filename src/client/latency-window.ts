/** Latest response times kept for one origin. */
const SAMPLE_COUNT = 256;
/** The order of the samples is found anew after this many new ones. */
const RESORT_COUNT = 16;

/** How long the latest responses of an origin took to begin, in milliseconds. */
export class LatencyWindow {
  readonly #samples = new Float64Array(SAMPLE_COUNT);
  #count = 0;
  #next = 0;
  #sorted: Float64Array | undefined;
  #sinceSorted = 0;

  get count(): number {
    return this.#count;
  }

  add(ms: number): void {
    this.#samples[this.#next] = ms;
    this.#next = (this.#next + 1) % SAMPLE_COUNT;
    if (this.#count < SAMPLE_COUNT) this.#count += 1;
    this.#sinceSorted += 1;
    if (this.#sinceSorted >= RESORT_COUNT) this.#sorted = undefined;
  }

  /** @returns the time within which `percent` of them began, 0–100; 0 when there is none */
  percentile(percent: number): number {
    if (this.#sorted === undefined) {
      this.#sorted = this.#samples.slice(0, this.#count).sort();
      this.#sinceSorted = 0;
    }
    const rank = Math.ceil((percent / 100) * this.#sorted.length) - 1;
    return this.#sorted[Math.max(0, rank)] ?? 0;
  }
}
