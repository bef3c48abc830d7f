/** What the choice needs to know of an endpoint. The host's own endpoint objects implement it; they are told apart by identity. */
export interface EndpointView {
  /** Share of the traffic relative to the others; 0 takes no traffic at all. Default 1. */
  readonly weight: number;
  /** Tier: 0 is used first, 1 when no endpoint of tier 0 is left, … */
  readonly priority: number;
  /** Attempts in flight on it now. */
  readonly inflight: number;
  /** False for an endpoint that must not be used: unhealthy, ejected, drained. */
  readonly available: boolean;
  /** It could not be connected to lately (see `endpoint-cooldown.ts`). Avoided while there is another one. */
  readonly excluded: boolean;
}

export type LoadBalancing = 'least-request' | 'round-robin' | 'random';

export interface EndpointChoice<E extends EndpointView> {
  readonly loadBalancing: LoadBalancing;
  /** The endpoints of this request's earlier attempts, in order. They need not be in the list any more. */
  readonly tried: readonly E[];
  /** Uniform in [0, 1); for `least-request` and `random`. */
  readonly random: number;
  /** Counts the choices of this upstream, whole number ≥ 0; for `round-robin`. */
  readonly cursor: number;
}

/**
 * Chooses the endpoint for one attempt.
 *
 * What should be avoided is filtered out before the choice (choosing first and rejecting afterwards finds the same
 * endpoint again), and only as a preference: untried and not excluded, else untried, else the one tried longest ago.
 * Within a preference the lowest priority wins.
 *
 * @returns `undefined` only when no endpoint is available with a weight above 0
 */
export function pickEndpoint<E extends EndpointView>(
  endpoints: readonly E[],
  choice: EndpointChoice<E>,
): E | undefined {
  const { tried } = choice;
  const candidates =
    preferred(endpoints, (endpoint) => !endpoint.excluded && !tried.includes(endpoint)) ??
    preferred(endpoints, (endpoint) => !tried.includes(endpoint));
  if (candidates === undefined) return leastRecentlyTried(endpoints, tried);
  switch (choice.loadBalancing) {
    case 'least-request':
      return leastRequestOfTwo(candidates, choice.random);
    case 'round-robin':
      return byTurn(candidates, choice.cursor);
    case 'random':
      return byWeight(candidates, choice.random).endpoint;
  }
}

/** Whether `pickEndpoint` would find one. */
export function hasEndpoint(endpoints: readonly EndpointView[]): boolean {
  return endpoints.some(isUsable);
}

/** Whether `pickEndpoint` would find one that is not in `tried`. */
export function hasOtherEndpoint<E extends EndpointView>(endpoints: readonly E[], tried: readonly E[]): boolean {
  return endpoints.some((endpoint) => isUsable(endpoint) && !tried.includes(endpoint));
}

function isUsable(endpoint: EndpointView): boolean {
  return endpoint.available && endpoint.weight > 0;
}

/** The usable endpoints of the lowest tier that has one, or `undefined` when there is none. */
function preferred<E extends EndpointView>(
  endpoints: readonly E[],
  isWanted: (endpoint: E) => boolean,
): E[] | undefined {
  let tier: E[] | undefined;
  let priority = Infinity;
  for (const endpoint of endpoints) {
    if (!isUsable(endpoint) || endpoint.priority > priority || !isWanted(endpoint)) continue;
    if (tier === undefined || endpoint.priority < priority) {
      tier = [];
      priority = endpoint.priority;
    }
    tier.push(endpoint);
  }
  return tier;
}

function leastRecentlyTried<E extends EndpointView>(endpoints: readonly E[], tried: readonly E[]): E | undefined {
  let oldest: E | undefined;
  let oldestIndex = Infinity;
  for (const endpoint of endpoints) {
    const index = tried.lastIndexOf(endpoint);
    if (isUsable(endpoint) && index < oldestIndex) {
      oldest = endpoint;
      oldestIndex = index;
    }
  }
  return oldest;
}

/** Two different ones drawn by weight; the one with fewer attempts for its weight, the first on a tie. */
function leastRequestOfTwo<E extends EndpointView>(candidates: readonly E[], random: number): E {
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
function byWeight<E extends EndpointView>(candidates: readonly E[], random: number): { endpoint: E; rest: number } {
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
function byTurn<E extends EndpointView>(candidates: readonly E[], cursor: number): E {
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
