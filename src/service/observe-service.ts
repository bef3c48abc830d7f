import type { Meter } from '@opentelemetry/api';
import { installedService } from './install.ts';
import { observeMetrics } from './opentelemetry-metrics.ts';

/**
 * Gives a meter of OpenTelemetry all that the service of this process counts, read whenever the meter is:
 * `observeService(metrics.getMeter('mulligan'))`. The names are those of Prometheus with dots, `mulligan.service.calls`,
 * without `_total`. What is not counted yet, for no service is installed, is not there.
 *
 * @returns takes it away from the meter
 */
export function observeService(meter: Meter): () => void {
  return observeMetrics(meter, () => installedService()?.metrics());
}
