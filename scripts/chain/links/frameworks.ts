import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import express, { type NextFunction, type Request, type Response } from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { statusOf, type Link } from '../../../src/cli/chain/link.ts';
import { createPlainServer } from '../../../src/cli/chain/link-server.ts';
import { expressOwnership, expressOwnershipErrors } from '../../../src/service/adapters/express.ts';
import { fastifyOwnership } from '../../../src/service/adapters/fastify.ts';
import { honoOwnership } from '../../../src/service/adapters/hono.ts';
import { withOwnership } from '../../../src/service/adapters/node-http.ts';
import { answersFor } from '../../../src/service/answering.ts';

/** @param adapted whether the service takes part by the middleware for this framework */
type MakeServer = (link: Link, adapted: boolean) => Server | Promise<Server>;

/** One and the same service on each framework. */
export const FRAMEWORKS: Readonly<Record<string, MakeServer>> = {
  node: (link, adapted) =>
    adapted
      ? createServer(
          withOwnership((request: IncomingMessage, response: ServerResponse) => {
            request.resume();
            return link.serve().then(
              () => response.end('fine\n'),
              (error: unknown) => {
                answersFor(error);
                response.writeHead(statusOf(error)).end('failed\n');
              },
            );
          }),
        )
      : createPlainServer(link),
  express: (link, adapted) => {
    const app = express();
    if (adapted) app.use(expressOwnership());
    app.get('/', (_request: Request, response: Response, next: NextFunction) => {
      link.serve().then(() => response.send('fine\n'), next);
    });
    if (adapted) app.use(expressOwnershipErrors());
    app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
      response.status(statusOf(error)).send('failed\n');
    });
    return createServer(app);
  },
  fastify: async (link, adapted) => {
    const app = Fastify();
    if (adapted) await app.register(fastifyOwnership);
    app.setErrorHandler((error, _request, reply) => reply.status(statusOf(error)).send('failed\n'));
    app.get('/', async () => {
      await link.serve();
      return 'fine\n';
    });
    await app.ready();
    return app.server;
  },
  hono: (link, adapted) => {
    const app = new Hono();
    if (adapted) app.use(honoOwnership());
    app.get('/', async (context) => {
      await link.serve();
      return context.text('fine\n');
    });
    app.onError((error, context) => context.text('failed\n', statusOf(error) as 500));
    const listener = getRequestListener(app.fetch);
    return createServer((request, response) => void listener(request, response));
  },
};
