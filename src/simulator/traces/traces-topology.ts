import type { DataPath } from '../../config/fault.ts';
import { createRetryPolicy } from '../../core/retry-policy.ts';
import { DEFAULT_TIMEOUTS } from '../call-rules.ts';
import { LayerHops } from '../layer-hops.ts';
import type { Topology, TopologyCall, TopologyOperation, TopologyRoot } from '../topology.ts';
import type { CallStatistics, OperationStatistics } from './statistics.ts';
import { stepsOf } from './steps.ts';
import { withoutCircles } from './without-circles.ts';
import { serviceTimeOf } from './work-statistics.ts';

export interface ObservedTopology {
  readonly topology: Topology;
  readonly callPaths: readonly DataPath[];
  /** What had to be left out. */
  readonly omissions: readonly { readonly path: DataPath; readonly message: string }[];
}

/** The statuses that retries of services are about; those that were seen to be retried come on top. */
const RETRIED_STATUSES: readonly number[] = [500, 502, 503, 504];

/** Failed calls that an answer must have survived before it is believed to do without. */
const FEWEST_SURVIVED = 5;

/**
 * What the traces show as a topology. Retries are as many as were seen at most; that they have no budget and obey no
 * claims is assumed, for nothing shows the opposite.
 * @param seconds over which the traces were taken, > 0
 */
export function observedTopology(
  statistics: ReadonlyMap<string, OperationStatistics>,
  seconds: number,
): ObservedTopology {
  const { operations: seen, omissions } = withoutCircles(statistics);
  const serviceNames = [...new Set(seen.map(({ service }) => service))];
  const indexes = new Map(seen.map(({ key }, index) => [key, index]));
  const calls: TopologyCall[] = [];
  const callPaths: DataPath[] = [];
  const add = (call: TopologyCall, path: DataPath): number => {
    callPaths.push(path);
    return calls.push(call) - 1;
  };
  const hops = new LayerHops({ services: serviceNames.length, operations: seen.length });
  const bare = seen.map((operation): TopologyOperation => toOperation(operation, serviceNames));
  const operations = seen.map((operation, from): TopologyOperation => {
    const steps = stepsOf(operation).map((step) =>
      step.flatMap((call) => {
        const target = bare[indexes.get(call.to)!]!;
        const layers = call.maxHiddenRetries === 0 ? [] : [hiddenLayer(call)];
        const index = hops.callThrough(
          toCall(call, operation, from, indexes),
          { caller: operation.service, target, layers },
          (one) => add(one, call.path),
        );
        const count = Math.min(1000, Math.max(1, Math.round(call.callCount / call.visitCount)));
        return Array.from({ length: count }, () => index);
      }),
    );
    // Calls that are made several times, and not at the same time, are a step each.
    return { ...bare[from]!, steps: steps.flatMap((step) => (isOneCall(step) ? step.map((call) => [call]) : [step])) };
  });
  const roots = seen.flatMap((operation, index): TopologyRoot[] => {
    if (operation.rootCount === 0) return [];
    const call = add({ ...CLIENT_CALL, to: index }, operation.path);
    const ratePerSecond = Math.max(0.001, operation.rootCount / seconds);
    return [{ operation: index, call, ratePerSecond, arrivals: 'poisson', fromMs: 0, untilMs: Infinity }];
  });
  return {
    topology: {
      ...SETTINGS,
      ...servicesOf(serviceNames, hops),
      operations: [...operations, ...hops.operations],
      calls,
      roots,
    },
    callPaths,
    omissions,
  };
}

function isOneCall(step: readonly number[]): boolean {
  return step.every((call) => call === step[0]);
}

const SETTINGS = {
  faults: [],
  durationMs: 60_000,
  seed: 1,
  deadlines: { propagate: false, marginMs: 10, dropExpired: false },
  ownership: 'off',
  tellsLineage: false,
} as const;

const TIMEOUTS = { requestMs: DEFAULT_TIMEOUTS.request, attemptMs: DEFAULT_TIMEOUTS.backendRequest };

const CLIENT_CALL: Omit<TopologyCall, 'to'> = {
  from: undefined,
  probability: 1,
  timeouts: TIMEOUTS,
  policy: createRetryPolicy({ maxRetries: 0, on: [], ownership: 'off' }),
  budget: { kind: 'none' },
  maxInflightRequests: Infinity,
  breaker: undefined,
  edge: 'fail-closed',
};

function servicesOf(names: readonly string[], hops: LayerHops): Pick<Topology, 'services'> {
  const capacity = { workerCount: Infinity, queue: 'fifo', queueLimit: Infinity, blocking: false } as const;
  return {
    services: [
      ...names.map((name) => ({ name, participation: 'cooperating', instanceCount: 1, capacity }) as const),
      ...hops.services,
    ],
  };
}

function toOperation(operation: OperationStatistics, serviceNames: readonly string[]): TopologyOperation {
  return {
    name: operation.key,
    service: serviceNames.indexOf(operation.service),
    method: operation.method ?? 'GET',
    keyed: operation.isKeyed,
    serviceTime: serviceTimeOf(operation.workMs),
    errorRatio: operation.ownErrorCount / operation.visitCount,
    steps: [],
  };
}

function toCall(
  call: CallStatistics,
  { visitCount }: OperationStatistics,
  from: number,
  indexes: ReadonlyMap<string, number>,
): TopologyCall {
  const isFailOpen = call.survivedCount >= FEWEST_SURVIVED && call.survivedCount >= 0.8 * call.failedCount;
  return {
    ...CLIENT_CALL,
    from,
    to: indexes.get(call.to)!,
    probability: Math.min(1, call.visitCount / visitCount),
    policy: policyOf(call.maxRetries, call.retriedStatuses),
    edge: isFailOpen ? 'fail-open' : 'fail-closed',
  };
}

function policyOf(maxRetries: number, statuses: ReadonlySet<number>): TopologyCall['policy'] {
  if (maxRetries === 0) return CLIENT_CALL.policy;
  return createRetryPolicy({
    maxRetries: Math.min(1000, maxRetries),
    codes: [...RETRIED_STATUSES, ...[...statuses].filter((status) => status <= 599)],
    on: ['unsent', 'rejected', 'stale', 'reset', 'timeout'],
    retryOfRetry: true,
    ownership: 'off',
  });
}

function hiddenLayer({ maxHiddenRetries }: CallStatistics): Parameters<LayerHops['callThrough']>[1]['layers'][number] {
  return {
    name: 'between',
    participation: 'legacy',
    timeouts: { requestMs: 0, attemptMs: 0 },
    policy: policyOf(maxHiddenRetries, new Set()),
    budget: { kind: 'none' },
  };
}
