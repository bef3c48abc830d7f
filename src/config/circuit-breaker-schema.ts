import { z } from 'zod';
import { defaults } from './defaults.ts';
import type { FileCircuitBreaker } from './gateway-file.ts';
import { choice, count, positiveDuration, window } from './schema-parts.ts';

const { circuitBreaker: fallback } = defaults;

/**
 * Permits of an upstream, and its circuits. `consecutiveFailures` and `failurePercent` have no default: a circuit that opens
 * is something to ask for.
 */
export const circuitBreaker: z.ZodType<FileCircuitBreaker> = z.strictObject({
  maxInflightRequests: count('Attempts in flight to the upstream; a retry needs a place too.', 1, 1_000_000).prefault(
    fallback.maxInflightRequests,
  ),
  onOverflow: choice(
    "What a request gets whose retry finds no place, or an open circuit: `'503'`, or `original`, the last response.",
    ['503', 'original'],
  ).prefault(fallback.onOverflow),
  consecutiveFailures: count(
    'The circuit of a route opens after so many failed attempts in a row: not sent, reset, timed out, or answered with 5xx but 501 and 505. What the client causes (4xx, leaving) is not counted, nor our own limits, nor an error that is relayed.',
    1,
    1_000_000,
  ).optional(),
  failurePercent: count(
    'The circuit of a route opens when so many of 100 attempts within `window` failed, from `minRequests` on.',
    1,
    100,
  ).optional(),
  minRequests: count('Attempts within `window` below which `failurePercent` is not looked at.', 1, 1_000_000).prefault(
    fallback.minRequests,
  ),
  window: window('What `failurePercent` looks back on, 1s to 1h.').prefault(fallback.window),
  openFor: positiveDuration(
    'How long an open circuit lets nothing through: requests are answered 503, with Retry-After, at once. Doubles with each probe that fails.',
  ).prefault(fallback.openFor),
  maxOpenFor: positiveDuration('The longest of these times. Default: the larger of 1m and `openFor`.').optional(),
  halfOpenRequests: count(
    'Probes that are let through after `openFor`; when all of them are answered the circuit closes, when one fails it opens again.',
    1,
    1000,
  ).prefault(fallback.halfOpenRequests),
});
