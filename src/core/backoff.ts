import { clampDelayMs } from './deadline.ts';
import type { BackoffPolicy } from './retry-policy.ts';

/**
 * The wait before a retry in milliseconds, ≥ 0 and ≤ `maxMs`.
 *
 * @param retryIndex 0 for the first retry, 1 for the second, …
 * @param random uniform in [0, 1); anything else counts as 1, the longest wait
 * @param previousDelayMs the delay of the retry before, for `decorrelated`; 0 before the first
 */
export function backoffDelayMs(policy: BackoffPolicy, retryIndex: number, random: number, previousDelayMs = 0): number {
  const share = random >= 0 && random < 1 ? random : 1;
  if (policy.jitter === 'decorrelated') {
    const highest = Math.max(policy.baseMs, previousDelayMs * 3);
    return clampDelayMs(Math.min(policy.maxMs, policy.baseMs + share * (highest - policy.baseMs)));
  }
  const delayMs = clampDelayMs(curveDelayMs(policy, retryIndex));
  switch (policy.jitter) {
    case 'none':
      return delayMs;
    case 'equal':
      return delayMs / 2 + (share * delayMs) / 2;
    case 'full':
      return share * delayMs;
  }
}

/** Compares the factor with the room left before it multiplies, so that a large retry index can never overflow. */
function curveDelayMs({ curve, baseMs, maxMs }: BackoffPolicy, retryIndex: number): number {
  if (curve === 'fixed') return Math.min(baseMs, maxMs);
  const factor = curve === 'linear' ? retryIndex + 1 : 2 ** Math.min(retryIndex, 31);
  return factor >= maxMs / baseMs ? maxMs : baseMs * factor;
}
