import type { GatewayConfig, RouteConfig, UpstreamConfig } from '../config/gateway-config.ts';
import { pathAllowance } from '../core/ownership/path-allowance.ts';
import type { RetryPolicy } from '../core/retry-policy.ts';
import { createRetryPolicy } from '../core/retry-policy.ts';
import type { Upstream } from '../engine/upstream.ts';
import type { FieldChanges } from '../config/route-filters.ts';
import type { OwnershipRules } from '../proxy/ownership-rules.ts';
import type { ExchangePlan } from '../proxy/plan.ts';
import { DEFAULT_TIMEOUTS } from '../proxy/plan.ts';
import type { Clock } from '../transport/clock.ts';
import type { ReplayMemory } from '../transport/body/replay-memory.ts';
import type { BuiltUpstream } from './build.ts';
import { createMirror } from './filters/mirror.ts';
import { CopyInMaking } from './filters/request-copy.ts';
import { ownershipMode, rulesOfOwnAnswers } from './ownership.ts';
import type { Rewrite } from './rewrite.ts';
import type { RouteAnswer } from './route-answer.ts';
import { routeAnswers } from './route-answer.ts';
import { createRewrite } from './rewrite.ts';
import type { TargetChoice } from './target-choice.ts';
import { createTargetChoice } from './target-choice.ts';

/** How the requests of a route that go to one of its targets are treated. */
export interface RoutePlan extends ExchangePlan {
  readonly upstream: Upstream;
  readonly rewrite: Rewrite | undefined;
  readonly requestFields: FieldChanges | undefined;
  readonly responseFields: FieldChanges | undefined;
  /** Begins the copy of a request, if a mirror of the route takes it. Undefined: the route has no mirrors. */
  readonly copy: (() => CopyInMaking | undefined) | undefined;
}

/** What becomes of a request: it is sent on, or answered by the route itself. */
export type RouteStep = RoutePlan | RouteAnswer;

interface PlanServices extends CopyServices {
  /** Whom the gateway believes. */
  readonly ownership: OwnershipRules | undefined;
}

interface CopyServices {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** For the bodies of copies in making. */
  readonly copyMemory: ReplayMemory;
}

/** @throws RangeError when a target's name leads nowhere, or no target has a weight */
export function buildRoutePlans(
  route: RouteConfig,
  config: GatewayConfig,
  upstreams: ReadonlyMap<string, BuiltUpstream>,
  services: PlanServices,
): TargetChoice<RouteStep> {
  const { retry, timeouts } = route;
  const policyFor = (upstream: UpstreamConfig): RetryPolicy =>
    createRetryPolicy({
      // Where this hop retries for a whole path, it has the retries of all of them.
      maxRetries: pathAllowance(0, upstream.ownership?.hops ?? 1, retry.maxRetries).maxRetries,
      ownership: ownershipMode(config, route, upstream),
      codes: retry.codes,
      grpcStatuses: retry.grpcStatuses,
      on: retry.on,
      curve: retry.backoff.curve,
      backoffMs: retry.backoff.baseMs,
      maxBackoffMs: retry.backoff.maxMs,
      jitter: retry.backoff.jitter,
      retryAfterMaxMs: retry.retryAfterMaxMs,
      retryOfRetry: config.retryOfRetry,
    });
  const rewrite = createRewrite(route);
  const find = (name: string): BuiltUpstream => {
    const found = upstreams.get(name);
    if (found === undefined) throw new RangeError(`route ${route.name}: no upstream is named "${name}"`);
    return found;
  };
  const built = route.targets.map(({ upstream, weight }) => ({ found: find(upstream), weight }));
  const copy = copies(route, find, services);
  const serving = built.filter(({ weight }) => weight > 0).map(({ found }) => found.upstream);
  const plans = built.map(({ found: { upstream, config: settings }, weight }) => ({
    weight,
    target: {
      routeName: route.name,
      upstream,
      policy: policyFor(settings),
      ownership: services.ownership,
      timeouts: {
        ...DEFAULT_TIMEOUTS,
        requestMs: timeouts.requestMs,
        attemptMs: timeouts.attemptMs,
        idleMs: timeouts.idleMs,
        connectMs: settings.connect.connectMs,
      },
      replayBufferBytes: route.replayBufferBytes,
      hedge: route.hedge,
      connect: route.connect,
      // `false` would deny a GET what its method allows.
      repeatable: route.idempotent === true ? true : undefined,
      upgrade: route.upgrade === undefined ? undefined : new Set(route.upgrade),
      rewrite,
      requestFields: route.filters?.requestFields,
      responseFields: route.filters?.responseFields,
      copy,
      fallback:
        serving.length < 2 ? undefined : () => serving.find((other) => other !== upstream && other.hasEndpoint()),
    },
  }));
  const own = rulesOfOwnAnswers(config, services.ownership, route);
  const targetWeight = built.reduce((sum, { weight }) => sum + weight, 0);
  return createTargetChoice<RouteStep>([...plans, ...routeAnswers(route, targetWeight, own)]);
}

function copies(
  { filters, replayBufferBytes: capBytes }: RouteConfig,
  find: (upstream: string) => BuiltUpstream,
  { clock, random, copyMemory: memory }: CopyServices,
): RoutePlan['copy'] {
  const all = (filters?.mirrors ?? []).map(({ upstream: name, share }) => {
    const { upstream, config } = find(name);
    return createMirror({ upstream, share, connectMs: config.connect.connectMs, clock, random });
  });
  if (all.length === 0) return undefined;
  return () => {
    const mirrors = all.filter((mirror) => mirror.takes());
    return mirrors.length === 0 ? undefined : new CopyInMaking({ mirrors, capBytes, memory, clock });
  };
}
