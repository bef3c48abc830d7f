import type { DataPath } from '../../config/fault.ts';
import { isMapping, list, mapping } from '../../config/plain-data.ts';
import { type Attributes, factsOf, type Span } from './span.ts';
import { requireList, requireMapping, requireText, requireTime } from './span-fault.ts';

/**
 * Spans of OTLP's JSON (opentelemetry-proto, `TracesData`): what a collector's file exporter writes.
 * @throws SpanFault
 */
export function* otlpSpans(document: unknown, at: DataPath): Generator<Span> {
  const data = requireMapping(document, at, 'an object with `resourceSpans`');
  // A collector writes logs and metrics into the same files.
  if (data['resourceSpans'] === undefined && ('resourceLogs' in data || 'resourceMetrics' in data)) return;
  const resourceSpansAt = [...at, 'resourceSpans'];
  for (const [index, entry] of requireList(data['resourceSpans'], resourceSpansAt, 'OTLP traces').entries()) {
    const path = [...resourceSpansAt, index];
    const { resource, scopeSpans, instrumentationLibrarySpans } = mapping(entry);
    const service = attributesOf(mapping(resource)['attributes']).get('service.name');
    const group =
      scopeSpans === undefined && instrumentationLibrarySpans !== undefined
        ? 'instrumentationLibrarySpans'
        : 'scopeSpans';
    const scopes = requireList(mapping(entry)[group] ?? [], [...path, group], 'a list of scopes with `spans`');
    for (const [scopeIndex, scope] of scopes.entries()) {
      const spansAt = [...path, group, scopeIndex, 'spans'];
      for (const [spanIndex, span] of requireList(mapping(scope)['spans'] ?? [], spansAt, 'a list of spans').entries())
        yield toSpan(span, service === undefined ? 'unknown' : String(service), [...spansAt, spanIndex]);
    }
  }
}

function toSpan(value: unknown, service: string, path: DataPath): Span {
  const span = requireMapping(value, path, 'a span');
  const code = mapping(span['status'])['code'];
  const nano = 'nanoseconds since 1970, as text';
  return {
    traceId: requireText(span['traceId'], [...path, 'traceId'], 'hexadecimal text'),
    id: requireText(span['spanId'], [...path, 'spanId'], 'hexadecimal text'),
    parentId:
      typeof span['parentSpanId'] === 'string' && span['parentSpanId'] !== '' ? span['parentSpanId'] : undefined,
    service,
    name: requireText(span['name'], [...path, 'name'], 'text'),
    kind: KINDS.get(plainText(span['kind'])) ?? 'internal',
    startUs: requireTime(span['startTimeUnixNano'], [...path, 'startTimeUnixNano'], nano) / 1000,
    endUs: requireTime(span['endTimeUnixNano'], [...path, 'endTimeUnixNano'], nano) / 1000,
    ...factsOf(attributesOf(span['attributes']), code === 2 || code === 'STATUS_CODE_ERROR'),
    path,
  };
}

const KINDS: ReadonlyMap<string, Span['kind']> = new Map([
  ['2', 'server'],
  ['SPAN_KIND_SERVER', 'server'],
  ['3', 'client'],
  ['SPAN_KIND_CLIENT', 'client'],
  ['4', 'producer'],
  ['SPAN_KIND_PRODUCER', 'producer'],
  ['5', 'consumer'],
  ['SPAN_KIND_CONSUMER', 'consumer'],
]);

function attributesOf(value: unknown): Attributes {
  const attributes = new Map<string, string | number | boolean>();
  for (const entry of list(value)) {
    const { key, value: held } = mapping(entry);
    if (typeof key !== 'string' || !isMapping(held)) continue;
    const plain = held['stringValue'] ?? held['intValue'] ?? held['doubleValue'] ?? held['boolValue'];
    if (typeof plain === 'string' || typeof plain === 'number' || typeof plain === 'boolean')
      attributes.set(key, plain);
    // A list of one, as recorded header fields are.
    else if (held['arrayValue'] !== undefined) attributes.set(key, 'list');
  }
  return attributes;
}

function plainText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
