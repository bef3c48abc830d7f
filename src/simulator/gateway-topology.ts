import type { DataPath } from '../config/fault.ts';
import type { GatewayConfig, RouteConfig, UpstreamConfig } from '../config/gateway-config.ts';
import { parseConfig } from '../config/parse.ts';
import { pathAllowance } from '../core/ownership/path-allowance.ts';
import { createRetryPolicy, type RetryPolicy } from '../core/retry-policy.ts';
import { isIdempotent } from '../core/safety.ts';
import { callPlaces } from './call-places.ts';
import type { Topology, TopologyCall, TopologyOperation } from './topology.ts';
import type { ReadSource, Untold } from './topology-source.ts';

/** What no gateway file tells, and what stands in its place. */
const ASSUMED = { ratePerSecond: 100, serviceTimeMs: 10 };
const UNTOLD: ReadonlySet<Untold> = new Set<Untold>(['rates', 'keys']);

/** Reads a gateway file as a topology: the gateway, its routes as operations, its upstreams as services. Never throws. */
export function readGatewayTopology(text: string, fileName: string): ReadSource {
  const parsed = parseConfig(text, fileName);
  if (!parsed.ok) return parsed;
  const { topology, callPaths } = toTopology(parsed.config);
  return {
    ok: true,
    source: {
      file: fileName,
      format: 'gateway',
      topology,
      warnings: parsed.warnings,
      assumptions: [
        `a gateway file tells no traffic: ${ASSUMED.ratePerSecond} requests a second for each route, and ${ASSUMED.serviceTimeMs} ms of work in an upstream without a limit of capacity, are assumed`,
        'what the upstreams call, and who retries before the gateway, is not in it: a topology file can hold both',
        ...(parsed.config.routes.some(({ hedge }) => hedge !== undefined) ? ['copies (`hedge`) are left out'] : []),
        ...(parsed.config.routes.some(({ retry }) => retry.grpcStatuses !== undefined)
          ? ['statuses of gRPC in `retry.codes` are left out: errors of the model are statuses of HTTP']
          : []),
      ],
      untold: UNTOLD,
      placeOfCall: callPlaces(text, callPaths),
      lines: text.split('\n'),
    },
  };
}

function toTopology(config: GatewayConfig): { readonly topology: Topology; readonly callPaths: readonly DataPath[] } {
  const calls: TopologyCall[] = [];
  const callPaths: DataPath[] = [];
  const add = (call: TopologyCall, path: DataPath): number => {
    callPaths.push(path);
    return calls.push(call) - 1;
  };
  const routes = [...config.routes.entries()].filter(([, { targets }]) => targets.some(({ weight }) => weight > 0));
  const operations: TopologyOperation[] = [];
  const upstreamOperations: TopologyOperation[] = [];
  for (const [index, route] of routes) {
    const totalWeight = route.targets.reduce((sum, { weight }) => sum + weight, 0);
    const method = route.match.methods?.find(isIdempotent) ?? route.match.methods?.[0] ?? 'GET';
    // What may be repeated by the operator's word is, to the model, what carries a key.
    const shared = { method, keyed: route.idempotent === true, errorRatio: 0 };
    const steps = route.targets.flatMap(({ upstream: name, weight }) => {
      const service = config.upstreams.findIndex((one) => one.name === name);
      if (weight === 0 || service === -1) return [];
      const to = routes.length + upstreamOperations.length;
      const serviceTime = { kind: 'exponential', meanMs: ASSUMED.serviceTimeMs } as const;
      upstreamOperations.push({
        ...shared,
        name: `${name}/${route.name}`,
        service: service + 1,
        serviceTime,
        steps: [],
      });
      const call = callOf(route, config.upstreams[service]!, config.retryOfRetry);
      const made = { ...call, from: operations.length, to, probability: weight / totalWeight };
      return [[add(made, ['routes', index, 'retry'])]];
    });
    operations.push({
      ...shared,
      name: `gateway/${route.name}`,
      service: 0,
      serviceTime: { kind: 'constant', ms: 0 },
      steps,
    });
  }
  const capacity = { workerCount: Infinity, queue: 'fifo', queueLimit: Infinity, blocking: false } as const;
  const service = { participation: 'cooperating', instanceCount: 1, capacity } as const;
  return {
    callPaths,
    topology: {
      services: [
        { ...service, name: 'gateway' },
        ...config.upstreams.map(({ name, endpoints }) => ({
          ...service,
          name,
          instanceCount: Math.max(1, endpoints.length),
        })),
      ],
      operations: [...operations, ...upstreamOperations],
      calls,
      roots: routes.map(([index, { timeouts }], operation) => ({
        operation,
        call: add(clientCall(operation, timeouts.requestMs), ['routes', index]),
        ratePerSecond: ASSUMED.ratePerSecond,
        arrivals: 'poisson',
        fromMs: 0,
        untilMs: Infinity,
      })),
      faults: [],
      durationMs: 60_000,
      seed: 1,
      deadlines: { propagate: false, marginMs: 10, dropExpired: false },
      ownership: 'off',
      tellsLineage: !config.retryOfRetry,
    },
  };
}

function callOf(
  { timeouts, retry }: RouteConfig,
  { budget, maxInflightRequests, circuitBreaker, ownership }: UpstreamConfig,
  retryOfRetry: boolean,
): Omit<TopologyCall, 'from' | 'to' | 'probability'> {
  return {
    timeouts: { requestMs: timeouts.requestMs, attemptMs: timeouts.attemptMs },
    policy: policyOf(retry, retryOfRetry, ownership?.hops ?? 1),
    budget,
    maxInflightRequests,
    breaker: circuitBreaker,
    edge: 'fail-closed',
  };
}

function policyOf(
  { maxRetries, codes, on, backoff, retryAfterMaxMs }: RouteConfig['retry'],
  retryOfRetry: boolean,
  hops: number,
): RetryPolicy {
  const { curve, jitter, baseMs, maxMs } = backoff;
  const waits = { curve, jitter, backoffMs: baseMs, maxBackoffMs: maxMs, retryAfterMaxMs };
  const allowed = pathAllowance(0, hops, maxRetries).maxRetries;
  return createRetryPolicy({ maxRetries: allowed, codes, on, ...waits, retryOfRetry, ownership: 'off' });
}

/** A client tries once, and waits a little longer than the gateway does. */
function clientCall(to: number, gatewayMs: number): TopologyCall {
  const requestMs = gatewayMs === 0 ? 0 : gatewayMs + 1000;
  return {
    from: undefined,
    to,
    probability: 1,
    timeouts: { requestMs, attemptMs: 0 },
    policy: createRetryPolicy({ maxRetries: 0, on: [], ownership: 'off' }),
    budget: { kind: 'none' },
    maxInflightRequests: Infinity,
    breaker: undefined,
    edge: 'fail-closed',
  };
}
