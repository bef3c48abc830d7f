import type { StopReason } from '../core/decision.ts';
import type { Failure } from '../core/failure.ts';
import type { ResponseHead } from '../http1/message.ts';
import { ask } from './ask.ts';
import type { AttemptRun } from './attempt-run.ts';
import type { KeptResponse } from './kept-response.ts';
import type { RunHost } from './run-host.ts';
import type { Upstream } from './upstream.ts';

/** The end of a run: one last word to the host, and only one. */
export class RunEnding {
  reason: StopReason | undefined;
  /** Nothing follows. */
  ended = false;
  /** The head of a response went to the host: only the deliverer may speak from here on. */
  delivering = false;
  /** The response of the latest attempt that was retried, or beside which a copy runs. */
  kept: KeptResponse | undefined;

  readonly #host: RunHost;
  readonly #stopTimers: () => void;
  readonly #hookFailed: (error: unknown) => void;

  constructor(host: RunHost, stopTimers: () => void, hookFailed: (error: unknown) => void) {
    this.#host = host;
    this.#stopTimers = stopTimers;
    this.#hookFailed = hookFailed;
  }

  finish(reason: StopReason): void {
    this.ended = true;
    this.reason ??= reason;
    this.#stopTimers();
  }

  /** What was a success by its head is not followed by another attempt because it was passed on, and that is no success. */
  breakOff(): void {
    this.finish('committed');
    if (this.reason === 'success') this.reason = 'committed';
  }

  deliver(attempt: AttemptRun, head: ResponseHead, reason: StopReason): void {
    this.#beginDelivery(reason);
    attempt.deliver(head);
  }

  /** No response to deliver from the last attempt: an earlier one, if there is any, or the failure. */
  giveUp(failure: Failure, reason: StopReason, upstream: Upstream | undefined): void {
    if (refusesWith503(reason, upstream)) return this.refuse(reason);
    if (this.kept?.complete === true) return this.#deliverKept(this.kept, reason);
    this.fail(failure, reason);
  }

  refuse(reason: StopReason): void {
    this.finish(reason);
    this.#host.onRefused(reason);
  }

  fail(failure: Failure, reason: StopReason): void {
    this.finish(reason);
    this.#host.onFailed(failure, reason);
  }

  #deliverKept(kept: KeptResponse, reason: StopReason): void {
    this.#beginDelivery(reason);
    ask(
      () => this.#host.onResponse(kept.head),
      () => {
        if (this.ended) return;
        for (const chunk of kept.chunks) this.#host.onData(chunk);
        this.finish(reason);
        this.#host.onComplete(kept.trailers);
      },
      this.#hookFailed,
    );
  }

  #beginDelivery(reason: StopReason): void {
    this.reason = reason;
    this.#stopTimers();
    this.delivering = true;
  }
}

/** Whether the upstream wants a 503 in place of the original outcome when it refuses a retry. */
export function refusesWith503(reason: StopReason, upstream: Upstream | undefined): boolean {
  if (reason === 'budget-exhausted') return upstream?.onBudgetExhausted === '503';
  return reason === 'circuit-open' && upstream?.onOverflow === '503';
}
