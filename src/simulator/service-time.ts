import type { Random } from './random.ts';

/** How long an operation's own work takes, without queueing and calls. Milliseconds, ≥ 0. */
export type ServiceTime =
  | { readonly kind: 'constant'; readonly ms: number }
  | { readonly kind: 'exponential'; readonly meanMs: number }
  /** `p50Ms` > 0, `p99Ms` ≥ `p50Ms`. */
  | { readonly kind: 'lognormal'; readonly p50Ms: number; readonly p99Ms: number };

/** The 99th percentile of the standard normal distribution. */
const NORMAL_P99 = 2.3263478740408408;

export function drawServiceTimeMs(time: ServiceTime, random: Random): number {
  switch (time.kind) {
    case 'constant':
      return time.ms;
    case 'exponential':
      return time.meanMs * random.exponential();
    case 'lognormal':
      return time.p50Ms * (time.p99Ms / time.p50Ms) ** (random.normal() / NORMAL_P99);
  }
}

export function meanServiceTimeMs(time: ServiceTime): number {
  switch (time.kind) {
    case 'constant':
      return time.ms;
    case 'exponential':
      return time.meanMs;
    case 'lognormal': {
      const sigma = Math.log(time.p99Ms / time.p50Ms) / NORMAL_P99;
      return time.p50Ms * Math.exp((sigma * sigma) / 2);
    }
  }
}
