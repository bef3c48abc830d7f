import type { Topology } from '../simulator/topology.ts';
import { attemptLimitMs, callLimitMs, longestWaitsMs } from './call-facts.ts';
import { disorderedTimeouts } from './timeout-order.ts';

/** Limits that would do for a call, in whole milliseconds. */
export interface NeededTimeouts {
  readonly attemptMs: number;
  /** The whole call; 0: it has no limit of its own. */
  readonly requestMs: number;
  /** How long the call may take then. */
  readonly takesMs: number;
}

/** What a caller must wait longer than what it calls, at the least. */
export function leastMarginMs({ deadlines }: Topology): number {
  return Math.max(1, deadlines.marginMs);
}

/**
 * For each call whose caller gives up too early the limits that would put it in order, when what lies below keeps its own: from
 * the bottom up, so that those of all findings together are in order. Calls below that never end are left out of it.
 */
export function orderedTimeouts(topology: Topology): (call: number) => NeededTimeouts {
  const { calls } = topology;
  const pairs = Map.groupBy(disorderedTimeouts(topology), ({ call }) => call);
  const known = new Map<number, NeededTimeouts>();
  const needed = (index: number): NeededTimeouts => {
    const before = known.get(index);
    if (before !== undefined) return before;
    const call = calls[index]!;
    const { requestMs } = call.timeouts;
    const below = (pairs.get(index) ?? []).map((pair) => needed(pair.below).takesMs).filter(Number.isFinite);
    if (below.length === 0)
      return remember(index, { attemptMs: attemptLimitMs(call), requestMs, takesMs: callLimitMs(call) });
    const attemptMs = Math.max(attemptLimitMs(call), ...below.map((ms) => Math.ceil(ms) + leastMarginMs(topology)));
    const { maxRetries } = call.policy;
    const takesMs = (maxRetries + 1) * attemptMs + Math.ceil(longestWaitsMs(call.policy, maxRetries));
    return remember(index, { attemptMs, requestMs: requestMs === 0 ? 0 : Math.max(requestMs, takesMs), takesMs });
  };
  const remember = (index: number, found: NeededTimeouts): NeededTimeouts => {
    known.set(index, found);
    return found;
  };
  return needed;
}
