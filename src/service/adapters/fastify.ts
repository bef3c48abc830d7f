import type { IncomingMessage, ServerResponse } from 'node:http';
import { inboundOf } from '../hooks/watched-response.ts';
import { adapt } from './adapter.ts';

interface FastifyRequest {
  readonly method: string;
  readonly raw: IncomingMessage;
  readonly routeOptions: { readonly url?: string | undefined };
}

interface FastifyReply {
  readonly raw: ServerResponse;
}

type Done = () => void;

/** What is asked of Fastify; an instance of version 5 has it. */
interface FastifyHooks {
  addHook(name: 'onRequest', hook: (request: FastifyRequest, reply: FastifyReply, done: Done) => void): unknown;
  addHook(
    name: 'onError',
    hook: (request: FastifyRequest, reply: FastifyReply, error: unknown, done: Done) => void,
  ): unknown;
}

/** For Fastify 5: `app.register(fastifyOwnership)`, before the routes. */
export function fastifyOwnership(app: FastifyHooks, _options: unknown, done: Done): void {
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
