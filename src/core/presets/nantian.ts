import { createRetryPolicy } from '../retry-policy.ts';
import type { Preset } from './preset.ts';

const CODES: readonly number[] = [500, 502, 503, 504];

/**
 * The Nantian gateway's documented route policy: four codes, three retries, a fixed wait of half a second before each,
 * bounded by a budget.
 *
 * Free of: `attempts: 0` meaning a default number of retries, and a retry budget of 0 % that grants some.
 */
export const NANTIAN_PRESET: Preset = {
  retry: createRetryPolicy({
    maxRetries: 3,
    codes: CODES,
    curve: 'fixed',
    backoffMs: 500,
    maxBackoffMs: 500,
    jitter: 'none',
    ownership: 'off',
  }),
  budget: { kind: 'ratio' },
};

/** The same gateway on a route without a policy: failures to connect only, at once, on another endpoint. */
export const NANTIAN_TRANSPORT_PRESET: Preset = {
  retry: createRetryPolicy({
    maxRetries: 1,
    curve: 'fixed',
    backoffMs: 0,
    maxBackoffMs: 0,
    jitter: 'none',
    ownership: 'off',
  }),
  budget: { kind: 'ratio' },
};
