import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { createSignal } from './signal.ts';

/** A span as the collector got it, its attributes as a plain object. */
export interface CollectedSpan {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'other';
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly isError: boolean;
  readonly message: string | undefined;
  readonly service: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** An OTLP/HTTP collector for JSON on 127.0.0.1. */
export interface Collector {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Every span so far, in the order of arrival. */
  readonly spans: readonly CollectedSpan[];
  /** Every body so far. */
  readonly texts: readonly string[];
  readonly heads: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  server(): CollectedSpan;
  /** Spans of attempts, by start. */
  clients(): readonly CollectedSpan[];
  /** Resolves when as many spans arrived. */
  received(count: number): Promise<void>;
  /** Resolves when a batch began to arrive. */
  asked(): Promise<void>;
}

export interface CollectorOptions {
  readonly t: TestContext;
  /** Reads and never answers. */
  readonly hang?: boolean;
  /** Default 200; whatever it is, the spans are kept. */
  readonly status?: number;
}

export async function startCollector({ t, hang = false, status = 200 }: CollectorOptions): Promise<Collector> {
  const signal = createSignal();
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  const heads: { path: string; headers: IncomingHttpHeaders }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    heads.push({ path: request.url ?? '', headers: request.headers });
    signal.changed();
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      texts.push(text);
      if (hang) return;
      spans.push(...spansOf(JSON.parse(text) as Payload));
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end('{}');
      signal.changed();
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const describe = (): string => texts.join('\n');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    texts,
    heads,
    server: () => spans.find(({ kind }) => kind === 'server') ?? fail('no span of a request'),
    clients: () =>
      spans.filter(({ kind }) => kind === 'client').toSorted((a, b) => a.startMs - b.startMs || order(a) - order(b)),
    received: async (count) => {
      await signal.until(() => spans.length >= count, { what: `${count} spans`, describe });
    },
    asked: async () => {
      await signal.until(() => heads.length > 0, { what: 'a batch', describe });
    },
  };
}

interface Payload {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[];
  }[];
}

interface RawSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: readonly Attribute[];
}

interface Attribute {
  readonly key: string;
  readonly value: AttributeValue;
}

interface AttributeValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly AttributeValue[] };
}

function spansOf({ resourceSpans }: Payload): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        name: span.name,
        kind: span.kind === 2 ? ('server' as const) : span.kind === 3 ? ('client' as const) : ('other' as const),
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        startMs: Number(BigInt(span.startTimeUnixNano) / 1000n) / 1000,
        endMs: Number(BigInt(span.endTimeUnixNano) / 1000n) / 1000,
        isError: span.status.code === 2,
        message: span.status.message,
        service: plain(resource.attributes)['service.name'],
        attributes: plain(span.attributes),
      })),
    ),
  );
}

function plain(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf({ stringValue, intValue, doubleValue, boolValue, arrayValue }: AttributeValue): unknown {
  if (arrayValue !== undefined) return arrayValue.values.map(valueOf);
  return stringValue ?? boolValue ?? doubleValue ?? (intValue === undefined ? undefined : Number(intValue));
}

function order({ attributes }: CollectedSpan): number {
  return Number(attributes['http.request.resend_count'] ?? 0);
}

function fail(what: string): never {
  throw new Error(what);
}
