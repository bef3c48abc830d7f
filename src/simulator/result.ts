import type { StopReason } from '../core/decision.ts';
import type { Participation } from '../core/ownership/call-graph.ts';
import type { SimulationMode } from './mode.ts';

/** What came out of a run: plain data, what `--json` prints and a report shows. Series have one number an interval. */
export interface SimulationResult {
  readonly mode: SimulationMode;
  readonly seed: number;
  readonly durationMs: number;
  /** Less than `durationMs` when the run was ended early. */
  readonly simulatedMs: number;
  readonly intervalMs: number;
  readonly totals: SimulationTotals;
  readonly series: TotalSeries;
  readonly roots: readonly RootResult[];
  readonly nodes: readonly NodeResult[];
  readonly services: readonly ServiceResult[];
  readonly calls: readonly CallResult[];
  readonly faults: readonly FaultResult[];
  /** `undefined` when there was no fault that ended. */
  readonly recovery: RecoveryResult | undefined;
}

export interface SimulationTotals {
  readonly requestCount: number;
  readonly answeredCount: number;
  readonly failedCount: number;
  /** Neither answered nor failed when the run ended. */
  readonly inFlightCount: number;
  readonly goodputPerSecond: number;
  /** Answered ÷ (answered + failed); 1 when there were none. */
  readonly successRatio: number;
  /** Attempts that arrived at a service. */
  readonly hopCount: number;
  /** Hops ÷ those that the requests need when nothing fails and nothing is retried. */
  readonly amplification: number;
  readonly retryCount: number;
  /** Of all that were answered well; `undefined` when there were none. */
  readonly latency: LatencyResult | undefined;
  /** Retries that a policy would have made and that a protection took away. */
  readonly suppressedCount: number;
  /** The same by what took them away. */
  readonly suppressedReasons: StopCounts;
  /** Why calls ended without success. */
  readonly stopReasons: StopCounts;
}

export type StopCounts = Readonly<Partial<Record<StopReason, number>>>;

/** Of everything together. Requests are those from outside; retries are sends beyond the first of any call. */
export interface TotalSeries {
  readonly requests: readonly number[];
  readonly answered: readonly number[];
  readonly failed: readonly number[];
  readonly retries: readonly number[];
  readonly suppressed: readonly number[];
}

export interface LatencyResult {
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

/** Requests from outside at one operation. */
export interface RootResult {
  readonly operation: string;
  readonly requestCount: number;
  readonly answeredCount: number;
  readonly failedCount: number;
  readonly inFlightCount: number;
  readonly goodputPerSecond: number;
  /** Of those that were answered well; `undefined` when there were none. */
  readonly latency: LatencyResult | undefined;
  readonly series: {
    readonly requests: readonly number[];
    readonly answered: readonly number[];
    readonly failed: readonly number[];
  };
}

/** One operation. */
export interface NodeResult {
  readonly operation: string;
  readonly service: string;
  readonly arrivedCount: number;
  /** Arrivals when nothing fails and nothing is retried. */
  readonly baselineCount: number;
  /** Arrivals ÷ baseline. */
  readonly load: number;
  /** The same in the worst stretch of at least five seconds with a baseline of at least a hundred; see `worstLoad`. */
  readonly peakLoad: number;
  /** With those that were refused. Arrivals = answered + swallowed + inside. */
  readonly answeredCount: number;
  readonly failedCount: number;
  /** Of the answered: refused because too many waited. */
  readonly shedCount: number;
  /** Of the answered: refused because it was too late when their turn came. */
  readonly expiredCount: number;
  readonly swallowedCount: number;
  /** Of the answered: nobody waited for it any more. */
  readonly wastedCount: number;
  /** When the run ended. */
  readonly insideCount: number;
  /** From arrival to answer, as the service sees it. */
  readonly latency: LatencyResult | undefined;
  readonly series: { readonly arrived: readonly number[]; readonly failed: readonly number[] };
}

export interface ServiceResult {
  readonly service: string;
  readonly participation: Participation;
  readonly peakQueueLength: number;
  readonly series: { readonly queue: readonly number[] };
}

export interface CallResult {
  /** `undefined`: a client. */
  readonly from: string | undefined;
  readonly to: string;
  readonly maxRetries: number;
  readonly callCount: number;
  readonly attemptCount: number;
  /** Calls when nothing fails. */
  readonly baselineCount: number;
  /** Attempts ÷ baseline, over the whole run and in the worst stretch, as for a node. */
  readonly load: number;
  readonly peakLoad: number;
  readonly retryCount: number;
  readonly suppressedCount: number;
  readonly suppressedReasons: StopCounts;
  readonly stopReasons: StopCounts;
}

/** For the reader of a plot: when something was wrong, and what, in words. */
export interface FaultResult {
  readonly fromMs: number;
  /** Not after the end of the run. */
  readonly untilMs: number;
  readonly what: string;
  /** The run ended before it began. */
  readonly isMissed: boolean;
}

export interface RecoveryResult {
  /** When the last fault ended. */
  readonly faultsEndedAtMs: number;
  /** The share of answered requests before the first fault; 1 when there was no time before it. */
  readonly usualSuccessRatio: number;
  /** From then on until goodput was back; `undefined`: not within the run. */
  readonly afterMs: number | undefined;
  /** The share of answered requests in the last five seconds of the run. */
  readonly lastSuccessRatio: number;
}
