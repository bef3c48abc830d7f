import assert from 'node:assert/strict';
import { formatFault } from '../../../src/config/fault.ts';
import { readSource } from '../../../src/simulator/read-source.ts';
import type { SourceFormat, TopologySource } from '../../../src/simulator/topology-source.ts';

/** A span in no format yet. */
export interface DrawnSpan {
  readonly id: string;
  readonly parent?: string;
  readonly service: string;
  readonly name: string;
  readonly kind?: 'server' | 'client' | 'internal' | 'producer' | 'consumer';
  readonly fromMs: number;
  readonly toMs: number;
  readonly status?: number;
  readonly method?: string;
  readonly resendCount?: number;
  readonly peer?: string;
  readonly trace?: string;
}

const EPOCH_MS = 1_700_000_000_000;

function tagsOf({ status, method, resendCount, peer }: DrawnSpan): [string, string | number][] {
  return [
    ...(status === undefined ? [] : [['http.response.status_code', status] as [string, number]]),
    ...(method === undefined ? [] : [['http.request.method', method] as [string, string]]),
    ...(resendCount === undefined ? [] : [['http.request.resend_count', resendCount] as [string, number]]),
    ...(peer === undefined ? [] : [['peer.service', peer] as [string, string]]),
  ];
}

export function otlp(spans: readonly DrawnSpan[]): unknown {
  const kinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 };
  const nano = (ms: number): string => `${BigInt(EPOCH_MS * 1000 + Math.round(ms * 1000)) * 1000n}`;
  return {
    resourceSpans: [...new Set(spans.map(({ service }) => service))].map((service) => ({
      resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
      scopeSpans: [
        {
          spans: spans
            .filter((span) => span.service === service)
            .map((span) => ({
              traceId: span.trace ?? 't1',
              spanId: span.id,
              parentSpanId: span.parent ?? '',
              name: span.name,
              kind: kinds[span.kind ?? 'server'],
              startTimeUnixNano: nano(span.fromMs),
              endTimeUnixNano: nano(span.toMs),
              attributes: tagsOf(span).map(([key, value]) => ({
                key,
                value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
              })),
            })),
        },
      ],
    })),
  };
}

export function jaeger(spans: readonly DrawnSpan[]): unknown {
  const services = [...new Set(spans.map(({ service }) => service))];
  return {
    data: [...new Set(spans.map(({ trace = 't1' }) => trace))].map((trace) => ({
      traceID: trace,
      processes: Object.fromEntries(services.map((serviceName, index) => [`p${index}`, { serviceName, tags: [] }])),
      spans: spans
        .filter((span) => (span.trace ?? 't1') === trace)
        .map((span) => ({
          traceID: trace,
          spanID: span.id,
          operationName: span.name,
          references: span.parent === undefined ? [] : [{ refType: 'CHILD_OF', traceID: trace, spanID: span.parent }],
          startTime: (EPOCH_MS + span.fromMs) * 1000,
          duration: (span.toMs - span.fromMs) * 1000,
          tags: [['span.kind', span.kind ?? 'server'] as const, ...tagsOf(span)].map(([key, value]) => ({
            key,
            type: typeof value === 'number' ? 'int64' : 'string',
            value,
          })),
          processID: `p${services.indexOf(span.service)}`,
        })),
    })),
  };
}

export function zipkin(spans: readonly DrawnSpan[]): unknown {
  return spans.map((span) => ({
    traceId: span.trace ?? 't1',
    id: span.id,
    parentId: span.parent,
    kind: span.kind === 'internal' ? undefined : (span.kind ?? 'server').toUpperCase(),
    name: span.name,
    timestamp: (EPOCH_MS + span.fromMs) * 1000,
    duration: Math.max(1, (span.toMs - span.fromMs) * 1000),
    localEndpoint: { serviceName: span.service },
    tags: Object.fromEntries(tagsOf(span).map(([key, value]) => [key, String(value)])),
  }));
}

export function sourceOf(document: unknown, format?: SourceFormat): TopologySource {
  const reading = readSource(JSON.stringify(document), 'traces.json', format);
  assert.ok(reading.ok, reading.ok ? '' : reading.faults.map(formatFault).join('\n'));
  return reading.source;
}

/** `shop/buy -> stock/take 0.5 ×2 retries 1`, a line each call. */
export function drawn({ topology: { operations, calls, roots } }: TopologySource): string[] {
  const nameOf = (index: number | undefined): string => (index === undefined ? 'client' : operations[index]!.name);
  const rootCalls = new Set(roots.map(({ call }) => call));
  return calls.flatMap(({ from, to, probability, policy, edge }, index) =>
    rootCalls.has(index)
      ? []
      : [
          [
            `${nameOf(from)} -> ${nameOf(to)}`,
            probability === 1 ? '' : ` p=${Math.round(probability * 1000) / 1000}`,
            policy.maxRetries === 0 ? '' : ` retries=${policy.maxRetries}`,
            edge === 'fail-open' ? ' fail-open' : '',
          ].join(''),
        ],
  );
}
