import type { CircuitBreaker, CircuitPass } from '../core/circuit-breaker.ts';
import type { Failure } from '../core/failure.ts';
import type { Outcome, ResponseFacts } from '../core/outcome.ts';
import type { Verdict } from '../core/verdict.ts';
import { circuitVerdict, endpointVerdict } from '../core/verdict.ts';
import type { Endpoint } from './endpoint.ts';

/** Where outcomes of an endpoint's attempts are counted. */
export interface EndpointBook {
  /** Counts an outcome, and ejects the endpoint when that was one failure too many. */
  report(endpoint: Endpoint, failed: boolean, nowMs: number): void;
}

/** What the circuit of an operation let through. */
export interface Admitted {
  readonly circuit: CircuitBreaker;
  readonly pass: CircuitPass;
}

/**
 * Tells circuit breaker and outlier detection how one attempt ended: each of them exactly once, whatever happens, for a
 * probe that is never answered for would keep its place for ever.
 */
export class AttemptReport {
  readonly #book: EndpointBook;
  readonly #endpoint: Endpoint;
  #admitted: Admitted | undefined;
  #endpointOpen: boolean;

  constructor(book: EndpointBook, endpoint: Endpoint, admitted: Admitted | undefined) {
    this.#book = book;
    this.#endpoint = endpoint;
    this.#admitted = admitted;
    this.#endpointOpen = endpoint.outlier !== undefined;
  }

  /**
   * A response head. A success is told only when the body has ended, for it may still break; but a probe's place is not
   * held for as long as a download takes.
   */
  answered(response: ResponseFacts, nowMs: number): void {
    const outcome: Outcome = { type: 'response', response };
    const circuit = circuitVerdict(outcome);
    if (circuit !== 'success' || this.#isProbe()) this.#tellCircuit(circuit, nowMs);
    const endpoint = endpointVerdict(outcome);
    if (endpoint !== 'success') this.#tellEndpoint(endpoint, nowMs);
  }

  /** The body of a response arrived whole. */
  completed(nowMs: number): void {
    this.#tellCircuit('success', nowMs);
    this.#tellEndpoint('success', nowMs);
  }

  /** It died, before its response head or in the body. */
  failed(failure: Failure, nowMs: number): void {
    const outcome: Outcome = { type: 'failure', failure };
    this.#tellCircuit(circuitVerdict(outcome), nowMs);
    this.#tellEndpoint(endpointVerdict(outcome), nowMs);
  }

  /** It was given up from our side: no evidence, unless something was told before. */
  abandoned(nowMs: number): void {
    this.#tellCircuit('none', nowMs);
    this.#endpointOpen = false;
  }

  #isProbe(): boolean {
    return this.#admitted?.circuit.isProbe(this.#admitted.pass) === true;
  }

  #tellCircuit(verdict: Verdict, nowMs: number): void {
    const admitted = this.#admitted;
    this.#admitted = undefined;
    admitted?.circuit.record(admitted.pass, verdict, nowMs);
  }

  #tellEndpoint(verdict: Verdict, nowMs: number): void {
    if (!this.#endpointOpen) return;
    this.#endpointOpen = false;
    if (verdict === 'success' || verdict === 'failure') this.#book.report(this.#endpoint, verdict === 'failure', nowMs);
  }
}
