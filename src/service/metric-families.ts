import type { Sample } from '../telemetry/metric-family.ts';
import type { EdgeMetrics, OperationMetrics, ServiceMetrics } from './counters.ts';

/** One metric, for every way in which it is read. */
export interface ServiceFamily {
  /** Words with `_` between them: `retries_suppressed`. */
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  /** What is counted, as UCUM annotates it: `{call}`. */
  readonly unit: string;
  readonly help: string;
  readonly labels: readonly string[];
  read(metrics: ServiceMetrics): Sample[];
}

const EDGE = ['inbound', 'callee'] as const;

/** Everything that `serviceMetrics` knows. */
export const SERVICE_FAMILIES: readonly ServiceFamily[] = [
  ofEdge('calls', '{call}', 'Calls that ended.', (edge) => edge.callCount),
  ofEdge('calls_failed', '{call}', 'Calls that failed by somebody else.', (edge) => edge.failedCount),
  byWord('claims_in', '{claim}', 'Failed answers by what the callee claimed.', 'claim', (edge) => edge.claimsIn),
  byWord(
    'claims_suspected',
    '{claim}',
    'Believed claims that are likely wrong, by the reason to think so.',
    'reason',
    ({ wrongClaims: { contradictory, doubted, retryHelped } }) => ({
      contradictory,
      doubted,
      'retry-helped': retryHelped,
    }),
  ),
  ofEdge('retries', '{retry}', 'Retries made.', (edge) => edge.retryCount),
  byWord('retries_suppressed', '{retry}', 'Retries not made, by reason.', 'reason', (edge) => edge.suppressed),
  ofEdge(
    'retries_unsuppressed',
    '{retry}',
    'Retries of errors that the callee had relayed: observed only, or made by a loop of the application.',
    (edge) => edge.unsuppressedCount,
  ),
  ofEdge('probes', '{call}', 'Calls whose suppressed retry was let through.', (edge) => edge.probeCount),
  ofEdge('missed_retries', '{call}', 'Of these, the ones that succeeded.', (edge) => edge.missedRetryCount),
  ofOperation('requests', 'Requests that were answered.', (one) => one.requestCount),
  ofOperation('errors', 'Of these, errors by somebody else than the client.', (one) => one.errorCount),
  {
    name: 'claims_out',
    type: 'counter',
    unit: '{claim}',
    help: 'Errors by what was claimed.',
    labels: ['inbound', 'claim'],
    read: ({ operations }) =>
      operations.flatMap(({ inbound, claimsOut }) =>
        Object.entries(claimsOut).map(([claim, count]): Sample => [[inbound, claim], count]),
      ),
  },
  ofOperation('low_claims', 'Errors owned where a lost context is likely.', (one) => one.lowCount),
  ofOperation('expired', 'Requests refused because no time was left.', (one) => one.expiredCount),
  {
    name: 'storm_radius',
    type: 'gauge',
    unit: '{layer}',
    help: 'The most layers of retries on the way of one request, within two minutes, as far as they can be seen from here.',
    labels: ['inbound'],
    read: ({ operations }) => operations.map((one): Sample => [[one.inbound], one.stormRadius]),
  },
  {
    name: 'calls_untracked',
    type: 'counter',
    unit: '{call}',
    help: 'Calls that belong to no request.',
    labels: [],
    read: ({ untrackedCallCount }) => [[[], untrackedCallCount]],
  },
  {
    name: 'hook_faults',
    type: 'counter',
    unit: '{fault}',
    help: 'Hooks that failed; the application went on.',
    labels: ['hook'],
    read: ({ hookFaults }) => Object.entries(hookFaults).map(([hook, count]): Sample => [[hook], count]),
  },
];

function ofEdge(name: string, unit: string, help: string, count: (edge: EdgeMetrics) => number): ServiceFamily {
  return {
    name,
    type: 'counter',
    unit,
    help,
    labels: EDGE,
    read: ({ edges }) => edges.map((edge): Sample => [[edge.inbound, edge.callee], count(edge)]),
  };
}

function byWord(
  name: string,
  unit: string,
  help: string,
  label: string,
  counts: (edge: EdgeMetrics) => Readonly<Record<string, number>>,
): ServiceFamily {
  return {
    name,
    type: 'counter',
    unit,
    help,
    labels: [...EDGE, label],
    read: ({ edges }) =>
      edges.flatMap((edge) =>
        Object.entries(counts(edge)).map(([word, count]): Sample => [[edge.inbound, edge.callee, word], count]),
      ),
  };
}

function ofOperation(name: string, help: string, count: (one: OperationMetrics) => number): ServiceFamily {
  return {
    name,
    type: 'counter',
    unit: '{request}',
    help,
    labels: ['inbound'],
    read: ({ operations }) => operations.map((one): Sample => [[one.inbound], count(one)]),
  };
}
