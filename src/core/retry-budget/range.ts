import type { MinRetryRate } from '../retry-budget.ts';

export const MIN_INTERVAL_MS = 1000;
export const MAX_INTERVAL_MS = 3_600_000;
export const DEFAULT_PERCENT = 20;
export const DEFAULT_INTERVAL_MS = 10_000;
export const DEFAULT_MIN_RETRY_RATE: MinRetryRate = Object.freeze({ count: 10, intervalMs: 1000 });
const MAX_RATE_COUNT = 1_000_000;

export interface Window {
  readonly percent: number;
  readonly intervalMs: number;
  readonly minRetryRate: MinRetryRate;
}

/** Fills in the defaults and checks the ranges. @throws RangeError naming the field */
export function validWindow(options: {
  readonly percent?: number | undefined;
  readonly intervalMs?: number | undefined;
  readonly minRetryRate?: MinRetryRate | undefined;
}): Window {
  const window: Window = {
    percent: options.percent ?? DEFAULT_PERCENT,
    intervalMs: options.intervalMs ?? DEFAULT_INTERVAL_MS,
    minRetryRate: options.minRetryRate ?? DEFAULT_MIN_RETRY_RATE,
  };
  requireInteger('percent', window.percent, 0, 100);
  requireInteger('intervalMs', window.intervalMs, MIN_INTERVAL_MS, MAX_INTERVAL_MS);
  requireInteger('minRetryRate.count', window.minRetryRate.count, 0, MAX_RATE_COUNT);
  requireInteger('minRetryRate.intervalMs', window.minRetryRate.intervalMs, MIN_INTERVAL_MS, MAX_INTERVAL_MS);
  return window;
}

/** @throws RangeError when `value` is not a whole number from `lowest` to `highest` */
export function requireInteger(field: string, value: number, lowest: number, highest: number): void {
  if (Number.isInteger(value) && value >= lowest && value <= highest) return;
  throw new RangeError(
    `retry budget: ${field} is ${String(value)}; give a whole number from ${String(lowest)} to ${String(highest)}`,
  );
}
