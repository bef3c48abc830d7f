import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { SpanExporter } from '@opentelemetry/sdk-trace';

export interface CollectorOptions {
  /** Where traces are posted, whole: `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  /** Sent with every batch, in addition to what `OTEL_EXPORTER_OTLP_HEADERS` says. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface CollectorExporter {
  readonly exporter: SpanExporter;
  /** Ends what is under way and lets nothing new begin. */
  cut(): void;
}

/** For one batch, the exporter's own repetitions included. */
const EXPORT_MS = 5_000;
const CONNECTIONS = 4;

/** The official exporter of OTLP over HTTP in JSON, on connections of its own: it shares nothing with the requests. */
export function createCollectorExporter({ url, headers }: CollectorOptions): CollectorExporter {
  const options = { keepAlive: true, maxSockets: CONNECTIONS };
  const agent = new URL(url).protocol === 'https:' ? new TlsAgent(options) : new Agent(options);
  return {
    exporter: new OTLPTraceExporter({
      url,
      headers: { ...headers },
      timeoutMillis: EXPORT_MS,
      httpAgentOptions: () => agent,
    }),
    cut() {
      // The exporter repeats what failed after a while, and cannot be told not to.
      agent.createConnection = () => {
        throw new Error('tracing ends');
      };
      agent.destroy();
    },
  };
}
