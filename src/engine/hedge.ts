import type { StopReason } from '../core/decision.ts';
import type { HedgePolicy } from '../core/hedging.ts';
import type { Timer } from '../transport/clock.ts';
import type { Launcher } from './launcher.ts';
import type { RunRequestOptions } from './request-run.ts';
import type { RunEnding } from './run-ending.ts';

/** Sends a copy of a request when its attempts have gone without a response head for the policy's delay. */
export class Hedge {
  /** Why the latest copy that was due was not sent. */
  refused: StopReason | undefined;

  readonly #policy: HedgePolicy;
  readonly #options: RunRequestOptions;
  readonly #launcher: Launcher;
  readonly #ending: RunEnding;
  #timer: Timer | undefined;

  constructor(policy: HedgePolicy, options: RunRequestOptions, launcher: Launcher, ending: RunEnding) {
    this.#policy = policy;
    this.#options = options;
    this.#launcher = launcher;
    this.#ending = ending;
  }

  /** An attempt is sent: counts from now. */
  arm(): void {
    this.cancel();
    // A coarse timer: it is set for every request, and fires for few.
    this.#timer = this.#options.clock.setTimer(this.#policy.delayMs, () => this.#due());
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** A copy that was granted will not be sent. */
  giveBack(reason: StopReason | undefined): void {
    this.refused = reason;
    this.#launcher.session?.hedgeNotSent(this.#options.clock.nowMs());
  }

  /** Whether there is still something to send a copy of. */
  get isWanted(): boolean {
    return !this.#ending.ended && !this.#ending.delivering && this.#launcher.flight.isAirborne;
  }

  #due(): void {
    const { body, clock } = this.#options;
    const { session, flight } = this.#launcher;
    const [slow] = flight.running;
    if (!this.isWanted || session === undefined || slow === undefined) return;
    const copy = body?.copy();
    const isBodyHere = body === undefined || copy !== undefined;
    const nowMs = clock.nowMs();
    // It runs beside the others: none of their permits comes back first.
    const at = this.#launcher.circumstances(slow.upstream, 0, nowMs);
    this.refused = session.hedge(this.#policy, at, isBodyHere, nowMs);
    if (this.refused !== undefined) return;
    const { delayMs: afterMs, sameEndpoint: anywhere = false } = this.#policy;
    this.#launcher.launch({ type: 'copy', afterMs, body: copy, anywhere });
  }
}
