import type { StopReason } from '../core/decision.ts';
import { baselineOfCall, callResult } from './call-result.ts';
import type { CallState } from './call-state.ts';
import { describeFault } from './describe-fault.ts';
import { LatencyHistogram } from './latency-histogram.ts';
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
  StopCounts,
} from './result.ts';
import type { RootState } from './root-state.ts';
import type { Series } from './series.ts';
import type { Topology } from './topology.ts';
import { visitsPerRequest } from './visits.ts';
import { loadOf, worstLoad } from './worst-load.ts';

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
  readonly retries: Series;
  readonly suppressed: Series;
  readonly samples: QueueSamples;
}

export function buildResult(run: RunState): SimulationResult {
  const { topology, mode, intervalMs, intervalCount, nowMs } = run;
  const roots = run.roots.map((root) => rootResult(root, intervalCount, nowMs));
  const baseline = baselines(run, roots);
  const nodes = run.operations.map((operation, index) =>
    nodeResult(operation, baseline[index]!, intervalCount, intervalMs),
  );
  const calls = run.calls.map((call, index) =>
    callResult(call, baselineOfCall(call.spec, index, topology, roots, baseline), run),
  );
  const series = {
    requests: added(roots.map((root) => root.series.requests)),
    answered: added(roots.map((root) => root.series.answered)),
    failed: added(roots.map((root) => root.series.failed)),
    retries: run.retries.read(intervalCount),
    suppressed: run.suppressed.read(intervalCount),
  };
  const begun = topology.faults.filter(({ fromMs }) => fromMs < nowMs);
  return {
    mode,
    seed: topology.seed,
    durationMs: topology.durationMs,
    simulatedMs: nowMs,
    intervalMs,
    totals: totalsOf(run, roots, nodes, calls),
    series,
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
      untilMs: Math.max(fault.fromMs, Math.min(fault.untilMs, topology.durationMs)),
      what: describeFault(fault, topology),
      isMissed: !begun.includes(fault),
    })),
    recovery: recoveryOf(begun, { intervalMs, ...series }),
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
  intervalMs: number,
): NodeResult {
  const { arrived, failed, answeredCount, shedCount, expiredCount, swallowedCount, wastedCount } = measures;
  const counts = arrived.read(intervalCount);
  const baselineCount = baseline.reduce((sum, count) => sum + count, 0);
  const load = loadOf(arrived.total, baselineCount);
  return {
    operation: spec.name,
    service: service.spec.name,
    arrivedCount: arrived.total,
    baselineCount,
    load,
    peakLoad: Math.max(load, worstLoad(counts, baseline, intervalMs) ?? 0),
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

function totalsOf(
  { roots: states, nowMs }: RunState,
  roots: readonly RootResult[],
  nodes: readonly NodeResult[],
  calls: readonly CallResult[],
): SimulationTotals {
  const answeredCount = sumOf(roots, (root) => root.answeredCount);
  const failedCount = sumOf(roots, (root) => root.failedCount);
  const hopCount = sumOf(nodes, (node) => node.arrivedCount);
  const latency = new LatencyHistogram();
  for (const root of states) latency.add(root.latency);
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
    latency: latencyResult(latency),
    suppressedCount: sumOf(calls, (call) => call.suppressedCount),
    suppressedReasons: summed(calls.map((call) => call.suppressedReasons)),
    stopReasons: summed(calls.map((call) => call.stopReasons)),
  };
}

function summed(counts: readonly StopCounts[]): StopCounts {
  const sums: Partial<Record<StopReason, number>> = {};
  for (const [reason, count] of counts.flatMap((one) => Object.entries(one) as [StopReason, number][]))
    sums[reason] = (sums[reason] ?? 0) + count;
  return sums;
}

function latencyResult(latency: LatencyHistogram): LatencyResult | undefined {
  if (latency.count === 0) return undefined;
  return {
    meanMs: latency.meanMs,
    p50Ms: latency.percentileMs(0.5),
    p95Ms: latency.percentileMs(0.95),
    p99Ms: latency.percentileMs(0.99),
    p999Ms: latency.percentileMs(0.999),
  };
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
