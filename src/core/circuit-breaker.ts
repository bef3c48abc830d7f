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
 * @throws RangeError for anything else
 */
export function createPermits(maxInflightRequests: number): Permits {
  const valid = maxInflightRequests === Infinity || Number.isInteger(maxInflightRequests);
  if (!valid || maxInflightRequests < 1) {
    throw new RangeError(
      `circuit breaker: maxInflightRequests is ${String(maxInflightRequests)}; give a whole number from 1, or Infinity for no limit`,
    );
  }
  return new CountedPermits(maxInflightRequests);
}

class CountedPermits implements Permits {
  inflight = 0;
  readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  tryAcquire(): boolean {
    if (this.inflight >= this.limit) return false;
    this.inflight += 1;
    return true;
  }

  release(): void {
    if (this.inflight > 0) this.inflight -= 1;
  }
}
