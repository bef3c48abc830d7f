import { nodeLibraryNames, type TargetName } from '../targets/target.ts';
import type { Slice } from './measure.ts';
import { median, quantile } from './quantile.ts';

/** What of a slice is compared; less is better. */
export type Metric = 'cpuMicros' | 'p50Micros' | 'p99Micros';

/** Ratios taken within each round: the median, and the quartiles that tell how far to trust it. */
export interface Comparison {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * A target against a reference, round by round, without the rounds in which one of them failed requests: an error page
 * costs less than an answer. Undefined when no round is left.
 */
export function compare(
  slices: readonly Slice[],
  metric: Metric,
  target: TargetName,
  reference: TargetName | undefined,
): Comparison | undefined {
  const ratios: number[] = [];
  for (const slice of slices) {
    if (slice.target !== target || slice.faultCount > 0) continue;
    const other = slices.find((candidate) => candidate.target === reference && candidate.round === slice.round);
    if (other !== undefined && other.faultCount === 0) ratios.push(slice[metric] / other[metric]);
  }
  if (ratios.length === 0) return undefined;
  return { median: median(ratios), low: quantile(ratios, 0.25), high: quantile(ratios, 0.75) };
}

/** The Node library with the lowest median CPU a request. */
export function findBestNodeLibrary(slices: readonly Slice[]): TargetName | undefined {
  const costs = nodeLibraryNames
    .map((name) => ({
      name,
      micros: median(slices.filter((slice) => slice.target === name).map((slice) => slice.cpuMicros)),
    }))
    .filter(({ micros }) => !Number.isNaN(micros));
  return costs.sort((a, b) => a.micros - b.micros)[0]?.name;
}
