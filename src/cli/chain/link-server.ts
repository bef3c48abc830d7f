import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { flushCompileCache } from 'node:module';
import { statusOf, type Link } from './link.ts';
import type { LinkOrder, LinkPlan, LinkReading, LinkReply } from './link-plan.ts';

/** What answers to the process that started this one. */
export interface OrderedLink {
  take(plan: LinkPlan): void;
  read(): LinkReading;
}

/** On `node:http`, knowing nothing of error ownership. */
export function createPlainServer(link: Link): HttpServer {
  return createServer((request, response) => {
    request.resume();
    link.serve().then(
      () => response.end('fine\n'),
      (error: unknown) => {
        response.statusCode = statusOf(error);
        response.end('failed\n');
      },
    );
  });
}

/** Runs this process as one service of a chain, until the process that started it ends or lets it go. */
export async function runLink(link: OrderedLink, server: Server | HttpServer): Promise<void> {
  // The chain is idle between two measurements; a connection that closes just then is not what is measured.
  if ('keepAliveTimeout' in server) server.keepAliveTimeout = 0;
  process.on('message', (order: LinkOrder) => {
    if (order.type === 'read') return reply({ type: 'reading', reading: link.read() });
    link.take(order.plan);
    reply({ type: 'planned' });
  });
  process.once('disconnect', () => process.exit(0));
  // Who started it may be gone by now, and would be waited for without end.
  if (!process.connected) process.exit(0);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  flushCompileCache();
  reply({ type: 'listening', port: (server.address() as AddressInfo).port });
}

function reply(message: LinkReply): void {
  process.send?.(message);
}
