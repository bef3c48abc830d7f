// The parts of the peers' interfaces that the scripts beside this file use. Written out so that the type check
// also works in a checkout where `npm ci --prefix bench` has not run yet; the smoke check proves them at run time.
declare module 'fast-proxy' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface FastProxyOptions {
    base: string;
    undici?: { connections: number; pipelining: number; keepAliveTimeout: number };
    maxSockets?: number;
  }
  export default function fastProxy(options: FastProxyOptions): {
    proxy(request: IncomingMessage, response: ServerResponse, source: string, options: object): void;
    close(): void;
  };
}

declare module 'fastify' {
  interface Reply {
    from(source?: string): Reply;
  }
  interface Instance {
    register(plugin: unknown, options: object): Instance;
    all(path: string, handler: (request: unknown, reply: Reply) => void): Instance;
    listen(address: { host: string; port: number }): Promise<string>;
  }
  export default function fastify(options: object): Instance;
}

declare module '@fastify/reply-from' {
  const replyFrom: unknown;
  export default replyFrom;
}

declare module 'http-proxy-3' {
  import type { Agent, IncomingMessage, ServerResponse } from 'node:http';

  export function createProxyServer(options: { target: string; agent: Agent }): {
    web(request: IncomingMessage, response: ServerResponse): void;
    on(event: 'error', listener: (error: Error, request: IncomingMessage, response: ServerResponse) => void): void;
  };
}
