import { SlidingSum } from '../core/sliding-sum.ts';
import { Tally } from './tally.ts';

/** The window of the amplification: short enough to show an outage in its first minute, long enough not to flicker. */
export const AMPLIFICATION_WINDOW_MS = 60_000;

/** How much more an upstream gets than its clients ask for. */
export class UpstreamMeter {
  readonly upstream: string;
  sendCount = 0;
  /** How often its circuits opened, by operation. */
  readonly opened: Tally = new Tally();
  readonly #sends = new SlidingSum(AMPLIFICATION_WINDOW_MS);
  readonly #requests = new SlidingSum(AMPLIFICATION_WINDOW_MS);

  constructor(upstream: string) {
    this.upstream = upstream;
  }

  requested(nowMs: number): void {
    this.#requests.add(1, nowMs);
  }

  /** An attempt of which the upstream may have seen a byte. */
  sent(nowMs: number): void {
    this.sendCount += 1;
    this.#sends.add(1, nowMs);
  }

  /** Sends per request of the last minute; NaN while there was none. */
  amplification(nowMs: number): number {
    return this.#sends.total(nowMs) / this.#requests.total(nowMs);
  }
}
