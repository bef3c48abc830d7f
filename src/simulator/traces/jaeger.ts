import type { DataPath } from '../../config/fault.ts';
import { isMapping, list, mapping } from '../../config/plain-data.ts';
import { type Attributes, factsOf, type Span } from './span.ts';
import { requireList, requireMapping, requireText, requireTime } from './span-fault.ts';

/**
 * Spans of Jaeger's JSON: what its interface saves (`{ data: [trace, …] }`), or one trace alone.
 * @throws SpanFault
 */
export function* jaegerSpans(document: unknown, at: DataPath): Generator<Span> {
  const isTrace = isMapping(document) && document['data'] === undefined;
  if (isTrace) return yield* traceSpans(document, at);
  const tracesAt = Array.isArray(document) ? at : [...at, 'data'];
  const traces = requireList(
    Array.isArray(document) ? document : mapping(document)['data'],
    tracesAt,
    'a list of traces',
  );
  for (const [index, trace] of traces.entries()) yield* traceSpans(trace, [...tracesAt, index]);
}

function* traceSpans(value: unknown, path: DataPath): Generator<Span> {
  const trace = requireMapping(value, path, 'a trace with `spans` and `processes`');
  const processes = requireMapping(trace['processes'], [...path, 'processes'], 'the services of the trace by id');
  for (const [index, span] of requireList(trace['spans'], [...path, 'spans'], 'a list of spans').entries())
    yield toSpan(span, processes, [...path, 'spans', index]);
}

function toSpan(value: unknown, processes: Readonly<Record<string, unknown>>, path: DataPath): Span {
  const span = requireMapping(value, path, 'a span');
  const processId = requireText(span['processID'], [...path, 'processID'], 'the key of a process');
  const service = mapping(processes[processId])['serviceName'];
  const attributes = attributesOf(span['tags']);
  const startUs = requireTime(span['startTime'], [...path, 'startTime'], 'microseconds since 1970');
  const errorFlag = String(attributes.get('error')) === 'true' || attributes.get('otel.status_code') === 'ERROR';
  return {
    traceId: requireText(span['traceID'], [...path, 'traceID'], 'hexadecimal text'),
    id: requireText(span['spanID'], [...path, 'spanID'], 'hexadecimal text'),
    parentId: parentOf(span['references'], span['parentSpanID']),
    service: requireText(service, [...path, 'processID'], 'the key of a process that has a `serviceName`'),
    name: requireText(span['operationName'], [...path, 'operationName'], 'text'),
    kind: KINDS.get(String(attributes.get('span.kind')).toLowerCase()) ?? 'internal',
    startUs,
    endUs: startUs + requireTime(span['duration'], [...path, 'duration'], 'microseconds'),
    ...factsOf(attributes, errorFlag),
    path,
  };
}

const KINDS: ReadonlyMap<string, Span['kind']> = new Map([
  ['server', 'server'],
  ['client', 'client'],
  ['producer', 'producer'],
  ['consumer', 'consumer'],
]);

function parentOf(references: unknown, older: unknown): string | undefined {
  for (const reference of list(references)) {
    const { refType, spanID } = mapping(reference);
    if (refType === 'CHILD_OF' && typeof spanID === 'string') return spanID;
  }
  return typeof older === 'string' && older !== '' && !/^0+$/.test(older) ? older : undefined;
}

function attributesOf(value: unknown): Attributes {
  const attributes = new Map<string, string | number | boolean>();
  for (const entry of list(value)) {
    const { key, value: held } = mapping(entry);
    if (typeof key === 'string' && (typeof held === 'string' || typeof held === 'number' || typeof held === 'boolean'))
      attributes.set(key, held);
  }
  return attributes;
}
