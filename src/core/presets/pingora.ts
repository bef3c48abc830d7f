import { createRetryPolicy } from '../retry-policy.ts';
import type { Preset } from './preset.ts';

/**
 * The Pingora proxy's model: a fail-safe of 16 attempts, no wait between them, no budget. By itself it repeats only
 * what died on a reused connection; a failure to connect is repeated when the `failToConnect` hook says so.
 *
 * Free of: attempts counted as retries (0 attempts and an empty reply), a POST sent twice after a stale connection,
 * and refused HTTP/2 streams withheld from non-idempotent methods although nothing was processed.
 */
export const PINGORA_PRESET: Preset = {
  retry: createRetryPolicy({
    maxRetries: 15,
    on: ['rejected', 'stale'],
    curve: 'fixed',
    backoffMs: 0,
    maxBackoffMs: 0,
    jitter: 'none',
    ownership: 'off',
  }),
  budget: { kind: 'none' },
};
