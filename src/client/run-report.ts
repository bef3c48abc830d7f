import type { StopReason } from '../core/decision.ts';
import type { AttemptRecord } from '../engine/attempt-record.ts';
import type { RequestRun } from '../engine/request-run.ts';
import { ReportingContext } from './attempts.ts';
import type { RequestReport } from './attempts.ts';

const NONE: readonly AttemptRecord[] = [];

/**
 * The report of one run: live while it goes on, and its figures alone afterwards, so that no response holds on to a run. It is
 * the context of its request, too.
 */
export class RunReport extends ReportingContext implements RequestReport {
  #run: RequestRun | undefined;
  #attempts: readonly AttemptRecord[] = NONE;
  #reason: StopReason | undefined;
  #retryCount = 0;
  #waitedMs = 0;
  #hedgeRefused: StopReason | undefined;

  begin(run: RequestRun): void {
    this.#run = run;
  }

  end(): void {
    const run = this.#run;
    if (run === undefined) return;
    this.#run = undefined;
    this.#attempts = run.attempts;
    this.#reason = run.reason;
    this.#retryCount = run.retryCount;
    this.#waitedMs = run.waitedMs;
    this.#hedgeRefused = run.hedgeRefused;
  }

  toReport(): RequestReport {
    return this;
  }

  get attempts(): readonly AttemptRecord[] {
    return this.#run === undefined ? this.#attempts : this.#run.attempts;
  }

  get reason(): StopReason | undefined {
    return this.#run === undefined ? this.#reason : this.#run.reason;
  }

  get retryCount(): number {
    return this.#run === undefined ? this.#retryCount : this.#run.retryCount;
  }

  get waitedMs(): number {
    return this.#run === undefined ? this.#waitedMs : this.#run.waitedMs;
  }

  get hedgeRefused(): StopReason | undefined {
    return this.#run === undefined ? this.#hedgeRefused : this.#run.hedgeRefused;
  }
}
