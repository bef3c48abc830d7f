import type { DataPath } from '../../config/fault.ts';
import { mapping } from '../../config/plain-data.ts';
import { type Attributes, factsOf, type Span } from './span.ts';
import { requireList, requireMapping, requireText, requireTime } from './span-fault.ts';

/**
 * Spans of Zipkin's JSON, version 2: a list of spans, or of traces that are lists of spans.
 * @throws SpanFault
 */
export function* zipkinSpans(document: unknown, at: DataPath): Generator<Span> {
  const spans: Span[] = [];
  for (const [index, entry] of requireList(document, at, 'a list of spans or of traces').entries()) {
    if (!Array.isArray(entry)) spans.push(toSpan(entry, [...at, index]));
    else for (const [inner, span] of entry.entries()) spans.push(toSpan(span, [...at, index, inner]));
  }
  yield* withOwnIds(spans);
}

function toSpan(value: unknown, path: DataPath): Span {
  const span = requireMapping(value, path, 'a span');
  const { serviceName } = mapping(span['localEndpoint']);
  const tags = mapping(span['tags']);
  const attributes: Attributes = new Map(
    Object.entries(tags).flatMap(([key, held]) => (typeof held === 'string' ? [[key, held] as const] : [])),
  );
  const { serviceName: remote } = mapping(span['remoteEndpoint']);
  const startUs = requireTime(span['timestamp'], [...path, 'timestamp'], 'microseconds since 1970');
  const facts = factsOf(attributes, attributes.has('error'));
  return {
    traceId: requireText(span['traceId'], [...path, 'traceId'], 'hexadecimal text'),
    id: requireText(span['id'], [...path, 'id'], 'hexadecimal text'),
    parentId: typeof span['parentId'] === 'string' && span['parentId'] !== '' ? span['parentId'] : undefined,
    service: typeof serviceName === 'string' && serviceName !== '' ? serviceName : 'unknown',
    name: typeof span['name'] === 'string' && span['name'] !== '' ? span['name'] : 'unknown',
    kind: KINDS.get(String(span['kind'])) ?? 'internal',
    startUs,
    endUs: startUs + requireTime(span['duration'] ?? 0, [...path, 'duration'], 'microseconds'),
    ...facts,
    peer: typeof remote === 'string' && remote !== '' ? remote : facts.peer,
    path,
  };
}

const KINDS: ReadonlyMap<string, Span['kind']> = new Map([
  ['SERVER', 'server'],
  ['CLIENT', 'client'],
  ['PRODUCER', 'producer'],
  ['CONSUMER', 'consumer'],
]);

/** Both sides of a call may share one id: the server's gets one of its own, and the spans below it follow. */
function* withOwnIds(spans: readonly Span[]): Generator<Span> {
  const key = ({ traceId, id }: Pick<Span, 'traceId' | 'id'>): string => `${traceId} ${id}`;
  const clients = new Map(spans.filter(({ kind }) => kind === 'client').map((span) => [key(span), span]));
  const shared = new Map(
    spans.filter((span) => span.kind === 'server' && clients.has(key(span))).map((span) => [key(span), span]),
  );
  const serverId = (id: string): string => `${id}/server`;
  for (const span of spans) {
    if (shared.get(key(span)) === span) {
      yield { ...span, id: serverId(span.id), parentId: span.id };
      continue;
    }
    const above = span.parentId === undefined ? undefined : key({ traceId: span.traceId, id: span.parentId });
    const server = above === undefined ? undefined : shared.get(above);
    const isClients =
      above !== undefined && clients.get(above)?.service === span.service && server?.service !== span.service;
    yield server === undefined || isClients ? span : { ...span, parentId: serverId(server.id) };
  }
}
