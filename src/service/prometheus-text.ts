import type { ServiceMetrics } from './counters.ts';
import type { Sample } from '../telemetry/metric-family.ts';
import { installedService } from './install.ts';

const NOTHING: ServiceMetrics = { edges: [], operations: [], untrackedCallCount: 0, hookFaults: {} };

/**
 * What the service of this process has counted, in Prometheus's text format; no series when none is installed. It is
 * text to answer a scrape with, beside what the application measures itself.
 */
export async function servicePrometheusText(): Promise<string> {
  // Loaded by who asks for it: most services are read in another way, or not at all.
  const [{ Registry }, { addCounter, addGauge }] = await Promise.all([
    import('prom-client'),
    import('../telemetry/metric-family.ts'),
  ]);
  const metrics = installedService()?.metrics() ?? NOTHING;
  const registry = new Registry();
  const counter = (name: string, help: string, labels: readonly string[], samples: readonly Sample[]): void =>
    addCounter(registry, { name: `mulligan_service_${name}_total`, help, labels, read: () => samples });

  const { edges, operations } = metrics;
  const edge = ['inbound', 'callee'] as const;
  const ofEdge = (read: (one: ServiceMetrics['edges'][number]) => number): Sample[] =>
    edges.map((one) => [[one.inbound, one.callee], read(one)]);
  const byWord = (read: (one: ServiceMetrics['edges'][number]) => Readonly<Record<string, number>>): Sample[] =>
    edges.flatMap((one) =>
      Object.entries(read(one)).map(([word, count]): Sample => [[one.inbound, one.callee, word], count]),
    );
  counter(
    'calls',
    'Calls that ended.',
    edge,
    ofEdge((one) => one.callCount),
  );
  counter(
    'calls_failed',
    'Calls that failed by somebody else.',
    edge,
    ofEdge((one) => one.failedCount),
  );
  counter(
    'claims_in',
    'Failed answers by what the callee claimed.',
    [...edge, 'claim'],
    byWord((one) => one.claimsIn),
  );
  counter(
    'retries',
    'Retries made.',
    edge,
    ofEdge((one) => one.retryCount),
  );
  counter(
    'retries_suppressed',
    'Retries not made, by reason.',
    [...edge, 'reason'],
    byWord((one) => one.suppressed),
  );
  counter(
    'retries_unsuppressed',
    'Retries of errors that the callee had relayed: observed only, or made by a loop of the application.',
    edge,
    ofEdge((one) => one.unsuppressedCount),
  );
  counter(
    'probes',
    'Calls whose suppressed retry was let through.',
    edge,
    ofEdge((one) => one.probeCount),
  );
  counter(
    'missed_retries',
    'Of these, the ones that succeeded.',
    edge,
    ofEdge((one) => one.missedRetryCount),
  );

  const ofOperation = (read: (one: ServiceMetrics['operations'][number]) => number): Sample[] =>
    operations.map((one) => [[one.inbound], read(one)]);
  counter(
    'requests',
    'Requests that were answered.',
    ['inbound'],
    ofOperation((one) => one.requestCount),
  );
  counter(
    'errors',
    'Of these, errors by somebody else than the client.',
    ['inbound'],
    ofOperation((one) => one.errorCount),
  );
  counter(
    'claims_out',
    'Errors by what was claimed.',
    ['inbound', 'claim'],
    operations.flatMap(({ inbound, claimsOut }) =>
      Object.entries(claimsOut).map(([claim, count]): Sample => [[inbound, claim], count]),
    ),
  );
  counter(
    'low_claims',
    'Errors owned where a lost context is likely.',
    ['inbound'],
    ofOperation((one) => one.lowCount),
  );
  counter(
    'expired',
    'Requests refused because no time was left.',
    ['inbound'],
    ofOperation((one) => one.expiredCount),
  );
  addGauge(registry, {
    name: 'mulligan_service_storm_radius',
    help: 'The most layers of retries on the way of one request, within two minutes.',
    labels: ['inbound'],
    read: () => ofOperation((one) => one.stormRadius),
  });
  counter('calls_untracked', 'Calls that belong to no request.', [], [[[], metrics.untrackedCallCount]]);
  counter(
    'hook_faults',
    'Hooks that failed; the application went on.',
    ['hook'],
    Object.entries(metrics.hookFaults).map(([hook, count]): Sample => [[hook], count]),
  );
  return registry.metrics();
}
