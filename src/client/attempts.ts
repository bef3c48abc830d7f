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

/** What carries the report of its request: a `context` of our own making, or the report itself. */
export abstract class ReportingContext {
  abstract toReport(): RequestReport;

  /** The figures of a report are no properties of its own: in a log it would be `{}`. */
  toJSON(): object {
    const { attempts, reason, retryCount, waitedMs, hedgeRefused } = this.toReport();
    const refusal = hedgeRefused === undefined ? {} : { hedgeRefused };
    return { attempts, reason, retryCount, waitedMs, ...refusal };
  }
}

// By this name Node's `inspect`, and with it `console.log`, asks a value what to show.
Object.defineProperty(ReportingContext.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value(this: ReportingContext): object {
    return this.toJSON();
  },
});

/**
 * Nothing is written onto a response: it is not ours, and it may be frozen, cloned or compared. An entry costs more than
 * anything else that is done for a request, so contexts of our own have none.
 */
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
  return reportOf(response) ?? ('context' in response ? reportOf(response.context) : undefined);
}

function reportOf(holder: unknown): RequestReport | undefined {
  if (typeof holder !== 'object' || holder === null) return undefined;
  return holder instanceof ReportingContext ? holder.toReport() : reports.get(holder);
}
