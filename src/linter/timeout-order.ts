import type { Topology, TopologyCall } from '../simulator/topology.ts';
import { attemptLimitMs, callLimitMs, participationOfCaller } from './call-facts.ts';

/** A call below another one that may take longer than the upper one waits. */
export interface DisorderedTimeouts {
  /** Index of the upper call. */
  readonly call: number;
  /** Index of the lower call. */
  readonly below: number;
  readonly waitsMs: number;
  /** Infinity: the lower call ends never. */
  readonly takesMs: number;
}

/**
 * Every pair of a call and one below it where the upper caller gives up first: then no claim can reach it, and its retry
 * runs beside those below. Where a hop tells the next how much time is left, and the next obeys, the order comes by itself.
 */
export function disorderedTimeouts(topology: Topology): DisorderedTimeouts[] {
  const { calls, operations } = topology;
  return calls.flatMap((upper, call) => {
    if (isToldDeadline(topology, upper)) return [];
    const waitsMs = attemptLimitMs(upper);
    const below = [...new Set(operations[upper.to]!.steps.flat())];
    return below.flatMap((index): DisorderedTimeouts[] => {
      const takesMs = callLimitMs(calls[index]!);
      return waitsMs > takesMs || waitsMs === Infinity ? [] : [{ call, below: index, waitsMs, takesMs }];
    });
  });
}

function isToldDeadline(topology: Topology, call: TopologyCall): boolean {
  const callee = topology.services[topology.operations[call.to]!.service]!;
  const isTelling = participationOfCaller(topology, call) !== 'legacy';
  return topology.deadlines.propagate && isTelling && callee.participation === 'cooperating';
}
