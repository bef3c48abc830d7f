import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { InboundRequest } from '../inbound-request.ts';
import type { Service } from '../service.ts';
import type { Guard } from './guard.ts';
import { inboundOf, watchResponse } from './watched-response.ts';

interface RequestStart {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly server: Server;
}

export const EXPIRED = 'There is no time left to answer this request: its caller will have gone.\n';

/** Each request of each `node:http` and `node:https` server of the process gets its context before any handler sees it. */
export function hookHttpServer(service: Service, guard: Guard): () => void {
  return guard.listen('http.server.request.start', ({ request, response, server }: RequestStart) => {
    const inbound = beginInbound(service, guard, request, response);
    service.enter(inbound);
    if (service.isRefused(inbound)) {
      refuseAtHandler(service, server, response);
    }
  });
}

/** The context of a request: the one that it has, or a new one. */
export function beginInbound(
  service: Service,
  guard: Guard,
  request: IncomingMessage,
  response: ServerResponse,
): InboundRequest {
  const known = inboundOf(response);
  if (known !== undefined) return known;
  const inbound = service.arrive({
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    fields: request.rawHeaders,
    peerAddress: service.trust.any ? request.socket.remoteAddress : undefined,
  });
  watchResponse(service, guard, response, inbound);
  return inbound;
}

const refused = new WeakSet<object>();
const refusing = new WeakSet<Server>();

/**
 * Answers in the place of the handler, when Node is about to call it. Not before: an interim 100 may still have to go out.
 * A server's `emit` is wrapped when its first request is refused, so that others do not pay for it.
 */
function refuseAtHandler(service: Service, server: Server, response: ServerResponse): void {
  refused.add(response);
  if (refusing.has(server)) return;
  refusing.add(server);
  const emit = server.emit.bind(server) as (event: string | symbol, ...args: unknown[]) => boolean;
  server.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    const answer = args[1];
    if (typeof answer !== 'object' || answer === null || !refused.has(answer)) return emit(event, ...args);
    refuseExpired(service, answer as ServerResponse);
    return true;
  };
}

export function refuseExpired(service: Service, response: ServerResponse): void {
  const inbound = inboundOf(response);
  if (inbound !== undefined) service.refuse(inbound);
  response.writeHead(504, { 'content-type': 'text/plain; charset=utf-8', 'content-length': String(EXPIRED.length) });
  response.end(EXPIRED);
}
