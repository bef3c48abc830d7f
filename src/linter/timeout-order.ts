import type { Topology, TopologyCall } from '../simulator/topology.ts';
import { attemptLimitMs, callLimitMs, isLayer, participationOfCaller } from './call-facts.ts';

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
  const waits = waitsThroughLayers(topology);
  return calls.flatMap((upper, call) => {
    if (isToldDeadline(topology, upper)) return [];
    const waitsMs = waits[call]!;
    const below = [...new Set(operations[upper.to]!.steps.flat())];
    return below.flatMap((index): DisorderedTimeouts[] => {
      const takesMs = callLimitMs(calls[index]!);
      // A layer without a limit of its own ends with the attempt that goes through it.
      if (takesMs === Infinity && isLayer(operations[upper.to]!)) return [];
      return waitsMs > takesMs || waitsMs === Infinity ? [] : [{ call, below: index, waitsMs, takesMs }];
    });
  });
}

/** How long the attempts of each call wait; those of a layer not longer than what goes through it. */
function waitsThroughLayers({ calls, operations }: Topology): readonly number[] {
  const waits = calls.map(attemptLimitMs);
  for (const [index, { to }] of calls.entries()) {
    let waitsMs = waits[index]!;
    for (let target = operations[to]!; isLayer(target);) {
      const next = target.steps[0]![0]!;
      waitsMs = Math.min(waitsMs, attemptLimitMs(calls[next]!));
      waits[next] = Math.min(waits[next]!, waitsMs);
      target = operations[calls[next]!.to]!;
    }
  }
  return waits;
}

function isToldDeadline(topology: Topology, call: TopologyCall): boolean {
  const callee = topology.services[topology.operations[call.to]!.service]!;
  const isTelling = participationOfCaller(topology, call) !== 'legacy';
  return topology.deadlines.propagate && isTelling && callee.participation === 'cooperating';
}
