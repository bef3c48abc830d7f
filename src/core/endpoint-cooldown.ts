/** First pause after a failure to connect, in milliseconds; each further one doubles it. */
const BASE_MS = 100;
const MAX_MS = 10_000;

/**
 * Keeps requests away from an endpoint that could not be connected to. Without it a dead endpoint keeps its share of
 * first attempts, each of which costs a retry, until the budget is gone and requests fail although others are healthy.
 *
 * It pauses for 100 ms, 200 ms, … 10 s, and one attempt at a time probes it in between: a connection that is
 * established ends the pause at once. It is a preference, never a verdict: when every endpoint pauses, all are used.
 */
export interface EndpointCooldown {
  /** The endpoint should not be chosen now. */
  pauses(nowMs: number): boolean;
  /** Milliseconds that it still pauses; 0 when it does not. */
  pausedForMs(nowMs: number): number;
  /** An attempt goes there: while its fate is open, no second one probes. */
  chosen(nowMs: number): void;
  /** It could not be connected to. */
  failed(nowMs: number): void;
  /** A connection was established. */
  connected(): void;
}

export function createEndpointCooldown(): EndpointCooldown {
  return new DoublingCooldown();
}

class DoublingCooldown implements EndpointCooldown {
  #failureCount = 0;
  #untilMs = 0;
  #probing = false;

  pauses(nowMs: number): boolean {
    return this.#failureCount > 0 && nowMs < this.#untilMs;
  }

  pausedForMs(nowMs: number): number {
    return this.pauses(nowMs) ? this.#untilMs - nowMs : 0;
  }

  chosen(nowMs: number): void {
    if (this.#failureCount === 0 || this.pauses(nowMs)) return;
    this.#probing = true;
    this.#pause(nowMs);
  }

  failed(nowMs: number): void {
    // Attempts that were under way when the first one failed are the same outage, not further evidence.
    if (this.#failureCount > 0 && !this.#probing) return;
    this.#probing = false;
    this.#failureCount += 1;
    this.#pause(nowMs);
  }

  connected(): void {
    this.#failureCount = 0;
    this.#probing = false;
  }

  #pause(nowMs: number): void {
    // 2 ** 7 steps of 100 ms are beyond the ceiling: a larger exponent could only overflow.
    this.#untilMs = nowMs + Math.min(MAX_MS, BASE_MS * 2 ** Math.min(this.#failureCount - 1, 7));
  }
}
