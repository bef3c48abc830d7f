import type { Permits } from '../core/permits.ts';
import { createPermits } from '../core/permits.ts';
import type { LoadBalancing } from '../core/load-balancing.ts';
import { hasEndpoint, hasOtherEndpoint, pickEndpoint } from '../core/pick-endpoint.ts';
import type { RetryBudget } from '../core/retry-budget.ts';
import { createRetryBudget } from '../core/retry-budget.ts';
import type { Transport } from '../transport/transport.ts';
import type { Endpoint, EndpointOptions, EndpointVerdicts } from './endpoint.ts';
import { createEndpoint } from './endpoint.ts';

export interface UpstreamOptions {
  /** Names it in records, metrics and errors. */
  readonly name: string;
  /** At least one, unless `whyEmpty` is given. */
  readonly endpoints: readonly EndpointOptions[];
  /** For an upstream whose endpoints are found out later: says why there is none now. */
  readonly whyEmpty?: (() => string) | undefined;
  readonly transport: Transport;
  /** Default `least-request` (of two). */
  readonly loadBalancing?: LoadBalancing | undefined;
  /** Shared by everybody who uses this upstream. Default: 20 % of the requests of 10 s, and 10 a second in any case. */
  readonly budget?: RetryBudget | undefined;
  /** What the client gets when the budget refuses: the original outcome (default), or 503 (Gateway API). */
  readonly onBudgetExhausted?: 'original' | '503' | undefined;
  /** Attempts in flight at the same time, whole number ≥ 1. Default 1024. */
  readonly maxInflightRequests?: number | undefined;
  /** What the client gets when a retry finds no permit: 503 (default), or the original outcome. */
  readonly onOverflow?: 'original' | '503' | undefined;
  /** An upstream that this one takes the place of: attempts in flight there count against the limit here. */
  readonly replaces?: Upstream | undefined;
}

/** A named group of endpoints with the live state that every request to it shares. */
export interface Upstream {
  readonly name: string;
  /** Those of now: the list is replaced, not changed. */
  readonly endpoints: readonly Endpoint[];
  /** Every endpoint is unhealthy, which is more likely a fault of the checks: all but drained ones are used (panic rule). */
  readonly panicking: boolean;
  readonly transport: Transport;
  readonly budget: RetryBudget;
  readonly permits: Permits;
  readonly onBudgetExhausted: 'original' | '503';
  readonly onOverflow: 'original' | '503';
  /**
   * Chooses for one attempt, avoiding `tried` and endpoints that could not be connected to lately while there is
   * another one. `random` is uniform in [0, 1).
   */
  pick(tried: readonly Endpoint[], nowMs: number, random: () => number): Endpoint | undefined;
  hasEndpoint(): boolean;
  hasUntried(tried: readonly Endpoint[]): boolean;
  /** For people: why `pick` finds none. */
  whyNone(): string;
  /**
   * Another list. Addresses that stay keep their state; on those that go, attempts in flight end and idle connections
   * are closed.
   * @param known Where state is taken from; default: the present list.
   */
  setEndpoints(wanted: readonly EndpointOptions[], known?: readonly Endpoint[]): void;
  /** Takes an endpoint out of the choice, or back into it. */
  judge(endpoint: Endpoint, verdicts: EndpointVerdicts): void;
  /** Closes idle connections now and busy ones when their response ended. */
  close(): void;
}

/** @throws RangeError when a number is out of range or there is no endpoint */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { transport, whyEmpty } = options;
  if (options.endpoints.length === 0 && whyEmpty === undefined) {
    throw new RangeError(`upstream ${options.name}: it has no endpoint; give at least one host:port`);
  }
  let endpoints: readonly Endpoint[] = options.endpoints.map((endpoint) => createEndpoint(endpoint));
  let panicking = false;
  const loadBalancing = options.loadBalancing ?? 'least-request';
  let cursor = 0;

  const updateAvailability = (): void => {
    const inService = endpoints.filter((endpoint) => !endpoint.drained && endpoint.weight > 0);
    panicking = inService.length > 0 && !inService.some((endpoint) => endpoint.healthy);
    for (const endpoint of endpoints) endpoint.available = !endpoint.drained && (endpoint.healthy || panicking);
  };

  return {
    name: options.name,
    get endpoints() {
      return endpoints;
    },
    get panicking() {
      return panicking;
    },
    transport,
    budget: options.budget ?? createRetryBudget(),
    permits: createPermits(options.maxInflightRequests ?? 1024, options.replaces?.permits),
    onBudgetExhausted: options.onBudgetExhausted ?? 'original',
    onOverflow: options.onOverflow ?? '503',
    pick(tried, nowMs, random) {
      const only = endpoints.length === 1 ? endpoints[0] : undefined;
      if (only !== undefined) return only.available && only.weight > 0 ? only : undefined;
      for (const endpoint of endpoints) endpoint.excluded = endpoint.cooldown.pauses(nowMs);
      const choice = { loadBalancing, tried, random: random(), cursor, keyHash: 0 };
      cursor = (cursor + 1) % Number.MAX_SAFE_INTEGER;
      const endpoint = pickEndpoint(endpoints, choice);
      endpoint?.cooldown.chosen(nowMs);
      return endpoint;
    },
    hasEndpoint: () => hasEndpoint(endpoints),
    hasUntried: (tried) => hasOtherEndpoint(endpoints, tried),
    whyNone() {
      if (endpoints.length === 0) return whyEmpty?.() ?? 'it has no endpoint';
      const drained = endpoints.filter((endpoint) => endpoint.drained).length;
      return drained > 0 ? `${drained} of its ${endpoints.length} endpoints are drained` : 'no endpoint has a weight';
    },
    setEndpoints(wanted, known = endpoints) {
      const byKey = new Map(known.map((endpoint) => [endpoint.address.key, endpoint]));
      endpoints = wanted.map((settings) => {
        const fresh = createEndpoint(settings);
        const kept = byKey.get(fresh.address.key);
        byKey.delete(fresh.address.key);
        if (kept === undefined) return fresh;
        const { authority, weight, priority, domain } = fresh;
        return Object.assign(kept, { authority, weight, priority, domain });
      });
      for (const gone of byKey.values()) transport.closeEndpoint?.(gone.address);
      updateAvailability();
    },
    judge(endpoint, verdicts) {
      Object.assign(endpoint, verdicts);
      updateAvailability();
    },
    close: () => transport.close(),
  };
}
