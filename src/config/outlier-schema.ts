import { z } from 'zod';
import { defaults } from './defaults.ts';
import type { FileOutlierDetection } from './gateway-file.ts';
import { count, positiveDuration, window } from './schema-parts.ts';

const { outlierDetection: fallback } = defaults;

/** When an endpoint is taken out of the choice, and for how long. */
export const outlierDetection: z.ZodType<FileOutlierDetection> = z.strictObject({
  consecutiveFailures: count(
    'Failed attempts in a row: not sent, reset, timed out, cut off, or answered with 502, 503 or 504. Default 5, unless `failurePercent` is given.',
    1,
    1_000_000,
  ).optional(),
  failurePercent: count(
    'Failed attempts of 100 within `window`, from `minRequests` on. Left out: not looked at.',
    1,
    100,
  ).optional(),
  minRequests: count(
    'Attempts at the endpoint within `window` below which `failurePercent` is not looked at.',
    1,
    1_000_000,
  ).prefault(fallback.minRequests),
  window: window('What `failurePercent` looks back on, 1s to 1h.').prefault(fallback.window),
  baseEjection: positiveDuration(
    'How long the first ejection lasts; the n-th in close succession lasts n times as long.',
  ).prefault(fallback.baseEjection),
  maxEjection: positiveDuration('The longest ejection. Default: the larger of 5m and `baseEjection`.').optional(),
  maxEjectionPercent: count(
    'Share of the endpoints that may be out at the same time; one may in any case, the last live one never. When all are out or unhealthy, all are used. 0: none is ejected.',
    0,
    100,
  ).prefault(fallback.maxEjectionPercent),
});
