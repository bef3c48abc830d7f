import type { StopReason } from '../core/decision.ts';
import type { AttemptRecord } from '../engine/attempt-record.ts';
import { ReportingContext } from './attempts.ts';
import type { RequestReport } from './attempts.ts';

/** The report of a call that took several requests, one for each redirect. */
export class CallReport extends ReportingContext implements RequestReport {
  readonly #hops: RequestReport[] = [];

  add(hop: RequestReport): void {
    this.#hops.push(hop);
  }

  toReport(): RequestReport {
    return this;
  }

  get attempts(): readonly AttemptRecord[] {
    const [only] = this.#hops;
    return this.#hops.length === 1 && only !== undefined ? only.attempts : this.#hops.flatMap((hop) => hop.attempts);
  }

  /** Of the last one. */
  get reason(): StopReason | undefined {
    return this.#hops.at(-1)?.reason;
  }

  get retryCount(): number {
    return this.#hops.reduce((sum, hop) => sum + hop.retryCount, 0);
  }

  get waitedMs(): number {
    return this.#hops.reduce((sum, hop) => sum + hop.waitedMs, 0);
  }

  get hedgeRefused(): StopReason | undefined {
    return this.#hops.at(-1)?.hedgeRefused;
  }
}
