import type { IncomingMessage, ServerResponse } from 'node:http';
import { beginInbound } from '../hooks/http-server.ts';
import type { InboundRequest } from '../inbound-request.ts';
import { installedService, type ServiceProcess } from '../install.ts';

/** What an adapter does for one request of its framework. */
export interface AdaptedRequest {
  readonly inbound: InboundRequest;
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
  return { inbound, run: (work) => service.run(inbound, work) };
}
