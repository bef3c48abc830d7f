import type { IncomingMessage, ServerResponse } from 'node:http';
import { beginInbound, EXPIRED, refuseExpired } from '../hooks/http-server.ts';
import type { InboundRequest } from '../inbound-request.ts';
import { installedService, type ServiceProcess } from '../install.ts';

/** What an adapter does for one request of its framework. */
export interface AdaptedRequest {
  readonly inbound: InboundRequest;
  /** No time is left to answer it: what answers it is not to be run. */
  readonly expired: boolean;
  /** Answers that it is too late, on Node's response. */
  refuse(): void;
  /** The same as an answer of `fetch`'s kind, for who writes it. */
  tooLate(): Response;
  /** Runs what answers the request in its context. */
  run<Result>(work: () => Result): Result;
}

/**
 * The context of a request, begun here unless a hook did so before; `undefined` when no service is installed or it is off,
 * or when this went wrong: the application goes on without.
 */
export function adapt(request: IncomingMessage, response: ServerResponse): AdaptedRequest | undefined {
  const installed = installedService();
  if (installed === undefined || installed.service.settings.mode === 'off') return undefined;
  return installed.guard.run('adapter', () => adaptFor(installed, request, response));
}

function adaptFor(
  { service, guard }: ServiceProcess,
  request: IncomingMessage,
  response: ServerResponse,
): AdaptedRequest {
  const inbound = beginInbound(service, guard, request, response);
  return {
    inbound,
    expired: service.isRefused(inbound),
    tooLate() {
      service.refuse(inbound);
      return new Response(EXPIRED, { status: 504 });
    },
    refuse: () => refuseExpired(service, response),
    run: (work) => service.run(inbound, work),
  };
}
