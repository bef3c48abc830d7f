import type { IncomingMessage, ServerResponse } from 'node:http';
import { inboundOf } from '../hooks/watched-response.ts';
import { adapt } from './adapter.ts';

/** What Express adds to a request, as far as it names the route. */
export type ExpressRequest = IncomingMessage & {
  readonly baseUrl?: string;
  readonly route?: { readonly path?: unknown };
};

export type ExpressNext = (error?: unknown) => void;

/** For Express 5: `app.use(expressOwnership())`, before everything else. */
export function expressOwnership(): (request: ExpressRequest, response: ServerResponse, next: ExpressNext) => void {
  return (request, response, next) => {
    const adapted = adapt(request, response);
    if (adapted === undefined) {
      next();
      return;
    }
    if (adapted.expired) {
      adapted.refuse();
      return;
    }
    adapted.inbound.route = () => {
      const path = request.route?.path;
      return typeof path === 'string' ? `${request.method ?? 'GET'} ${request.baseUrl ?? ''}${path}` : undefined;
    };
    adapted.run(next);
  };
}

/** And `app.use(expressOwnershipErrors())` after all routes, before other error handlers: it tells what an answer is given for. */
export function expressOwnershipErrors(): (
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  next: ExpressNext,
) => void {
  // Express knows a handler of errors by its four parameters.
  return (error, _request, response, next) => {
    const inbound = inboundOf(response);
    if (inbound !== undefined) inbound.error = error;
    next(error);
  };
}
