import { isDeepStrictEqual } from 'node:util';
import type { GatewayConfig, UpstreamConfig } from '../config/gateway-config.ts';
import type { RetryBudget } from '../core/retry-budget.ts';
import { createRetryBudget } from '../core/retry-budget.ts';
import type { Upstream } from '../engine/upstream.ts';
import { createUpstream } from '../engine/upstream.ts';
import type { Clock } from '../transport/clock.ts';
import { createHttp1Transport } from '../transport/http1-transport.ts';
import type { RoutePlan } from './route-plan.ts';
import { buildRoutePlans } from './route-plan.ts';
import type { Router } from './router.ts';
import { createRouter } from './router.ts';
import type { TargetChoice } from './target-choice.ts';

/** An upstream and the configuration it was made from. */
export interface BuiltUpstream {
  readonly config: UpstreamConfig;
  readonly upstream: Upstream;
}

/** Everything a configuration stands for, ready to serve. Replaced as a whole by a reload. */
export interface GatewayState {
  readonly config: GatewayConfig;
  readonly upstreams: ReadonlyMap<string, BuiltUpstream>;
  readonly router: Router<TargetChoice<RoutePlan>>;
}

/**
 * Makes the live objects of a configuration; opens nothing. What did not change is taken over from `previous` with its
 * live state: an upstream whole (connections, endpoints' state, permits, budget), the budget alone when only other settings changed.
 * @throws RangeError when the configuration did not come from `parseConfig` and holds a value out of range
 */
export function buildState(config: GatewayConfig, clock: Clock, previous?: GatewayState): GatewayState {
  const upstreams = new Map<string, BuiltUpstream>();
  for (const upstream of config.upstreams)
    upstreams.set(upstream.name, buildUpstream(upstream, clock, previous?.upstreams.get(upstream.name)));
  const routes = config.routes.map((route) => ({ route, target: buildRoutePlans(route, config, upstreams) }));
  return { config, upstreams, router: createRouter(routes) };
}

/** Upstreams that `next` has not taken over. */
export function replacedUpstreams(previous: GatewayState, next: GatewayState): Upstream[] {
  return [...previous.upstreams]
    .filter(([name, built]) => next.upstreams.get(name)?.upstream !== built.upstream)
    .map(([, built]) => built.upstream);
}

function buildUpstream(config: UpstreamConfig, clock: Clock, previous: BuiltUpstream | undefined): BuiltUpstream {
  if (previous !== undefined && isDeepStrictEqual(previous.config, config)) return previous;
  const { connect } = config;
  const transport = createHttp1Transport({
    clock,
    idleMs: connect.idleTimeoutMs,
    maxConnections: connect.maxConnections,
    maxRequestsPerConnection: connect.maxRequestsPerConnection,
  });
  const upstream = createUpstream({
    name: config.name,
    endpoints: config.endpoints,
    transport,
    loadBalancing: config.loadBalancing,
    budget: keptBudget(config, previous) ?? createRetryBudget(config.budget),
    onBudgetExhausted: config.onExhausted,
    maxInflightRequests: config.maxInflightRequests,
    onOverflow: config.onOverflow,
  });
  return { config, upstream };
}

/** A reload must not hand out a second budget in the middle of an outage: with new endpoints, say. */
function keptBudget(config: UpstreamConfig, previous: BuiltUpstream | undefined): RetryBudget | undefined {
  return previous !== undefined && isDeepStrictEqual(previous.config.budget, config.budget)
    ? previous.upstream.budget
    : undefined;
}
