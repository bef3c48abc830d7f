import type { StopReason } from '../core/decision.ts';
import type { CallState } from './call-state.ts';
import { describeFault } from './describe-fault.ts';
import type { LatencyHistogram } from './latency-histogram.ts';
import type { SimulationMode } from './mode.ts';
import type { OperationState, ServiceState } from './operation-state.ts';
import type { QueueSamples } from './queue-samples.ts';
import { recoveryOf } from './recovery.ts';
import type {
  CallResult,
  LatencyResult,
  NodeResult,
  RootResult,
  SimulationResult,
  SimulationTotals,
} from './result.ts';
import type { RootState } from './root-state.ts';
import type { Topology } from './topology.ts';
import { visitsPerRequest } from './visits.ts';

export interface RunState {
  readonly topology: Topology;
  readonly mode: SimulationMode;
  readonly intervalMs: number;
  readonly nowMs: number;
  readonly intervalCount: number;
  readonly services: readonly ServiceState[];
  readonly operations: readonly OperationState[];
  readonly calls: readonly CallState[];
  readonly roots: readonly RootState[];
  readonly samples: QueueSamples;
}

/** Reasons that took a retry away which the policy would have made. */
const SUPPRESSING: ReadonlySet<StopReason> = new Set<StopReason>([
  'not-owner',
  'advised-never',
  'retry-after-too-long',
  'deadline',
  'no-endpoint',
  'circuit-open',
  'retry-of-retry',
  'budget-exhausted',
]);

/** An interval with fewer arrivals than this has no load that means something. */
const MIN_BASELINE = 10;

export function buildResult(run: RunState): SimulationResult {
  const { topology, mode, intervalMs, intervalCount, nowMs } = run;
  const roots = run.roots.map((root) => rootResult(root, intervalCount, nowMs));
  const baseline = baselines(run, roots);
  const nodes = run.operations.map((operation, index) => nodeResult(operation, baseline[index]!, intervalCount));
  const calls = run.calls.map((call) => callResult(call, topology));
  const goodput = {
    intervalMs,
    requests: added(roots.map(({ series }) => series.requests)),
    answered: added(roots.map(({ series }) => series.answered)),
  };
  return {
    mode,
    seed: topology.seed,
    durationMs: topology.durationMs,
    simulatedMs: nowMs,
    intervalMs,
    totals: totalsOf(roots, nodes, calls, nowMs),
    roots,
    nodes,
    services: run.services.map(({ spec }, index) => {
      const queue = run.samples.read(index, intervalCount);
      return {
        service: spec.name,
        participation: spec.participation,
        peakQueueLength: queue.reduce((highest, length) => Math.max(highest, length), 0),
        series: { queue },
      };
    }),
    calls,
    faults: topology.faults.map((fault) => ({
      fromMs: fault.fromMs,
      untilMs: Math.min(fault.untilMs, topology.durationMs),
      what: describeFault(fault, topology),
    })),
    recovery: recoveryOf(topology.faults, goodput),
  };
}

function rootResult(root: RootState, intervalCount: number, nowMs: number): RootResult {
  const { arrived, answered, failed, latency } = root;
  return {
    operation: root.call.to.spec.name,
    requestCount: arrived.total,
    answeredCount: answered.total,
    failedCount: failed.total,
    inFlightCount: arrived.total - answered.total - failed.total,
    goodputPerSecond: perSecond(answered.total, nowMs),
    latency: latencyResult(latency),
    series: {
      requests: arrived.read(intervalCount),
      answered: answered.read(intervalCount),
      failed: failed.read(intervalCount),
    },
  };
}

/** Arrivals at each operation when nothing fails, for the whole run and by interval. */
function baselines({ topology, operations }: RunState, roots: readonly RootResult[]): number[][] {
  const visits = topology.roots.map(({ operation }) => visitsPerRequest(topology, operation));
  return operations.map((_, index) =>
    added(roots.map(({ series }, root) => series.requests.map((count) => count * visits[root]![index]!))),
  );
}

