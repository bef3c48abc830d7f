import type { IncomingMessage, ServerResponse } from 'node:http';
import { inboundOf } from '../hooks/watched-response.ts';
import { adapt } from './adapter.ts';

export interface FastifyOwnershipRequest {
  readonly method: string;
  readonly raw: IncomingMessage;
  readonly routeOptions: { readonly url?: string | undefined };
}

export interface FastifyOwnershipReply {
  readonly raw: ServerResponse;
  /** Takes the answer out of Fastify's hands. */
  hijack(): unknown;
}

export type FastifyDone = () => void;

/** What is asked of Fastify; an instance of version 5 has it. */
export interface FastifyHooks {
  addHook(
    name: 'onRequest',
    hook: (request: FastifyOwnershipRequest, reply: FastifyOwnershipReply, done: FastifyDone) => void,
  ): unknown;
  addHook(
    name: 'onError',
    hook: (request: FastifyOwnershipRequest, reply: FastifyOwnershipReply, error: unknown, done: FastifyDone) => void,
  ): unknown;
}

/** For Fastify 5: `app.register(fastifyOwnership)`, before the routes. */
export function fastifyOwnership(app: FastifyHooks, _options: unknown, done: FastifyDone): void {
  app.addHook('onRequest', (request, reply, next) => {
    const adapted = adapt(request.raw, reply.raw);
    if (adapted === undefined) {
      next();
      return;
    }
    adapted.inbound.route = () => {
      const { url } = request.routeOptions;
      return url === undefined ? undefined : `${request.method} ${url}`;
    };
    if (adapted.expired) {
      reply.hijack();
      adapted.refuse();
      return;
    }
    adapted.run(next);
  });
  app.addHook('onError', (_request, reply, error, next) => {
    const inbound = inboundOf(reply.raw);
    if (inbound !== undefined) inbound.error = error;
    next();
  });
  done();
}

// Else the hooks would hold for routes of this plugin alone, and it has none.
Object.defineProperty(fastifyOwnership, Symbol.for('skip-override'), { value: true });
