import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { endWithAnswer, successEnding } from '../answer-ending.ts';
import { outboundFields } from '../outbound-fields.ts';
import { endingOfError } from '../outcome-of-error.ts';
import type { ServiceCall } from '../service-call.ts';
import type { Service } from '../service.ts';
import { fieldsOfHeaders } from './http2-fields.ts';
import type { Guard } from './guard.ts';

type Request = (this: ClientHttp2Session, headers?: unknown, options?: unknown) => ClientHttp2Stream;
type Connect = (...args: unknown[]) => ClientHttp2Session;

interface Http2Module {
  connect: Connect;
}

/**
 * Each stream of a `node:http2` client is a call. The channels of Node tell of a stream only when its head is on its way,
 * too late for fields of ours, so `request` of the sessions is wrapped, and `connect` to get at the first session.
 */
export function hookHttp2Client(service: Service, guard: Guard): () => void {
  // Not the namespace of an import: that cannot be written to.
  const http2 = createRequire(import.meta.url)('node:http2') as Http2Module;
  const { connect } = http2;
  let takeBack = (): void => {};
  let wrapped = false;
  const connectAndSee: Connect = (...args) => {
    const session = connect(...args);
    if (wrapped) return session;
    guard.run('http2.connect', () => {
      const prototype = prototypeWithRequest(session);
      const original = prototype.request;
      prototype.request = requestWithCall(service, guard, original);
      wrapped = true;
      takeBack = () => {
        prototype.request = original;
      };
    });
    return session;
  };
  http2.connect = connectAndSee;
  syncBuiltinESMExports();
  return () => {
    takeBack();
    if (http2.connect === connectAndSee) http2.connect = connect;
    syncBuiltinESMExports();
  };
}

function prototypeWithRequest(session: ClientHttp2Session): { request: Request } {
  for (let at: unknown = session; at !== null; at = Object.getPrototypeOf(at)) {
    if (Object.hasOwn(at as object, 'request')) return at as { request: Request };
  }
  throw new TypeError('an HTTP/2 session has no method request');
}

function requestWithCall(service: Service, guard: Guard, original: Request): Request {
  return function request(this: ClientHttp2Session, headers, options) {
    const { attempted } = service;
    if (attempted !== undefined) {
      guard.run('http2.request', () => (attempted.peerAddress = this.socket?.remoteAddress));
      return original.call(this, headers, options);
    }
    const begun = guard.run('http2.request', () => begin(service, this, headers));
    const stream = original.call(this, begun?.headers ?? headers, options);
    if (begun !== undefined) guard.run('http2.request', () => follow(service, guard, begun, this, stream));
    return stream;
  };
}

interface Begun {
  readonly call: ServiceCall;
  readonly manner: { readonly method: string; readonly keyed: boolean };
  readonly headers: unknown;
}

function begin(service: Service, session: ClientHttp2Session, given: unknown): Begun {
  const fields = fieldsOfHeaders(given);
  const field = (name: string): string | undefined => {
    const index = fields.findIndex((text, at) => at % 2 === 0 && text.toLowerCase() === name);
    return index === -1 ? undefined : fields[index + 1];
  };
  const method = field(':method') ?? 'GET';
  const path = field(':path') ?? '/';
  // The session's own word, not the request's: that may have come from anybody.
  const origin = session.originSet?.[0] ?? originOf(session, field(':authority') ?? '');
  const call = service.begin({ method, url: `${origin}${path}` });
  const added = outboundFields(call, field('request-timeout'), service.nowMs());
  const manner = { method, keyed: field('idempotency-key') !== undefined };
  if (added.length === 0) return { call, manner, headers: given };
  if (Array.isArray(given)) {
    const names = new Set(added.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()));
    const kept = fields.filter((_, at) => !names.has(fields[at - (at % 2)]!.toLowerCase()));
    return { call, manner, headers: [...kept, ...added.map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text))] };
  }
  // Kept as it is but for our fields: it may hold symbols that say which of them are not to be compressed.
  const headers = { ...(given as Record<string, unknown> | undefined) };
  for (let i = 0; i < added.length; i += 2) {
    const name = added[i]!.toLowerCase();
    for (const key of Object.keys(headers)) if (key.toLowerCase() === name) delete headers[key];
    headers[name] = added[i + 1];
  }
  return { call, manner, headers };
}

function originOf(session: ClientHttp2Session, authority: string): string {
  const { remoteAddress, remotePort } = session.socket ?? {};
  const host = remoteAddress?.includes(':') === true ? `[${remoteAddress}]` : remoteAddress;
  return host === undefined ? `http://${authority}` : `http://${host}:${String(remotePort)}`;
}

function follow(
  service: Service,
  guard: Guard,
  { call, manner }: Begun,
  session: ClientHttp2Session,
  stream: ClientHttp2Stream,
): void {
  let answered = false;
  const answer = (status: number, headers: IncomingHttpHeaders): void => {
    const fields = fieldsOfHeaders(headers);
    const ending =
      status < 400 && headers['grpc-status'] === undefined
        ? successEnding(service.nowMs())
        : endWithAnswer(call, status, fields, manner, session.socket?.remoteAddress, service.nowMs());
    call.restate(ending);
  };
  stream.once('response', (headers) =>
    guard.run('http2.response', () => {
      answered = true;
      answer(headers[':status'] ?? 200, headers);
    }),
  );
  // The status of a gRPC call that had begun well.
  stream.once('trailers', (headers) =>
    guard.run('http2.trailers', () => {
      if (headers['grpc-status'] !== undefined) answer(200, headers);
    }),
  );
  stream.once('close', () =>
    guard.run('http2.close', () => {
      const error: unknown = stream.errored ?? undefined;
      const code = stream.rstCode;
      if (error === undefined && (code === 0 || code === undefined)) return;
      if (error !== undefined) call.caused(error);
      // CANCEL is ours; REFUSED_STREAM says that nothing was done (RFC 9113 section 8.7).
      const cancelled = code === 8;
      const site = { ...manner, sent: stream.id !== undefined && code !== 7, answered };
      const ending = endingOfError(cancelled ? { code: 'ABORT_ERR' } : error, site, service.nowMs());
      if (call.ending === undefined || call.ending.outcomeClass === 'ok') call.restate(ending);
    }),
  );
}
