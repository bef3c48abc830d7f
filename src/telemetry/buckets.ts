/** Upper bounds of the duration histograms in seconds: from a request in memory to the longest sensible deadline. */
export const DURATION_BOUNDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

/** A histogram's counts, one a bucket and not cumulative: an observation costs one increment, the scrape does the sum. */
export class Buckets {
  /** The last one is what lies above every bound. */
  readonly counts: number[] = Array.from({ length: DURATION_BOUNDS.length + 1 }, () => 0);
  sumSeconds = 0;

  observeMs(durationMs: number): void {
    const seconds = durationMs / 1000;
    let index = 0;
    while (index < DURATION_BOUNDS.length && seconds > (DURATION_BOUNDS[index] as number)) index += 1;
    this.counts[index] = (this.counts[index] as number) + 1;
    this.sumSeconds += seconds;
  }
}
