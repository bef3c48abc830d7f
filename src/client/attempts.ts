import type { StopReason } from '../core/decision.ts';
import type { AttemptRecord } from '../engine/attempt-record.ts';

/** What became of a logical request: every attempt, the waits between them, and why there was not another one. */
export interface RequestReport {
  /** In the order in which they were sent; of a request that was redirected, those of all hops. */
  readonly attempts: readonly AttemptRecord[];
  /** Why nothing more was sent; `undefined` while that is open. */
  readonly reason: StopReason | undefined;
  /** Retries sent, the free one after a stale connection included, copies (hedges) not. */
  readonly retryCount: number;
  /** Milliseconds spent waiting between attempts, all together. */
  readonly waitedMs: number;
  /** Why the latest copy that was due was not sent. */
  readonly hedgeRefused?: StopReason | undefined;
}

/** Nothing is written onto a response: it is not ours, and it may be frozen, cloned or compared. */
const reports = new WeakMap<object, RequestReport>();

/** Remembers what became of the request that this response (or whatever a library gives for one) answers. */
export function rememberReport(response: object, report: RequestReport): void {
  reports.set(response, report);
}

/**
 * What became of the request behind a response. It takes a `Response` of `fetch`, what `undici.request` resolves to, or
 * what the factory of `undici.stream` gets (both by their `context`). `undefined` for one that did not come through this
 * package.
 */
export function attemptsOf(response: object): RequestReport | undefined {
  const own = reports.get(response);
  if (own !== undefined || !('context' in response)) return own;
  const { context } = response;
  return typeof context === 'object' && context !== null ? reports.get(context) : undefined;
}
