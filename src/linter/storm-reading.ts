import { stormRadius, type StormRadius } from '../core/ownership/storm-radius.ts';
import type { Topology } from '../simulator/topology.ts';
import { type StormGraph, stormGraph, type StormView } from './storm-graph.ts';

/** The worst that retries can do below one root, by core's rule of edges. */
export interface StormReading extends StormRadius {
  /** The worst path goes over a service that cannot answer before its caller gives up. */
  readonly isByTimeouts: boolean;
}

/** The reading of each root, in the order of the topology. */
export function stormReadings(topology: Topology, view: StormView): StormReading[] {
  const storm = stormGraph(topology, view);
  return topology.roots.map((_, root) =>
    storm.starts
      .filter((start) => start.root === root)
      .map(({ node }) => readingFrom(storm, node))
      .reduce(worse),
  );
}

function readingFrom(storm: StormGraph, start: string): StormReading {
  const found = stormRadius(storm.graph, start);
  const named = (path: readonly string[]): string[] => path.flatMap((node) => storm.label(node) ?? []);
  return {
    radius: found.radius,
    path: named(found.path),
    amplification: found.amplification,
    amplifiedPath: named(found.amplifiedPath),
    sustained: found.sustained,
    sustainedPath: named(found.sustainedPath),
    isByTimeouts: found.path.some((node) => storm.isSlow(node)),
  };
}

function worse(one: StormReading, other: StormReading): StormReading {
  const byRadius = other.radius > one.radius ? other : one;
  const byAmplification = other.amplification > one.amplification ? other : one;
  const bySustained = other.sustained > one.sustained ? other : one;
  return {
    radius: byRadius.radius,
    path: byRadius.path,
    isByTimeouts: byRadius.isByTimeouts,
    amplification: byAmplification.amplification,
    amplifiedPath: byAmplification.amplifiedPath,
    sustained: bySustained.sustained,
    sustainedPath: bySustained.sustainedPath,
  };
}
