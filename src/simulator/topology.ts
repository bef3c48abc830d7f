import type { CircuitBreakerOptions } from '../core/circuit-breaker.ts';
import type { EdgeClass } from '../core/ownership/outbound.ts';
import type { Participation } from '../core/ownership/call-graph.ts';
import type { RetryBudgetOptions } from '../core/retry-budget.ts';
import type { OwnershipMode, RetryPolicy } from '../core/retry-policy.ts';
import type { ServiceTime } from './service-time.ts';

/** What is simulated: services that call each other, who calls them, and what goes wrong. Indexes refer to the lists here. */
export interface Topology {
  readonly services: readonly TopologyService[];
  readonly operations: readonly TopologyOperation[];
  readonly calls: readonly TopologyCall[];
  readonly roots: readonly TopologyRoot[];
  readonly faults: readonly TopologyFault[];
  readonly durationMs: number;
  /** Whole number ≥ 0. */
  readonly seed: number;
  readonly deadlines: DeadlineRules;
  /** Whether claims are written; whether a caller obeys them is in the policy of its call. */
  readonly ownership: OwnershipMode;
  /** Whether requests tell how many retries were made above them. */
  readonly tellsLineage: boolean;
}

export interface DeadlineRules {
  /** Each hop tells the next how much time is left. */
  readonly propagate: boolean;
  /** What it keeps of it for the way back. */
  readonly marginMs: number;
  /** A server does not begin what is too late. Nothing is known to be too late where nothing is told. */
  readonly dropExpired: boolean;
}

export interface TopologyService {
  readonly name: string;
  readonly participation: Participation;
  /** Whole number ≥ 1. Each has the capacity below. */
  readonly instanceCount: number;
  readonly capacity: Capacity;
}

export interface Capacity {
  /** Requests worked on at the same time; Infinity for no limit. */
  readonly workerCount: number;
  /** Which of the waiting is next. */
  readonly queue: 'fifo' | 'lifo';
  /** How many may wait; Infinity for no limit. One too many is answered 503: the newcomer of a fifo, the oldest of a lifo. */
  readonly queueLimit: number;
  /** A worker is held while its request waits for calls, as a thread is. */
  readonly blocking: boolean;
}

export interface TopologyOperation {
  /** `checkout/place-order`. */
  readonly name: string;
  readonly service: number;
  readonly method: string;
  /** Requests carry an idempotency key. */
  readonly keyed: boolean;
  readonly serviceTime: ServiceTime;
  /** Share of its requests that it answers with 500 after all its work, 0–1. */
  readonly errorRatio: number;
  /** One after the other; the calls of a step at the same time. */
  readonly steps: readonly (readonly number[])[];
}

/** A call of one operation by another, or by a client. */
export interface TopologyCall {
  /** `undefined`: a client. */
  readonly from: number | undefined;
  readonly to: number;
  /** 0–1. */
  readonly probability: number;
  /** 0: no limit. */
  readonly timeouts: { readonly requestMs: number; readonly attemptMs: number };
  readonly policy: RetryPolicy;
  readonly budget: RetryBudgetOptions;
  readonly maxInflightRequests: number;
  readonly breaker: CircuitBreakerOptions | undefined;
  readonly edge: EdgeClass;
}

/** Requests from outside: an open loop, which does not wait for answers. */
export interface TopologyRoot {
  readonly operation: number;
  readonly call: number;
  readonly ratePerSecond: number;
  readonly arrivals: 'poisson' | 'constant';
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface TopologyFault {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly service: number;
  /** `undefined`: all of the service. */
  readonly operation: number | undefined;
  /** So many instances are sick, always the same ones; Infinity: all. */
  readonly instanceCount: number;
  readonly effect: FaultEffect;
}

export type FaultEffect =
  /** That share of the requests is answered with an error, after all the work. */
  | { readonly kind: 'errors'; readonly ratio: number; readonly status: number }
  /** Connections are refused, or requests are swallowed. */
  | { readonly kind: 'outage'; readonly how: 'refused' | 'hangs' }
  /** That share of the workers is left. */
  | { readonly kind: 'capacity'; readonly ratio: number }
  /**
   * Own work takes `factor` times as long, that share longer again for each other request that the instance works on, and
   * `addMs` longer.
   */
  | { readonly kind: 'latency'; readonly factor: number; readonly loadRatio: number; readonly addMs: number };
