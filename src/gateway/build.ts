import { isDeepStrictEqual } from 'node:util';
import type { GatewayConfig, UpstreamConfig } from '../config/gateway-config.ts';
import { createOutlierPolicy } from '../core/outlier-detection.ts';
import type { RetryBudget } from '../core/retry-budget.ts';
import { createRetryBudget } from '../core/retry-budget.ts';
import type { Upstream } from '../engine/upstream.ts';
import { createUpstream } from '../engine/upstream.ts';
import type { OwnershipRules } from '../proxy/ownership-rules.ts';
import type { Clock } from '../transport/clock.ts';
import { createTransport } from '../transport/create-transport.ts';
import { createReplayMemory } from '../transport/body/replay-memory.ts';
import type { TlsSettings } from '../transport/tls-connect.ts';
import type { Transport } from '../transport/transport.ts';
import { endpointOptions } from './endpoint-options.ts';
import { createOwnershipRules, rulesOfOwnAnswers } from './ownership.ts';
import { createSystemResolver } from './resolve-name.ts';
import type { RouteStep } from './route-plan.ts';
import { buildRoutePlans } from './route-plan.ts';
import type { Router } from './router.ts';
import { createRouter } from './router.ts';
import type { TargetChoice } from './target-choice.ts';
import type { TaskServices, UpstreamTasks } from './upstream-tasks.ts';
import { tellChange } from './upstream-changes.ts';
import { createUpstreamTasks } from './upstream-tasks.ts';
import { readTlsSettings } from './upstream-tls.ts';

/** An upstream and the configuration it was made from. */
export interface BuiltUpstream {
  readonly config: UpstreamConfig;
  readonly upstream: Upstream;
  readonly tasks: UpstreamTasks;
  /** What its files held. */
  readonly tls: TlsSettings | undefined;
}

/** Bodies of copies for mirrors that are not whole yet. */
const copyMemoryBytes = 16 * 1024 * 1024;

/** Everything a configuration stands for, ready to serve. Replaced as a whole by a reload. */
export interface GatewayState {
  readonly config: GatewayConfig;
  readonly upstreams: ReadonlyMap<string, BuiltUpstream>;
  readonly router: Router<TargetChoice<RouteStep>>;
  /** For requests that no route takes. */
  readonly ownership: OwnershipRules | undefined;
}

/**
 * Makes the live objects of a configuration; opens nothing. What did not change is taken over from `previous` with its
 * live state: an upstream whole; of one whose settings changed its permits in flight, and its connections and budget
 * unless it is their settings that changed. Until `commitState` nothing of `previous` is touched.
 * @throws RangeError when the configuration did not come from `parseConfig` and holds a value out of range; the system's
 * error when a certificate or key cannot be read
 */
export function buildState(
  config: GatewayConfig,
  clock: Clock,
  previous?: GatewayState,
  services: Partial<TaskServices> = {},
): GatewayState {
  const all = {
    random: Math.random,
    resolve: createSystemResolver(),
    say: () => {},
    tell: () => {},
    ...services,
    clock,
  };
  const upstreams = new Map<string, BuiltUpstream>();
  for (const upstream of config.upstreams)
    upstreams.set(upstream.name, buildUpstream(upstream, all, previous?.upstreams.get(upstream.name)));
  const rules = createOwnershipRules(config);
  const planning = { ...all, copyMemory: createReplayMemory(copyMemoryBytes), ownership: rules };
  const routes = config.routes.map((route) => ({ route, target: buildRoutePlans(route, config, upstreams, planning) }));
  return { config, upstreams, router: createRouter(routes), ownership: rulesOfOwnAnswers(config, rules) };
}

/** Asks for the addresses of what is new in `next`, so that it has some when it is taken into use. Never rejects. */
export async function prepareState(next: GatewayState, previous?: GatewayState): Promise<void> {
  await Promise.all(onlyIn(next, previous).map(({ tasks }) => tasks.prepare()));
}

/** Takes `next` into use: what is new in it begins its work, with what is known of addresses that stay. */
export function commitState(next: GatewayState, previous?: GatewayState): void {
  if (previous !== undefined) retireState(previous, next);
  for (const { config, upstream, tasks } of onlyIn(next, previous))
    tasks.start(upstream, previous?.upstreams.get(config.name)?.upstream);
}

/** Ends the work of what `next` has not taken over. Requests under way there end on the connections they have. */
export function retireState(previous: GatewayState, next?: GatewayState): void {
  const kept = new Set([...(next?.upstreams.values() ?? [])].map(({ upstream }) => upstream.transport));
  for (const { upstream, tasks } of onlyIn(previous, next)) {
    tasks.stop();
    if (!kept.has(upstream.transport)) upstream.close();
  }
}

function onlyIn(state: GatewayState, other: GatewayState | undefined): BuiltUpstream[] {
  return [...state.upstreams].filter(([name, built]) => other?.upstreams.get(name) !== built).map(([, built]) => built);
}

function buildUpstream(
  config: UpstreamConfig,
  services: TaskServices,
  previous: BuiltUpstream | undefined,
): BuiltUpstream {
  const tls = readTlsSettings(config.tls);
  if (previous !== undefined && isDeepStrictEqual(previous.config, config) && isDeepStrictEqual(previous.tls, tls))
    return previous;
  const tasks = createUpstreamTasks(config, services, previous?.tasks, tls);
  const upstream = createUpstream({
    name: config.name,
    endpoints: config.endpoints.map((endpoint) => endpointOptions(endpoint, tls !== undefined)),
    whyEmpty: config.dnsEndpoints.length === 0 ? undefined : tasks.whyEmpty,
    transport: keptTransport(config, tls, previous) ?? transportOf(config, tls, services.clock),
    loadBalancing: config.loadBalancing,
    hashHeader: config.hashHeader,
    budget: keptBudget(config, previous) ?? createRetryBudget(config.budget),
    onBudgetExhausted: config.onExhausted,
    maxInflightRequests: config.maxInflightRequests,
    onOverflow: config.onOverflow,
    circuitBreaker: config.circuitBreaker,
    outliers: config.outliers === undefined ? undefined : createOutlierPolicy(config.outliers),
    replaces: previous?.upstream,
    onChange: (change) => tellChange(change, services),
  });
  return { config, upstream, tasks, tls };
}

function transportOf({ connect, protocol }: UpstreamConfig, tls: TlsSettings | undefined, clock: Clock): Transport {
  return createTransport({
    clock,
    protocol,
    tls,
    idleMs: connect.idleTimeoutMs,
    maxConnections: connect.maxConnections,
    maxRequestsPerConnection: connect.maxRequestsPerConnection,
  });
}

/** Other endpoints, say, are no reason to close the connections to those that stay; another certificate is one. */
function keptTransport(
  { connect, protocol }: UpstreamConfig,
  tls: TlsSettings | undefined,
  previous: BuiltUpstream | undefined,
): Transport | undefined {
  if (previous === undefined) return undefined;
  const before = [previous.config.connect, previous.config.protocol, previous.tls];
  return isDeepStrictEqual(before, [connect, protocol, tls]) ? previous.upstream.transport : undefined;
}

/** A reload must not hand out a second budget in the middle of an outage: with new endpoints, say. */
function keptBudget(config: UpstreamConfig, previous: BuiltUpstream | undefined): RetryBudget | undefined {
  return previous !== undefined && isDeepStrictEqual(previous.config.budget, config.budget)
    ? previous.upstream.budget
    : undefined;
}
