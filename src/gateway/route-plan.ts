import type { GatewayConfig, RouteConfig } from '../config/gateway-config.ts';
import { createRetryPolicy } from '../core/retry-policy.ts';
import type { Upstream } from '../engine/upstream.ts';
import type { ExchangePlan } from '../proxy/plan.ts';
import { DEFAULT_TIMEOUTS } from '../proxy/plan.ts';
import type { BuiltUpstream } from './build.ts';
import type { Rewrite } from './rewrite.ts';
import { createRewrite } from './rewrite.ts';
import type { TargetChoice } from './target-choice.ts';
import { createTargetChoice } from './target-choice.ts';

/** How the requests of a route that go to one of its targets are treated. */
export interface RoutePlan extends ExchangePlan {
  readonly upstream: Upstream;
  readonly rewrite: Rewrite | undefined;
}

/** @throws RangeError when a target's name leads nowhere, or no target has a weight */
export function buildRoutePlans(
  route: RouteConfig,
  config: GatewayConfig,
  upstreams: ReadonlyMap<string, BuiltUpstream>,
): TargetChoice<RoutePlan> {
  const { retry, timeouts } = route;
  const policy = createRetryPolicy({
    maxRetries: retry.maxRetries,
    codes: retry.codes,
    on: retry.on,
    curve: retry.backoff.curve,
    backoffMs: retry.backoff.baseMs,
    maxBackoffMs: retry.backoff.maxMs,
    jitter: retry.backoff.jitter,
    retryAfterMaxMs: retry.retryAfterMaxMs,
    retryOfRetry: config.retryOfRetry,
  });
  const rewrite = createRewrite(route);
  const built = route.targets.map(({ upstream: name, weight }) => {
    const found = upstreams.get(name);
    if (found === undefined) throw new RangeError(`route ${route.name}: no upstream is named "${name}"`);
    return { found, weight };
  });
  const serving = built.filter(({ weight }) => weight > 0).map(({ found }) => found.upstream);
  return createTargetChoice(
    built.map(({ found: { upstream, config: settings }, weight }) => ({
      weight,
      target: {
        routeName: route.name,
        upstream,
        policy,
        timeouts: {
          ...DEFAULT_TIMEOUTS,
          requestMs: timeouts.requestMs,
          attemptMs: timeouts.attemptMs,
          idleMs: timeouts.idleMs,
          connectMs: settings.connect.connectMs,
        },
        replayBufferBytes: route.replayBufferBytes,
        rewrite,
        fallback:
          serving.length < 2 ? undefined : () => serving.find((other) => other !== upstream && other.hasEndpoint()),
      },
    })),
  );
}
