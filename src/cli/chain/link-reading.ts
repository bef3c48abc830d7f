import type { ServiceMetrics } from '../../service/counters.ts';
import type { LinkReading } from './link-plan.ts';

/** A reading of what error ownership counts in this process, from its start; nothing where it takes no part. */
export function readingOf(metrics: ServiceMetrics | undefined): LinkReading {
  const { edges = [], operations = [], untrackedCallCount = 0, hookFaults = {} } = metrics ?? {};
  return {
    servedCount: 0,
    busyCount: 0,
    retryCount: sum(edges, (edge) => edge.retryCount),
    obeyedCount: sum(edges, ({ suppressed }) => suppressed['not-owner'] ?? 0),
    disobeyedCount: sum(edges, (edge) => edge.unsuppressedCount),
    untrackedCallCount,
    doubtfulCount: sum(operations, ({ lowCount }) => lowCount),
    relayedCount: sum(operations, ({ claimsOut }) => claimsOut.relayed),
    ownedCount: sum(operations, ({ claimsOut }) => claimsOut.owned + claimsOut.kept),
    hookFaultCount: sum(Object.values(hookFaults), (count) => count),
  };
}

/** What was counted between two readings. */
export function readingSince(before: LinkReading, now: LinkReading): LinkReading {
  const counts = Object.entries(now).map(([name, count]) => [name, count - before[name as keyof LinkReading]]);
  return Object.fromEntries(counts) as LinkReading;
}

function sum<One>(list: readonly One[], countOf: (one: One) => number): number {
  return list.reduce((total, one) => total + countOf(one), 0);
}
