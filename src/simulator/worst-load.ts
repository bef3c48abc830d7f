/** Shorter than this, and of fewer arrivals, a peak is the scatter of arrivals: every run has one. */
const MIN_STRETCH_MS = 5000;
const MIN_BASELINE_COUNT = 100;

/**
 * Arrivals ÷ baseline in the worst stretch of whole intervals that is long enough to mean something; `undefined` when no
 * stretch is.
 * @param baseline arrivals when nothing fails, by interval
 */
export function worstLoad(
  arrived: readonly number[],
  baseline: readonly number[],
  intervalMs: number,
): number | undefined {
  const width = Math.ceil(MIN_STRETCH_MS / intervalMs);
  let worst: number | undefined;
  let first = 0;
  let count = 0;
  let usual = 0;
  for (const [last, arrivals] of arrived.entries()) {
    count += arrivals;
    usual += baseline[last]!;
    // The shortest stretch that ends here: what can be spared at its beginning is left out.
    while (last - first + 1 > width && usual - baseline[first]! >= MIN_BASELINE_COUNT) {
      count -= arrived[first]!;
      usual -= baseline[first]!;
      first += 1;
    }
    if (last - first + 1 < width || usual < MIN_BASELINE_COUNT) continue;
    worst = Math.max(worst ?? 0, count / usual);
  }
  return worst;
}

/** 1 where nothing was to come and nothing came. */
export function loadOf(count: number, baselineCount: number): number {
  return baselineCount > 0 ? count / baselineCount : 1;
}
