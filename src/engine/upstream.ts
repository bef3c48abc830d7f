import type { CircuitBreakerOptions } from '../core/circuit-breaker.ts';
import type { BreakerChanged, EndpointEjected, EndpointReturned } from '../core/observer.ts';
import type { OutlierPolicy } from '../core/outlier-detection.ts';
import type { Permits } from '../core/permits.ts';
import { createPermits } from '../core/permits.ts';
import type { LoadBalancing } from '../core/load-balancing.ts';
import { hasEndpoint, hasOtherEndpoint, pickEndpoint } from '../core/pick-endpoint.ts';
import type { RetryBudget } from '../core/retry-budget.ts';
import { createRetryBudget } from '../core/retry-budget.ts';
import type { Transport } from '../transport/transport.ts';
import type { EndpointBook } from './attempt-report.ts';
import type { Circuits } from './circuits.ts';
import { createCircuits } from './circuits.ts';
import { createEjector, isInService } from './ejector.ts';
import type { Endpoint, EndpointOptions, EndpointVerdicts } from './endpoint.ts';
import { createEndpoint } from './endpoint.ts';

/** What an upstream finds out about its circuits and endpoints; whoever tells it on adds the time. */
export type UpstreamChange =
  | Omit<BreakerChanged, 'atMs'>
  | Omit<EndpointEjected, 'atMs'>
  | Omit<EndpointReturned, 'atMs'>;

/** An upstream as it is configured. */
export interface UpstreamOptions {
  /** Names it in records, metrics and errors. */
  readonly name: string;
  /** At least one, unless `whyEmpty` is given. */
  readonly endpoints: readonly EndpointOptions[];
  /** For an upstream whose endpoints are found out later: says why there is none now. */
  readonly whyEmpty?: (() => string) | undefined;
  /** By which its endpoints are reached; it is closed with the upstream. */
  readonly transport: Transport;
  /** Default `least-request` (of two). */
  readonly loadBalancing?: LoadBalancing | undefined;
  /** For `consistent-hash`: the request field whose value keeps requests together. Default: the client's address. */
  readonly hashHeader?: string | undefined;
  /** Shared by everybody who uses this upstream. Default: 20 % of the requests of 10 s, and 10 a second in any case. */
  readonly budget?: RetryBudget | undefined;
  /** What the client gets when the budget refuses: the original outcome (default), or 503 (Gateway API). */
  readonly onBudgetExhausted?: 'original' | '503' | undefined;
  /** Attempts in flight at the same time, whole number ≥ 1. Default 1024. */
  readonly maxInflightRequests?: number | undefined;
  /** Circuits that open, one an operation. Default: none does. */
  readonly circuitBreaker?: CircuitBreakerOptions | undefined;
  /** What the client gets when a retry finds no permit or an open circuit: 503 (default), or the original outcome. */
  readonly onOverflow?: 'original' | '503' | undefined;
  /** Endpoints that fail are taken out for a while. Default: none is. */
  readonly outliers?: OutlierPolicy | undefined;
  /** An upstream that this one takes the place of: attempts in flight there count against the limit here, and circuits stay. */
  readonly replaces?: Upstream | undefined;
  /** Told of ejections, returns and circuits, as they happen. */
  readonly onChange?: ((change: UpstreamChange) => void) | undefined;
}

/** A named group of endpoints with the live state that every request to it shares. */
export interface Upstream extends EndpointBook {
  /** In records and metrics. */
  readonly name: string;
  /** Those of now: the list is replaced, not changed. */
  readonly endpoints: readonly Endpoint[];
  /**
   * Every endpoint is unhealthy or ejected. Sending nothing would help nobody, and it may be the checks that are wrong:
   * all but drained ones are used (panic rule).
   */
  readonly panicking: boolean;
  /** By which its endpoints are reached. */
  readonly transport: Transport;
  /** How much load retries may add. */
  readonly budget: RetryBudget;
  /** Attempts in flight, and their limit. */
  readonly permits: Permits;
  /** `undefined`: no circuit opens here. */
  readonly circuits: Circuits | undefined;
  /** The choice depends on the request (`consistent-hash`): by this field, or by the client's address. */
  readonly hashOn: { readonly header: string | undefined } | undefined;
  /** See `UpstreamOptions`. */
  readonly onBudgetExhausted: 'original' | '503';
  /** See `UpstreamOptions`. */
  readonly onOverflow: 'original' | '503';
  /**
   * Chooses for one attempt, avoiding `tried` and endpoints that could not be connected to lately while there is
   * another one. `random` is uniform in [0, 1); `keyHash` counts where `hashOn` is set.
   */
  pick(tried: readonly Endpoint[], nowMs: number, random: () => number, keyHash?: number): Endpoint | undefined;
  /** Whether an attempt would get a permit, once `ownPermits` were given back, and pass the circuit of its operation. */
  admits(operation: string, ownPermits: number, nowMs: number): boolean;
  /** Whether an endpoint can be chosen now. */
  hasEndpoint(): boolean;
  /** The same, of those that are not in `tried`. */
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
  const { name, transport, whyEmpty, onChange } = options;
  if (options.endpoints.length === 0 && whyEmpty === undefined) {
    throw new RangeError(`upstream ${name}: it has no endpoint; give at least one host:port`);
  }
  let endpoints: readonly Endpoint[] = options.endpoints.map((endpoint) => createEndpoint(endpoint));
  let panicking = false;
  const loadBalancing = options.loadBalancing ?? 'least-request';
  let cursor = 0;
  const permits = createPermits(options.maxInflightRequests ?? 1024, options.replaces?.permits);
  const circuits = circuitsOf(options);

