import {
  byHash,
  byTurn,
  byWeight,
  leastRequestOfTwo,
  type EndpointView,
  type LoadBalancing,
} from './load-balancing.ts';

export interface EndpointChoice<E extends EndpointView> {
  readonly loadBalancing: LoadBalancing;
  /** The endpoints of this request's earlier attempts, in order. They need not be in the list any more. */
  readonly tried: readonly E[];
  /** Uniform in [0, 1); for `least-request` and `random`. */
  readonly random: number;
  /** Counts the choices of this upstream, whole number ≥ 0; for `round-robin`. */
  readonly cursor: number;
  /** `hashText` of what keeps requests together (a user, a client); for `consistent-hash`. */
  readonly keyHash: number;
}

/**
 * Chooses the endpoint for one attempt.
 *
 * What should be avoided is filtered out before the choice (choosing first and rejecting afterwards finds the same
 * endpoint again), and only as a preference: untried and not excluded, else untried, else the one tried longest ago.
 * Within a preference the lowest priority wins, and within that priority a failure domain that this request has not tried.
 *
 * @returns `undefined` only when no endpoint is available with a weight above 0
 */
export function pickEndpoint<E extends EndpointView>(
  endpoints: readonly E[],
  choice: EndpointChoice<E>,
): E | undefined {
  const { tried } = choice;
  const untried =
    preferred(endpoints, (endpoint) => !endpoint.excluded && !tried.includes(endpoint)) ??
    preferred(endpoints, (endpoint) => !tried.includes(endpoint));
  if (untried === undefined) return leastRecentlyTried(endpoints, tried);
  const candidates = tried.length === 0 ? untried : inOtherDomains(untried, tried);
  switch (choice.loadBalancing) {
    case 'least-request':
      return leastRequestOfTwo(candidates, choice.random);
    case 'round-robin':
      return byTurn(candidates, choice.cursor);
    case 'random':
      return byWeight(candidates, choice.random).endpoint;
    case 'consistent-hash':
      return byHash(candidates, choice.keyHash);
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

/** Those in a domain that was not tried, or all of them when there is none. */
function inOtherDomains<E extends EndpointView>(candidates: E[], tried: readonly E[]): E[] {
  const others = candidates.filter(
    ({ domain }) => domain === undefined || !tried.some((endpoint) => endpoint.domain === domain),
  );
  return others.length > 0 ? others : candidates;
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
