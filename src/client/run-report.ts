import type { StopReason } from '../core/decision.ts';
import type { AttemptRecord } from '../engine/attempt-record.ts';
import type { RequestRun } from '../engine/request-run.ts';
import type { RequestReport } from './attempts.ts';

const NONE: readonly AttemptRecord[] = [];

/** The report of one run: live while it goes on, and its figures alone afterwards, so that no response holds on to a run. */
export class RunReport implements RequestReport {
  #source: RequestReport = { attempts: NONE, reason: undefined, retryCount: 0, waitedMs: 0 };

  begin(run: RequestRun): void {
    this.#source = run;
  }

  end(): void {
    const { attempts, reason, retryCount, waitedMs, hedgeRefused } = this.#source;
    this.#source = { attempts, reason, retryCount, waitedMs, hedgeRefused };
  }

  get attempts(): readonly AttemptRecord[] {
    return this.#source.attempts;
  }

  get reason(): StopReason | undefined {
    return this.#source.reason;
  }

  get retryCount(): number {
    return this.#source.retryCount;
  }

  get waitedMs(): number {
    return this.#source.waitedMs;
  }

  get hedgeRefused(): StopReason | undefined {
    return this.#source.hedgeRefused;
  }
}
