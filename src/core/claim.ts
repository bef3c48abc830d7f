/**
 * An error's ownership, as the callee states it to its caller.
 * - `owned`: no hop below used up a retry; the caller may retry.
 * - `relayed`: the retry opportunity was handled below; the caller must not retry.
 * Absent is treated as `owned` (seed 002).
 */
export type Claim = 'owned' | 'relayed';
