import type { Permits } from '../core/circuit-breaker.ts';
import { createPermits } from '../core/circuit-breaker.ts';
import type { LoadBalancing } from '../core/pick-endpoint.ts';
import { hasEndpoint, hasOtherEndpoint, pickEndpoint } from '../core/pick-endpoint.ts';
import type { RetryBudget } from '../core/retry-budget.ts';
import { createRetryBudget } from '../core/retry-budget.ts';
import type { Transport } from '../transport/transport.ts';
import type { Endpoint, EndpointOptions } from './endpoint.ts';
import { createEndpoint } from './endpoint.ts';

export interface UpstreamOptions {
  /** Names it in records, metrics and errors. */
  readonly name: string;
  /** At least one. */
  readonly endpoints: readonly EndpointOptions[];
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
}

/** A named group of endpoints with the live state that every request to it shares. */
export interface Upstream {
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
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
  /** Closes idle connections now and busy ones when their response ended. */
  close(): void;
}

/** @throws RangeError when a number is out of range or there is no endpoint */
export function createUpstream(options: UpstreamOptions): Upstream {
  if (options.endpoints.length === 0) {
    throw new RangeError(`upstream ${options.name}: it has no endpoint; give at least one host:port`);
  }
  const endpoints = options.endpoints.map(createEndpoint);
  const loadBalancing = options.loadBalancing ?? 'least-request';
  const only = endpoints.length === 1 ? endpoints[0] : undefined;
  let cursor = 0;
  return {
    name: options.name,
    endpoints,
    transport: options.transport,
    budget: options.budget ?? createRetryBudget(),
    permits: createPermits(options.maxInflightRequests ?? 1024),
    onBudgetExhausted: options.onBudgetExhausted ?? 'original',
    onOverflow: options.onOverflow ?? '503',
    pick(tried, nowMs, random) {
      if (only !== undefined) return only.available && only.weight > 0 ? only : undefined;
      for (const endpoint of endpoints) endpoint.excluded = endpoint.cooldown.pauses(nowMs);
      const choice = { loadBalancing, tried, random: random(), cursor };
      cursor = (cursor + 1) % Number.MAX_SAFE_INTEGER;
      const endpoint = pickEndpoint(endpoints, choice);
      endpoint?.cooldown.chosen(nowMs);
      return endpoint;
    },
    hasEndpoint: () => hasEndpoint(endpoints),
    hasUntried: (tried) => hasOtherEndpoint(endpoints, tried),
    close: () => options.transport.close(),
  };
}
