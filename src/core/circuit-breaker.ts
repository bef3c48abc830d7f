import {
  FailureThreshold,
  failureLimits,
  type FailureLimits,
  type FailureThresholdOptions,
} from './failure-threshold.ts';
import { requireWholeNumber } from './require-whole-number.ts';
import type { Verdict } from './verdict.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface CircuitBreakerOptions extends FailureThresholdOptions {
  /** How long nothing is let through after the circuit opened, in milliseconds, 1–3 600 000. Default 5000. */
  readonly openForMs?: number | undefined;
  /** Each probe that fails doubles that time, up to this. `openForMs`–3 600 000. Default: the larger of 60 000 and `openForMs`. */
  readonly maxOpenForMs?: number | undefined;
  /** Probes let through before the circuit closes, 1–1000. Default 1. */
  readonly halfOpenRequests?: number | undefined;
}

/** Names one admission: what `record` needs to tell which time it belongs to. −1: not admitted. */
export type CircuitPass = number;

/**
 * Stops sending to what keeps failing, and finds out carefully when it works again. One per upstream and operation.
 * It counts attempts, not requests: with three attempts each, a threshold of five is reached within two requests.
 *
 * Closed: everything passes. Open: nothing does, for `openForMs`. Half-open: exactly `halfOpenRequests` probes pass; when
 * all of them came back alive the circuit closes, and the first one that fails opens it again for twice as long.
 * All times are the host's monotonic milliseconds.
 */
export interface CircuitBreaker {
  state(nowMs: number): BreakerState;
  /** Whether `tryPass` would admit one; changes nothing. */
  admits(nowMs: number): boolean;
  /** Every pass of 0 or more needs exactly one `record`. */
  tryPass(nowMs: number): CircuitPass;
  /**
   * How the attempt with this pass ended. While the circuit is closed only `success` and `failure` count; a probe that is
   * `alive` closes it as well (it answered), and one with verdict `none` leaves its place to another.
   * Attempts admitted before the latest change of state say nothing about the time after it.
   */
  record(pass: CircuitPass, verdict: Verdict, nowMs: number): void;
  /** The pass belongs to a probe whose verdict is awaited. */
  isProbe(pass: CircuitPass): boolean;
  /** Milliseconds until another request could be let through; 0 when one could now. */
  waitMs(nowMs: number): number;
}

export const DEFAULT_OPEN_FOR_MS = 5_000;
export const DEFAULT_MAX_OPEN_FOR_MS = 60_000;
const LONGEST_MS = 3_600_000;

/** @throws RangeError when a number is out of its range, or neither `consecutiveFailures` nor `failurePercent` is given */
export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const owner = 'circuit breaker';
  if (options.consecutiveFailures === undefined && options.failurePercent === undefined) {
    throw new RangeError(`${owner}: it would never open; give consecutiveFailures or failurePercent`);
  }
  const openForMs = options.openForMs ?? DEFAULT_OPEN_FOR_MS;
  const maxOpenForMs = options.maxOpenForMs ?? Math.max(DEFAULT_MAX_OPEN_FOR_MS, openForMs);
  const probeCount = options.halfOpenRequests ?? 1;
  requireWholeNumber(owner, 'openForMs', openForMs, 1, LONGEST_MS);
  requireWholeNumber(owner, 'maxOpenForMs', maxOpenForMs, openForMs, LONGEST_MS);
  requireWholeNumber(owner, 'halfOpenRequests', probeCount, 1, 1000);
  return new Breaker(failureLimits(owner, options), openForMs, maxOpenForMs, probeCount);
}

class Breaker implements CircuitBreaker {
  readonly #threshold: FailureThreshold;
  readonly #baseMs: number;
  readonly #maxMs: number;
  readonly #probeCount: number;
  #state: BreakerState = 'closed';
  /** Grows with every change of state; a pass is its value at admission. */
  #era = 0;
  #openForMs: number;
  /** Open: the end of that. Half-open: when probes that have not come back are given up. */
  #untilMs = 0;
  #probesOut = 0;
  #probesAlive = 0;

  constructor(limits: FailureLimits, baseMs: number, maxMs: number, probeCount: number) {
    this.#threshold = new FailureThreshold(limits);
    this.#baseMs = baseMs;
    this.#openForMs = baseMs;
    this.#maxMs = maxMs;
    this.#probeCount = probeCount;
  }

  state(nowMs: number): BreakerState {
    return this.#state === 'open' && nowMs >= this.#untilMs ? 'half-open' : this.#state;
  }

  admits(nowMs: number): boolean {
    return this.#state === 'closed' || nowMs >= this.#untilMs || this.#hasProbe();
  }

  tryPass(nowMs: number): CircuitPass {
    if (this.#state === 'closed') return this.#era;
    if (!this.#hasProbe()) {
      if (nowMs < this.#untilMs) return -1;
      this.#beginRound();
    }
    this.#untilMs = nowMs + this.#openForMs;
    this.#probesOut += 1;
    return this.#era;
  }

  record(pass: CircuitPass, verdict: Verdict, nowMs: number): void {
    if (pass !== this.#era) return;
    if (this.#state === 'half-open') return this.#probeEnded(verdict, nowMs);
    if (verdict !== 'success' && verdict !== 'failure') return;
    if (this.#threshold.record(verdict === 'failure', nowMs)) this.#open(nowMs, this.#baseMs);
  }

  isProbe(pass: CircuitPass): boolean {
    return this.#state === 'half-open' && pass === this.#era;
  }

  waitMs(nowMs: number): number {
    return this.admits(nowMs) ? 0 : this.#untilMs - nowMs;
  }

  #hasProbe(): boolean {
    return this.#state === 'half-open' && this.#probesOut + this.#probesAlive < this.#probeCount;
  }

  #probeEnded(verdict: Verdict, nowMs: number): void {
    this.#probesOut -= 1;
    if (verdict === 'failure') return this.#open(nowMs, Math.min(this.#maxMs, 2 * this.#openForMs));
    if (verdict === 'none') return;
    this.#probesAlive += 1;
    if (this.#probesAlive === this.#probeCount) this.#close();
  }

  #open(nowMs: number, forMs: number): void {
    this.#state = 'open';
    this.#era += 1;
    this.#openForMs = forMs;
    this.#untilMs = nowMs + forMs;
  }

  /** The open time is over; or probes hang, which must not keep the circuit half-open for ever: what they find is ignored. */
  #beginRound(): void {
    if (this.#state === 'open') this.#probesAlive = 0;
    this.#state = 'half-open';
    this.#era += 1;
    this.#probesOut = 0;
  }

  #close(): void {
    this.#state = 'closed';
    this.#era += 1;
    this.#threshold.reset();
  }
}