function nodeResult(
  { spec, service, measures }: OperationState,
  baseline: readonly number[],
  intervalCount: number,
): NodeResult {
  const { arrived, failed, answeredCount, shedCount, expiredCount, swallowedCount, wastedCount } = measures;
  const counts = arrived.read(intervalCount);
  const baselineCount = baseline.reduce((sum, count) => sum + count, 0);
  const load = loadOf(arrived.total, baselineCount);
  const peaks = counts.filter((_, index) => baseline[index]! >= MIN_BASELINE);
  const peakBaselines = baseline.filter((count) => count >= MIN_BASELINE);
  return {
    operation: spec.name,
    service: service.spec.name,
    arrivedCount: arrived.total,
    baselineCount,
    load,
    peakLoad: peaks.reduce((highest, count, index) => Math.max(highest, count / peakBaselines[index]!), load),
    answeredCount,
    failedCount: failed.total,
    shedCount,
    expiredCount,
    swallowedCount,
    wastedCount,
    insideCount: arrived.total - answeredCount - swallowedCount,
    latency: latencyResult(measures.latency),
    series: { arrived: counts, failed: failed.read(intervalCount) },
  };
}

function callResult(call: CallState, { operations }: Topology): CallResult {
  const { spec, callCount, attemptCount, retryCount, stopCounts } = call;
  return {
    from: spec.from === undefined ? undefined : operations[spec.from]!.name,
    to: call.to.spec.name,
    maxRetries: spec.policy.maxRetries,
    callCount,
    attemptCount,
    retryCount,
    suppressedCount: spec.policy.maxRetries === 0 ? 0 : suppressedOf(stopCounts),
    stopReasons: Object.fromEntries(stopCounts),
  };
}

function suppressedOf(stopCounts: ReadonlyMap<StopReason, number>): number {
  let sum = 0;
  for (const [reason, count] of stopCounts) if (SUPPRESSING.has(reason)) sum += count;
  return sum;
}

function totalsOf(
  roots: readonly RootResult[],
  nodes: readonly NodeResult[],
  calls: readonly CallResult[],
  nowMs: number,
): SimulationTotals {
  const answeredCount = sumOf(roots, (root) => root.answeredCount);
  const failedCount = sumOf(roots, (root) => root.failedCount);
  const hopCount = sumOf(nodes, (node) => node.arrivedCount);
  const stopReasons: Partial<Record<StopReason, number>> = {};
  for (const call of calls) {
    for (const [reason, count] of Object.entries(call.stopReasons) as [StopReason, number][])
      stopReasons[reason] = (stopReasons[reason] ?? 0) + count;
  }
  return {
    requestCount: sumOf(roots, (root) => root.requestCount),
    answeredCount,
    failedCount,
    inFlightCount: sumOf(roots, (root) => root.inFlightCount),
    goodputPerSecond: perSecond(answeredCount, nowMs),
    successRatio: answeredCount + failedCount === 0 ? 1 : answeredCount / (answeredCount + failedCount),
    hopCount,
    amplification: loadOf(
      hopCount,
      sumOf(nodes, (node) => node.baselineCount),
    ),
    retryCount: sumOf(calls, (call) => call.retryCount),
    suppressedCount: sumOf(calls, (call) => call.suppressedCount),
    stopReasons,
  };
}

function latencyResult(latency: LatencyHistogram): LatencyResult | undefined {
  if (latency.count === 0) return undefined;
  return {
    meanMs: latency.meanMs,
    p50Ms: latency.percentileMs(0.5),
    p95Ms: latency.percentileMs(0.95),
    p99Ms: latency.percentileMs(0.99),
  };
}

/** 1 where nothing was to come and nothing came. */
function loadOf(count: number, baselineCount: number): number {
  return baselineCount > 0 ? count / baselineCount : 1;
}

function perSecond(count: number, overMs: number): number {
  return overMs > 0 ? (count * 1000) / overMs : 0;
}

function added(lists: readonly (readonly number[])[]): number[] {
  const [first = []] = lists;
  return first.map((_, index) => lists.reduce((sum, list) => sum + list[index]!, 0));
}

function sumOf<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((sum, item) => sum + count(item), 0);
}
