import { collectDefaultMetrics, Registry } from 'prom-client';
import type { GatewayReading } from './live-reading.ts';
import { addOwnershipMetrics } from './ownership-metrics.ts';
import type { RequestMeter } from './request-meter.ts';
import { addRequestMetrics } from './request-metrics.ts';
import { addStateMetrics } from './state-metrics.ts';

export interface PrometheusOptions {
  readonly meter: RequestMeter;
  /** Reads the live state; called once a scrape. */
  readonly read: () => GatewayReading;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
}

/** The metrics of a process in Prometheus's text format. */
export interface Prometheus {
  readonly contentType: string;
  text(): Promise<string>;
}

/** Milliseconds between two looks at the event loop's delay: each is a wake-up of an idle process. */
const LOOP_DELAY_RESOLUTION_MS = 20;

let ofProcess: Registry | undefined;

/** Made once: the observers behind them cannot be taken away again. */
function processMetrics(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess, eventLoopMonitoringPrecision: LOOP_DELAY_RESOLUTION_MS });
  }
  return ofProcess;
}

/** Makes the metrics of a gateway; those of the process itself (`process_…`, `nodejs_…`) follow them. */
export function createPrometheus({ meter, read, nowMs }: PrometheusOptions): Prometheus {
  processMetrics();
  const registry = new Registry();
  // Each family asks for the reading; all of one scrape get the same, so that their sums agree.
  let reading: GatewayReading | undefined;
  const current = (): GatewayReading => (reading ??= read());
  addRequestMetrics(registry, meter, nowMs);
  addOwnershipMetrics(registry, meter, nowMs);
  addStateMetrics(registry, current);
  return {
    contentType: registry.contentType,
    async text() {
      reading = read();
      meter.forgetStale(inServiceOf(reading));
      return [await registry.metrics(), await processMetrics().metrics()].join('\n');
    },
  };
}

function inServiceOf({ routes, upstreams }: GatewayReading): Parameters<RequestMeter['forgetStale']>[0] {
  const endpoints = new Map(upstreams.map((one) => [one.name, new Set(one.endpoints.map(({ address }) => address))]));
  return {
    routes: new Set(routes),
    upstreams: new Set(endpoints.keys()),
    hasEndpoint: (upstream, endpoint) => endpoints.get(upstream)?.has(endpoint) === true,
  };
}
