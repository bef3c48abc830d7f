import { requireWholeNumber } from '../require-whole-number.ts';
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
  requireWholeNumber('retry budget', 'percent', window.percent, 0, 100);
  requireWholeNumber('retry budget', 'intervalMs', window.intervalMs, MIN_INTERVAL_MS, MAX_INTERVAL_MS);
  requireWholeNumber('retry budget', 'minRetryRate.count', window.minRetryRate.count, 0, MAX_RATE_COUNT);
  requireWholeNumber(
    'retry budget',
    'minRetryRate.intervalMs',
    window.minRetryRate.intervalMs,
    MIN_INTERVAL_MS,
    MAX_INTERVAL_MS,
  );
  return window;
}