  const ejector = createEjector(options.outliers, {
    ejected: (endpoint, forMs) => {
      const why = 'too many of its attempts failed';
      onChange?.({ type: 'endpoint-ejected', upstream: name, endpoint: endpoint.address.key, why, forMs });
    },
    returned: ({ address }) => onChange?.({ type: 'endpoint-returned', upstream: name, endpoint: address.key }),
  });
  for (const endpoint of endpoints) ejector.adopt(endpoint);

  const updateAvailability = (): void => {
    const isWell = (endpoint: Endpoint): boolean => endpoint.healthy && !endpoint.ejected;
    const inService = endpoints.filter(isInService);
    panicking = inService.length > 0 && !inService.some(isWell);
    for (const endpoint of endpoints) endpoint.available = !endpoint.drained && (isWell(endpoint) || panicking);
  };

  return {
    name,
    get endpoints() {
      return endpoints;
    },
    get panicking() {
      return panicking;
    },
    transport,
    budget: options.budget ?? createRetryBudget(),
    permits,
    circuits,
    hashOn: loadBalancing === 'consistent-hash' ? { header: options.hashHeader } : undefined,
    onBudgetExhausted: options.onBudgetExhausted ?? 'original',
    onOverflow: options.onOverflow ?? '503',
    pick(tried, nowMs, random, keyHash = 0) {
      if (ejector.release(endpoints, nowMs)) updateAvailability();
      const only = endpoints.length === 1 ? endpoints[0] : undefined;
      if (only !== undefined) return only.available && only.weight > 0 ? only : undefined;
      for (const endpoint of endpoints) endpoint.excluded = endpoint.cooldown.pauses(nowMs);
      const choice = { loadBalancing, tried, random: random(), cursor, keyHash };
      cursor = (cursor + 1) % Number.MAX_SAFE_INTEGER;
      const endpoint = pickEndpoint(endpoints, choice);
      endpoint?.cooldown.chosen(nowMs);
      return endpoint;
    },
    admits: (operation, ownPermits, nowMs) =>
      permits.inflight - ownPermits < permits.limit && circuits?.of(operation).admits(nowMs) !== false,
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
        const { authority, weight, priority, domain } = fresh;
        return kept === undefined ? fresh : Object.assign(kept, { authority, weight, priority, domain });
      });
      for (const endpoint of endpoints) ejector.adopt(endpoint);
      for (const gone of byKey.values()) transport.closeEndpoint?.(gone.address);
      updateAvailability();
    },
    report(endpoint, failed, nowMs) {
      if (ejector.report(endpoints, endpoint, failed, nowMs)) updateAvailability();
    },
    judge(endpoint, verdicts) {
      Object.assign(endpoint, verdicts);
      updateAvailability();
    },
    close: () => transport.close(),
  };
}

/** Those of the upstream that is replaced, where they would be the same: a reload closes no circuit. */
function circuitsOf({ name, circuitBreaker, replaces, onChange }: UpstreamOptions): Circuits | undefined {
  if (circuitBreaker === undefined) return undefined;
  const kept = replaces?.circuits;
  if (kept !== undefined && JSON.stringify(kept.options) === JSON.stringify(circuitBreaker)) return kept;
  return createCircuits(circuitBreaker, (operation, from, to) =>
    onChange?.({ type: 'breaker-changed', upstream: name, operation, from, to }),
  );
}
