import type { ServiceTime } from '../service-time.ts';

/** The distribution that times of work are taken for; microseconds are the finest that a trace tells. */
export function serviceTimeOf(workMs: readonly number[]): ServiceTime {
  const sorted = workMs.toSorted((a, b) => a - b);
  const p50Ms = rounded(quantile(sorted, 0.5));
  const p99Ms = rounded(quantile(sorted, 0.99));
  return p50Ms > 0 && p99Ms > p50Ms ? { kind: 'lognormal', p50Ms, p99Ms } : { kind: 'constant', ms: p50Ms };
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
