/** The five safety classes of a failed attempt. Filled in `classify.ts`'s company; see docs/retries.md. */
export type SafetyClass = 'unsent' | 'rejected' | 'stale' | 'ambiguous' | 'answered';
