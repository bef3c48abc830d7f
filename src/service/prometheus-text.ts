import type { ServiceMetrics } from './counters.ts';
import { installedService } from './install.ts';
import { SERVICE_FAMILIES } from './metric-families.ts';

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
  for (const { name, type, help, labels, read } of SERVICE_FAMILIES) {
    const [add, ending] = type === 'gauge' ? [addGauge, ''] : [addCounter, '_total'];
    add(registry, { name: `mulligan_service_${name}${ending}`, help, labels, read: () => read(metrics) });
  }
  return registry.metrics();
}
