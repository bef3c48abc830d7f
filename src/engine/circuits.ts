import type { BreakerState, CircuitBreaker, CircuitBreakerOptions, CircuitPass } from '../core/circuit-breaker.ts';
import { createCircuitBreaker } from '../core/circuit-breaker.ts';
import type { Verdict } from '../core/verdict.ts';

/** Operations are names of routes; a host that makes them of something else must not be able to fill the memory. */
const MAX_OPERATIONS = 1024;

/** The circuits of an upstream, one an operation: an operation that fails must not close the way to those that work. */
export interface Circuits {
  /** The same for all of them. */
  readonly options: CircuitBreakerOptions;
  /** The circuit of an operation; made at its first use. */
  of(operation: string): CircuitBreaker;
  /** For people: those that exist. */
  states(nowMs: number): readonly { readonly operation: string; readonly state: BreakerState }[];
}

export type OnBreakerChange = (operation: string, from: BreakerState, to: BreakerState) => void;

/** @throws RangeError when an option is out of its range */
export function createCircuits(options: CircuitBreakerOptions, onChange: OnBreakerChange): Circuits {
  const circuits = new Map<string, CircuitBreaker>();
  // The first request would be too late to find out that the options are wrong.
  createCircuitBreaker(options);
  return {
    options,
    of(operation) {
      const known = circuits.get(operation);
      if (known !== undefined) return known;
      const oldest = circuits.size >= MAX_OPERATIONS ? circuits.keys().next().value : undefined;
      if (oldest !== undefined) circuits.delete(oldest);
      const circuit = new ToldBreaker(createCircuitBreaker(options), (from, to) => onChange(operation, from, to));
      circuits.set(operation, circuit);
      return circuit;
    },
    states: (nowMs) => [...circuits].map(([operation, circuit]) => ({ operation, state: circuit.state(nowMs) })),
  };
}

/** Tells each change of state, when something that happens makes it. */
class ToldBreaker implements CircuitBreaker {
  readonly #breaker: CircuitBreaker;
  readonly #onChange: (from: BreakerState, to: BreakerState) => void;
  #told: BreakerState = 'closed';

  constructor(breaker: CircuitBreaker, onChange: (from: BreakerState, to: BreakerState) => void) {
    this.#breaker = breaker;
    this.#onChange = onChange;
  }

  state(nowMs: number): BreakerState {
    return this.#breaker.state(nowMs);
  }

  admits(nowMs: number): boolean {
    return this.#breaker.admits(nowMs);
  }

  tryPass(nowMs: number): CircuitPass {
    const pass = this.#breaker.tryPass(nowMs);
    this.#tell(nowMs);
    return pass;
  }

  record(pass: CircuitPass, verdict: Verdict, nowMs: number): void {
    this.#breaker.record(pass, verdict, nowMs);
    this.#tell(nowMs);
  }

  isProbe(pass: CircuitPass): boolean {
    return this.#breaker.isProbe(pass);
  }

  waitMs(nowMs: number): number {
    return this.#breaker.waitMs(nowMs);
  }

  #tell(nowMs: number): void {
    const state = this.#breaker.state(nowMs);
    if (state === this.#told) return;
    const from = this.#told;
    this.#told = state;
    this.#onChange(from, state);
  }
}
