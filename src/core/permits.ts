/** Bounds the attempts of one upstream that are in flight at the same time. */
export interface Permits {
  /** Attempts in flight. */
  readonly inflight: number;
  readonly limit: number;
  /** Takes a permit if there is one. Every `true` needs exactly one `release`. */
  tryAcquire(): boolean;
  /**
   * Gives a permit back when the attempt's response has ended; before a retry asks for its own, or a request would
   * need two. Never goes below none in flight: a double release must not raise the limit.
   */
  release(): void;
}

/**
 * @param maxInflightRequests whole number ≥ 1, or Infinity for no limit
 * @param sharedWith Permits whose attempts in flight count here too, and the other way round: a limit that is changed
 *   under load must not admit a second helping.
 * @throws RangeError for anything else
 */
export function createPermits(maxInflightRequests: number, sharedWith?: Permits): Permits {
  const valid = maxInflightRequests === Infinity || Number.isInteger(maxInflightRequests);
  if (!valid || maxInflightRequests < 1) {
    throw new RangeError(
      `circuit breaker: maxInflightRequests is ${String(maxInflightRequests)}; give a whole number from 1, or Infinity for no limit`,
    );
  }
  return new CountedPermits(maxInflightRequests, sharedWith instanceof CountedPermits ? sharedWith : undefined);
}

class CountedPermits implements Permits {
  readonly limit: number;
  readonly #counter: { inflight: number };

  constructor(limit: number, sharedWith: CountedPermits | undefined) {
    this.limit = limit;
    this.#counter = sharedWith === undefined ? { inflight: 0 } : sharedWith.#counter;
  }

  get inflight(): number {
    return this.#counter.inflight;
  }

  tryAcquire(): boolean {
    if (this.#counter.inflight >= this.limit) return false;
    this.#counter.inflight += 1;
    return true;
  }

  release(): void {
    if (this.#counter.inflight > 0) this.#counter.inflight -= 1;
  }
}
