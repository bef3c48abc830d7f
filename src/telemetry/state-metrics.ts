import type { Registry } from 'prom-client';
import type { EndpointReading, GatewayReading, UpstreamReading } from './live-reading.ts';
import { ENDPOINT_STATES } from './live-reading.ts';
import type { Sample } from './metric-family.ts';
import { addCounter, addGauge } from './metric-family.ts';

/** What is, at the moment of the scrape. `reading` is asked by every family; its owner makes one a scrape. */
export function addStateMetrics(registry: Registry, reading: () => GatewayReading): void {
  addGatewayMetrics(registry, reading);
  addUpstreamMetrics(registry, reading);
  addEndpointMetrics(registry, reading);
}

const BREAKER_STATES = ['closed', 'open', 'half-open'] as const;

function addGatewayMetrics(registry: Registry, reading: () => GatewayReading): void {
  const gauge = (name: string, help: string, value: (of: GatewayReading) => number): void =>
    addGauge(registry, { name, help, labels: [], read: () => [[[], value(reading())]] });
  const counter = (name: string, help: string, value: (of: GatewayReading) => number): void =>
    addCounter(registry, { name, help, labels: [], read: () => [[[], value(reading())]] });

  gauge('mulligan_ready', '1 while requests are taken, as /readyz says; 0 before the start and while draining.', (of) =>
    of.ready ? 1 : 0,
  );
  gauge('mulligan_requests_inflight', 'Requests under way.', (of) => of.inflightRequestCount);
  gauge('mulligan_client_connections', 'Open connections of clients.', (of) => of.clientConnectionCount);
  addCounter(registry, {
    name: 'mulligan_client_connections_refused_total',
    help: 'Connections that were closed for what their clients did, by the reason.',
    labels: ['reason'],
    *read() {
      for (const [reason, count] of reading().refusedConnectionCounts) yield [[reason], count];
    },
  });
  gauge(
    'mulligan_replay_memory_used_bytes',
    'Request bodies kept for another attempt.',
    (of) => of.replayMemory.usedBytes,
  );
  gauge('mulligan_replay_memory_limit_bytes', 'Most of them that may be kept.', (of) => of.replayMemory.limitBytes);
  counter(
    'mulligan_log_lines_lost_total',
    'Lines of the access log that its target did not take.',
    (of) => of.lostLogLineCount,
  );
  counter('mulligan_trace_spans_lost_total', 'Spans that the collector did not take.', (of) => of.lostSpanCount);
  gauge('mulligan_event_readers', 'Clients that read /events.', (of) => of.events.readerCount);
  counter(
    'mulligan_event_readers_dropped_total',
    'Readers of /events that were cut because they did not keep up.',
    (of) => of.events.droppedReaderCount,
  );
  addCounter(registry, {
    name: 'mulligan_config_reloads_total',
    help: 'Configurations that were offered, by whether they were taken into use.',
    labels: ['result'],
    *read() {
      const { reloads } = reading();
      yield [['accepted'], reloads.acceptedCount];
      yield [['refused'], reloads.refusedCount];
    },
  });
  gauge(
    'mulligan_config_changed_timestamp_seconds',
    'When the present configuration was taken into use.',
    (of) => of.reloads.changedAtMs / 1000,
  );
}

function addUpstreamMetrics(registry: Registry, reading: () => GatewayReading): void {
  const gauge = (name: string, help: string, value: (of: UpstreamReading) => number): void =>
    addGauge(registry, {
      name,
      help,
      labels: ['upstream'],
      *read() {
        for (const upstream of reading().upstreams) yield [[upstream.name], value(upstream)];
      },
    });
  gauge(
    'mulligan_permits_inflight',
    'Attempts that hold a permit of the circuit breaker.',
    (of) => of.permits.inflight,
  );
  gauge('mulligan_permits_limit', 'Permits there are.', (of) => of.permits.limit);
  gauge(
    'mulligan_retry_budget_balance',
    'Retries that the budget would grant now; +Inf without a budget.',
    (of) => of.retryBudget.balance,
  );
  gauge('mulligan_upstream_panicking', '1 while every endpoint is judged unhealthy, so all are used.', (of) =>
    of.panicking ? 1 : 0,
  );
  addGauge(registry, {
    name: 'mulligan_breaker_state',
    help: '1 for the state that the breaker is in, 0 for the others.',
    labels: ['upstream', 'operation', 'state'],
    *read() {
      for (const { name, breakers } of reading().upstreams) {
        for (const { operation, state } of breakers)
          for (const one of BREAKER_STATES) yield [[name, operation, one], one === state ? 1 : 0];
      }
    },
  });
}

function addEndpointMetrics(registry: Registry, reading: () => GatewayReading): void {
  const each = (value: (of: EndpointReading) => number) =>
    function* read(): Iterable<Sample> {
      for (const { name, endpoints } of reading().upstreams)
        for (const endpoint of endpoints) yield [[name, endpoint.address], value(endpoint)];
    };
  const labels = ['upstream', 'endpoint'];
  addGauge(registry, {
    name: 'mulligan_endpoint_state',
    help: '1 for the state that the endpoint is in, 0 for the others.',
    labels: [...labels, 'state'],
    *read() {
      for (const { name, endpoints } of reading().upstreams) {
        for (const { address, state } of endpoints)
          for (const one of ENDPOINT_STATES) yield [[name, address, one], one === state ? 1 : 0];
      }
    },
  });
  addGauge(registry, {
    name: 'mulligan_endpoint_attempts_inflight',
    help: 'Attempts in flight at the endpoint.',
    labels,
    read: each((of) => of.inflight),
  });
  addGauge(registry, {
    name: 'mulligan_endpoint_connections',
    help: 'Connections to the endpoint.',
    labels: [...labels, 'state'],
    *read() {
      for (const { name, endpoints } of reading().upstreams) {
        for (const { address, connections } of endpoints) {
          yield [[name, address, 'busy'], connections.open - connections.idle];
          yield [[name, address, 'idle'], connections.idle];
        }
      }
    },
  });
  addGauge(registry, {
    name: 'mulligan_endpoint_attempts_waiting',
    help: 'Attempts that wait for a connection to the endpoint.',
    labels,
    read: each((of) => of.connections.waiting),
  });
}
