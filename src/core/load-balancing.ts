import { combineHashes } from './hash.ts';

/** What the choice needs to know of an endpoint. The host's own endpoint objects implement it; they are told apart by identity. */
export interface EndpointView {
  /** Share of the traffic relative to the others; 0 takes no traffic at all. Default 1. */
  readonly weight: number;
  /** Tier: 0 is used first, 1 when no endpoint of tier 0 is left, … */
  readonly priority: number;
  /** What it fails together with (a zone, a rack); `undefined`: not known. A retry goes to another one if it can. */
  readonly domain?: string | undefined;
  /** `hashText` of its name; for `consistent-hash`. */
  readonly hash: number;
  /** Attempts in flight on it now. */
  readonly inflight: number;
  /** False for an endpoint that must not be used: unhealthy, ejected, drained. */
  readonly available: boolean;
  /** It could not be connected to lately (see `endpoint-cooldown.ts`). Avoided while there is another one. */
  readonly excluded: boolean;
}

export type LoadBalancing = 'least-request' | 'round-robin' | 'random' | 'consistent-hash';

/** Two different ones drawn by weight; the one with fewer attempts for its weight, the first on a tie. */
export function leastRequestOfTwo<E extends EndpointView>(candidates: readonly E[], random: number): E {
  const first = byWeight(candidates, random);
  if (candidates.length === 1) return first.endpoint;
  const others = candidates.filter((endpoint) => endpoint !== first.endpoint);
  const second = byWeight(others, first.rest).endpoint;
  return loadOf(second) < loadOf(first.endpoint) ? second : first.endpoint;
}

function loadOf(endpoint: EndpointView): number {
  return endpoint.inflight / endpoint.weight;
}

/** Draws by weight; `rest` is the part of the random number that the draw did not use, again uniform in [0, 1). */
export function byWeight<E extends EndpointView>(
  candidates: readonly E[],
  random: number,
): { endpoint: E; rest: number } {
  let total = 0;
  for (const candidate of candidates) total += candidate.weight;
  let position = random * total;
  for (const endpoint of candidates) {
    if (position < endpoint.weight) return { endpoint, rest: Math.max(0, position / endpoint.weight) };
    position -= endpoint.weight;
  }
  // Rounding, or a random number outside [0, 1).
  return { endpoint: candidates[candidates.length - 1] as E, rest: 0 };
}

/**
 * The cursor's place in a sequence in which each one appears as often as its weight says, spread out in rounds:
 * a, b and c with weights 3, 1 and 2 take turns as a b c, a c, a.
 */
export function byTurn<E extends EndpointView>(candidates: readonly E[], cursor: number): E {
  let total = 0;
  for (const candidate of candidates) total += candidate.weight;
  let position = cursor % total;
  let roundsDone = 0;
  let members = candidates;
  // Rounds with the same members are passed in one step, so that a weight of a million costs no more than one of two.
  for (;;) {
    const rounds = lowestWeight(members) - roundsDone;
    if (position < rounds * members.length || members.length === 1) break;
    position -= rounds * members.length;
    roundsDone += rounds;
    members = membersAbove(members, roundsDone);
  }
  return members[Math.floor(position) % members.length] as E;
}

function lowestWeight(members: readonly EndpointView[]): number {
  let lowest = Infinity;
  for (const member of members) lowest = Math.min(lowest, member.weight);
  return lowest;
}

function membersAbove<E extends EndpointView>(members: readonly E[], roundsDone: number): readonly E[] {
  return members.filter((member) => member.weight > roundsDone);
}

/**
 * Weighted rendezvous hashing: every endpoint draws a number from its own hash and the key's, and the best draw wins.
 * An endpoint that goes gives its keys to all others, one that comes takes its share from all, and no other key moves.
 * Costs one draw an endpoint, as filtering does.
 */
export function byHash<E extends EndpointView>(candidates: readonly E[], keyHash: number): E {
  let best = candidates[0] as E;
  let bestScore = -1;
  for (const endpoint of candidates) {
    // Uniform in (0, 1); the time to the first of `weight` events a second is −ln(u) / weight, and the earliest one wins.
    const uniform = (combineHashes(keyHash, endpoint.hash) + 0.5) / 2 ** 32;
    const score = endpoint.weight / -Math.log(uniform);
    if (score <= bestScore) continue;
    best = endpoint;
    bestScore = score;
  }
  return best;
}
