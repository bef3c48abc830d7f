import type { CallState } from './call-state.ts';
import type { CallResult, RootResult } from './result.ts';
import type { Topology, TopologyCall } from './topology.ts';
import { loadOf, worstLoad } from './worst-load.ts';

/**
 * How often a call is made when nothing fails, by interval.
 * @param index of the call
 * @param nodes the same of each operation
 */
export function baselineOfCall(
  { from, probability }: TopologyCall,
  index: number,
  { operations, roots: specs }: Topology,
  roots: readonly RootResult[],
  nodes: readonly (readonly number[])[],
): readonly number[] {
  if (from === undefined) return roots[specs.findIndex((root) => root.call === index)]?.series.requests ?? [];
  const times = probability * operations[from]!.steps.flat().filter((call) => call === index).length;
  return nodes[from]!.map((count) => count * times);
}

export function callResult(
  { spec, to, callCount, attempts, retryCount, stopCounts, suppressedCounts }: CallState,
  baseline: readonly number[],
  {
    topology,
    intervalMs,
    intervalCount,
  }: { readonly topology: Topology; readonly intervalMs: number; readonly intervalCount: number },
): CallResult {
  const baselineCount = baseline.reduce((sum, count) => sum + count, 0);
  const load = loadOf(attempts.total, baselineCount);
  return {
    from: spec.from === undefined ? undefined : topology.operations[spec.from]!.name,
    to: to.spec.name,
    maxRetries: spec.policy.maxRetries,
    callCount,
    attemptCount: attempts.total,
    baselineCount,
    load,
    peakLoad: Math.max(load, worstLoad(attempts.read(intervalCount), baseline, intervalMs) ?? 0),
    retryCount,
    suppressedCount: [...suppressedCounts.values()].reduce((sum, count) => sum + count, 0),
    suppressedReasons: Object.fromEntries(suppressedCounts),
    stopReasons: Object.fromEntries(stopCounts),
  };
}
