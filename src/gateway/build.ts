import { isDeepStrictEqual } from 'node:util';
import type { GatewayConfig, RouteConfig, UpstreamConfig } from '../config/gateway-config.ts';
import type { RetryBudget } from '../core/retry-budget.ts';
import { createRetryBudget } from '../core/retry-budget.ts';
import { createRetryPolicy } from '../core/retry-policy.ts';
import type { Upstream } from '../engine/upstream.ts';
import { createUpstream } from '../engine/upstream.ts';
import type { ExchangePlan } from '../proxy/plan.ts';
import { DEFAULT_TIMEOUTS } from '../proxy/plan.ts';
import type { Clock } from '../transport/clock.ts';
import { createHttp1Transport } from '../transport/http1-transport.ts';
import type { Router } from './router.ts';
import { createRouter } from './router.ts';

/** An upstream and the configuration it was made from. */
interface BuiltUpstream {
  readonly config: UpstreamConfig;
  readonly upstream: Upstream;
}

/** Everything a configuration stands for, ready to serve. Replaced as a whole by a reload. */
export interface GatewayState {
  readonly config: GatewayConfig;
  readonly upstreams: ReadonlyMap<string, BuiltUpstream>;
  readonly router: Router<ExchangePlan>;
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
  const routes = config.routes.map((route) => ({ route, target: buildPlan(route, config, upstreams) }));
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

function buildPlan(
  route: RouteConfig,
  config: GatewayConfig,
  upstreams: ReadonlyMap<string, BuiltUpstream>,
): ExchangePlan {
  const built = upstreams.get(route.upstream);
  if (built === undefined) throw new RangeError(`route ${route.name}: no upstream is named "${route.upstream}"`);
  const { retry, timeouts } = route;
  return {
    routeName: route.name,
    upstream: built.upstream,
    policy: createRetryPolicy({
      maxRetries: retry.maxRetries,
      codes: retry.codes,
      on: retry.on,
      curve: retry.backoff.curve,
      backoffMs: retry.backoff.baseMs,
      maxBackoffMs: retry.backoff.maxMs,
      jitter: retry.backoff.jitter,
      retryAfterMaxMs: retry.retryAfterMaxMs,
      retryOfRetry: config.retryOfRetry,
    }),
    timeouts: {
      ...DEFAULT_TIMEOUTS,
      requestMs: timeouts.requestMs,
      attemptMs: timeouts.attemptMs,
      idleMs: timeouts.idleMs,
      connectMs: built.config.connect.connectMs,
    },
    replayBufferBytes: route.replayBufferBytes,
  };
}
