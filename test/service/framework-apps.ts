/** One and the same service, written for each framework: the contract in `adapters.test.ts` holds for all of them. */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import express, { type NextFunction, type Request, type Response } from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { expressOwnership, expressOwnershipErrors } from '../../src/service/adapters/express.ts';
import { fastifyOwnership } from '../../src/service/adapters/fastify.ts';
import { honoOwnership } from '../../src/service/adapters/hono.ts';
import { withOwnership } from '../../src/service/adapters/node-http.ts';
import { answersFor } from '../../src/service/answering.ts';

/** What answers `/work/:id`: returns a text, or throws. */
export type Work = (kind: string) => Promise<string>;

export interface FrameworkApp {
  readonly name: string;
  /** Whether it knows what its routes are called. */
  readonly namesRoutes: boolean;
  start(work: Work): Promise<{ readonly server: Server; close(): Promise<void> }>;
}

export const FRAMEWORK_APPS: readonly FrameworkApp[] = [
  {
    name: 'node:http',
    namesRoutes: false,
    start: (work) =>
      listen(
        withOwnership((request: IncomingMessage, response: ServerResponse) =>
          work(kindOf(request.url)).then(
            (text) => response.end(text),
            (error: unknown) => {
              answersFor(error);
              response.writeHead(500).end();
            },
          ),
        ),
      ),
  },
  {
    name: 'Express 5',
    namesRoutes: true,
    start: (work) => {
      const app = express();
      app.use(expressOwnership());
      app.get('/work/:id', (request: Request, response: Response, next: NextFunction) => {
        work(request.params['id'] as string).then((text) => response.send(text), next);
      });
      app.use(expressOwnershipErrors());
      app.use((_error: unknown, _request: Request, response: Response, _next: NextFunction) => {
        response.status(500).send('failed');
      });
      return listen(app);
    },
  },
  {
    name: 'Fastify 5',
    namesRoutes: true,
    start: async (work) => {
      const app = Fastify();
      await app.register(fastifyOwnership);
      app.get<{ Params: { id: string } }>('/work/:id', (request) => work(request.params.id));
      await app.listen({ port: 0, host: '127.0.0.1' });
      return { server: app.server, close: () => app.close() };
    },
  },
  {
    name: 'Hono 4',
    namesRoutes: false,
    start: (work) => {
      const app = new Hono();
      app.use(honoOwnership());
      app.get('/work/:id', async (context) => context.text(await work(context.req.param('id'))));
      app.onError((_error, context) => context.text('failed', 500));
      const listener = getRequestListener(app.fetch);
      return listen((request, response) => void listener(request, response));
    },
  },
];

function kindOf(url: string | undefined): string {
  return url?.split('/').at(-1) ?? '';
}

async function listen(handler: RequestListener): ReturnType<FrameworkApp['start']> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
