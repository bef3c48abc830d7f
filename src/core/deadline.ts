/** Longest delay a timer can hold: 2³¹−1 ms, about 24.8 days. One more and `setTimeout` fires at once. */
export const MAX_DELAY_MS = 2_147_483_647;

/** Milliseconds left until an instant, never negative and never NaN: what cannot be computed counts as over. */
export function remainingMs(deadlineAtMs: number, nowMs: number): number {
  const rest = deadlineAtMs - nowMs;
  return rest > 0 ? rest : 0;
}

/** The instant `timeoutMs` from now; 0 (switched off) and Infinity mean no deadline. */
export function deadlineAt(timeoutMs: number, nowMs: number): number {
  return timeoutMs > 0 ? nowMs + timeoutMs : Infinity;
}

/**
 * How long one attempt may take: its own timeout or what is left of the whole request, whichever is less.
 * `attemptMs` 0 switches the attempt's own timeout off. Infinity when neither bounds it.
 */
export function attemptTimeoutMs(attemptMs: number, deadlineAtMs: number, nowMs: number): number {
  const rest = remainingMs(deadlineAtMs, nowMs);
  return attemptMs > 0 && attemptMs < rest ? attemptMs : rest;
}

/** Makes any number a delay a timer can hold: NaN and negatives become 0, the rest is cut at 2³¹−1. */
export function clampDelayMs(delayMs: number): number {
  return delayMs > 0 ? Math.min(delayMs, MAX_DELAY_MS) : 0;
}
