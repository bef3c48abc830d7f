import { parseHttpDate } from './http-date.ts';

/**
 * Reads a `Retry-After` value (RFC 9110 §10.2.3).
 *
 * A date is compared with the response's own `Date`, so that a server whose clock is wrong still gets the wait it meant.
 *
 * @param date the response's `Date` value; when it is missing or unreadable, `wallNowMs` takes its place
 * @param wallNowMs our wall clock, milliseconds since the epoch
 * @returns the wait in milliseconds, an integer ≥ 0 (0 for a date in the past, at most 2⁵³−1), or `undefined` for what
 *   is neither a number of seconds nor an HTTP-date
 */
export function parseRetryAfter(value: string, date: string | undefined, wallNowMs: number): number | undefined {
  const seconds = parseDigits(value);
  if (seconds !== undefined) return Math.min(seconds * 1000, Number.MAX_SAFE_INTEGER);
  const instant = parseHttpDate(value, wallNowMs);
  if (instant === undefined) return undefined;
  const serverNowMs = (date === undefined ? undefined : parseHttpDate(date, wallNowMs)) ?? wallNowMs;
  return Math.max(0, Math.ceil(instant - serverNowMs));
}

/**
 * Reads gRPC's `grpc-retry-pushback-ms` (gRPC proposal A6).
 *
 * @returns the wait in milliseconds, or `'never'`: a negative or malformed value asks for no retry at all
 */
export function parseRetryPushback(value: string): number | 'never' {
  const delayMs = parseDigits(value);
  return delayMs === undefined ? 'never' : Math.min(delayMs, Number.MAX_SAFE_INTEGER);
}

/** Digits only: `Number` alone would take `1e3`, `0x10`, `1.5`, `-1` and the empty text. */
function parseDigits(value: string): number | undefined {
  return /^[0-9]+$/.test(value) ? Number(value) : undefined;
}
