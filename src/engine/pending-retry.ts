import type { RetryDecision, StopReason } from '../core/decision.ts';
import type { Clock, Timer } from '../transport/clock.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { Launcher } from './launcher.ts';

/** A retry that is decided and not yet sent: its wait, and its withdrawal from the budget. */
export class PendingRetry {
  /** Milliseconds waited for retries, all together. */
  waitedMs = 0;
  readonly #launcher: Launcher;
  readonly #clock: Clock;
  /** The host threw: its request ends. */
  readonly #failed: (error: unknown) => void;
  #decision: RetryDecision | undefined;
  #timer: Timer | undefined;

  constructor(launcher: Launcher, clock: Clock, failed: (error: unknown) => void) {
    this.#launcher = launcher;
    this.#clock = clock;
    this.#failed = failed;
  }

  /** @param attempt What is retried. */
  schedule(attempt: AttemptRecord, decision: RetryDecision): void {
    this.#decision = decision;
    try {
      this.#launcher.host.onRetry(attempt, decision.delayMs);
    } catch (error) {
      this.#failed(error);
    }
    // The host may have ended the request just now: a timer set here would be cancelled by nobody.
    if (this.#decision === undefined) return;
    if (decision.delayMs <= 0) return this.#waitOver();
    this.waitedMs += decision.delayMs;
    this.#timer = this.#clock.setTimer(decision.delayMs, () => this.#waitOver(), true);
  }

  /** It is on its way. */
  sent(): void {
    this.#decision = undefined;
  }

  /** It will not be sent. Without one that waits, it does nothing. */
  giveBack(reason: StopReason): void {
    this.#timer?.cancel();
    if (this.#decision === undefined) return;
    this.#decision = undefined;
    this.#launcher.session?.retryNotSent(this.#clock.nowMs(), reason);
  }

  #waitOver(): void {
    const decision = this.#decision;
    if (decision === undefined) return;
    // Responses put aside must have ended (or been given up) first: a connection of theirs may carry the retry, and
    // their permits are counted until then. That takes KEPT_RESPONSE_MS at the most.
    if (this.#launcher.flight.stillAside()?.whenKept(() => this.#waitOver()) === false) return;
    this.#launcher.launch({ type: 'retry', decision });
  }
}
