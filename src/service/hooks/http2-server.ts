import type { Http2Session, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { outcomeClassOfResponse, type OutcomeClass } from '../../core/classify.ts';
import type { ErrorClaim } from '../../core/ownership/error-claim.ts';
import { outcomeClassOfGrpcStatus } from '../../core/ownership/grpc-status.ts';
import { fieldValue } from '../../http1/field-list.ts';
import type { FieldList } from '../../http1/message.ts';
import type { InboundRequest } from '../inbound-request.ts';
import type { Service } from '../service.ts';
import { claimFields, withoutClaims } from './claim-fields.ts';
import type { Guard } from './guard.ts';
import { fieldsOfHeaders } from './http2-fields.ts';

interface Watchable extends Omit<ServerHttp2Stream, 'respond' | 'sendTrailers'> {
  respond(headers?: unknown, options?: unknown): void;
  sendTrailers(headers: unknown): void;
}

/** Each stream of a `node:http2` server gets its context before its handler; the compatibility API answers through it too. */
export function hookHttp2Server(service: Service, guard: Guard): () => void {
  return guard.listen(
    'http2.server.stream.created',
    ({ stream, headers }: { readonly stream: Watchable; readonly headers: IncomingHttpHeaders }) => {
      // A pushed stream is an answer without a request.
      if (headers[':method'] === undefined || stream.sentHeaders !== undefined) return;
      const inbound = service.arrive({
        method: headers[':method'],
        path: headers[':path'] ?? '/',
        fields: fieldsOfHeaders(headers),
        peerAddress: stream.session?.socket.remoteAddress,
      });
      watchStream(service, guard, stream, inbound);
      service.enter(inbound);
      if (service.isRefused(inbound)) {
        refuseAtHandler(service, stream, inbound);
      }
    },
  );
}

function watchStream(service: Service, guard: Guard, stream: Watchable, inbound: InboundRequest): void {
  const respond = stream.respond.bind(stream);
  const sendTrailers = stream.sendTrailers.bind(stream);
  stream.respond = (headers, options) => {
    const claimed = guard.run('http2.respond', () => withClaim(service, stream, inbound, headers));
    respond(claimed ?? headers, options);
  };
  stream.sendTrailers = (headers) => {
    const cleaned = guard.run('http2.sendTrailers', () => {
      const status = fieldValue(fieldsOfHeaders(headers), 'grpc-status');
      // For who watches: the answer has begun, and nobody can retry it any more.
      const claim =
        status === undefined ? undefined : service.answer(inbound, outcomeClassOfGrpcStatus(Number(status)), true);
      return withClaimOf(claim, headers, service.settings.alias);
    });
    sendTrailers(cleaned ?? headers);
  };
}

function withClaim(service: Service, stream: Watchable, inbound: InboundRequest, given: unknown): unknown {
  if (stream.headersSent) return given;
  const fields = fieldsOfHeaders(given);
  const outcomeClass = outcomeOf(fields);
  const claim = outcomeClass === undefined ? undefined : service.answer(inbound, outcomeClass);
  return withClaimOf(claim, given, service.settings.alias);
}

/** The headers or trailers with this claim, or none, in the place of any other. */
function withClaimOf(claim: ErrorClaim | undefined, given: unknown, alias: boolean): unknown {
  const headers = withoutClaims(given);
  if (claim === undefined) return headers;
  const added = claimFields(claim, alias).map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text));
  if (Array.isArray(headers)) return [...(headers as unknown[]), ...added];
  const claimed: Record<string, unknown> = { ...(headers as Record<string, unknown> | undefined) };
  for (let i = 0; i < added.length; i += 2) claimed[added[i]!] = added[i + 1];
  return claimed;
}

/** `undefined` for a gRPC answer that begins well: its status stands in the trailers. */
function outcomeOf(fields: FieldList): OutcomeClass | undefined {
  const grpcStatus = fieldValue(fields, 'grpc-status');
  if (grpcStatus !== undefined) return outcomeClassOfGrpcStatus(Number(grpcStatus));
  const status = Number(fieldValue(fields, ':status') ?? 200);
  if (status === 200 && fieldValue(fields, 'content-type')?.startsWith('application/grpc') === true) return undefined;
  return outcomeClassOfResponse({ status });
}

const refused = new WeakMap<Watchable, InboundRequest>();
const refusing = new WeakSet<Http2Session>();

/** Answers in the place of the handler: the session is about to tell of the stream. */
function refuseAtHandler(service: Service, stream: Watchable, inbound: InboundRequest): void {
  const { session } = stream;
  if (session === undefined) return;
  refused.set(stream, inbound);
  if (refusing.has(session)) return;
  refusing.add(session);
  const emit = session.emit.bind(session) as (event: string | symbol, ...args: unknown[]) => boolean;
  session.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    const told = args[0] as Watchable;
    const expired = event === 'stream' ? refused.get(told) : undefined;
    if (expired === undefined) return emit(event, ...args);
    service.refuse(expired);
    if (!told.destroyed) told.respond({ ':status': 504 }, { endStream: true });
    return true;
  };
}
