import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer, createServer as createHttp2Server } from 'node:http2';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { createTestCertificates } from './certificates.ts';

/** What is spoken between a transport and its origin. */
export type Wire = 'http1' | 'http1+tls' | 'http2' | 'http2+tls';

export type WireRequest = IncomingMessage | Http2ServerRequest;
export type WireResponse = ServerResponse | Http2ServerResponse;

export interface WireOrigin {
  readonly host: string;
  readonly port: number;
  readonly key: string;
  /** Requests that reached the handler. */
  readonly requestCount: number;
  /** Connections that were accepted. */
  readonly connectionCount: number;
  /** Every connection dies without a word. */
  cut(): void;
}

/** An origin on Node's own servers, for what all wires have in common. It is closed when the test ends. */
export async function startWireOrigin(
  t: TestContext,
  wire: Wire,
  handle: (request: WireRequest, response: WireResponse) => void,
): Promise<WireOrigin> {
  const { server: certified } = createTestCertificates();
  let requestCount = 0;
  let connectionCount = 0;
  const sockets = new Set<Socket>();
  const onRequest = (request: WireRequest, response: WireResponse): void => {
    requestCount += 1;
    request.on('error', () => {});
    response.on('error', () => {});
    handle(request, response);
  };
  const server = serverFor(wire, certified, onRequest);
  server.on('checkContinue', onRequest);
  server.on('connection', (socket: Socket) => {
    connectionCount += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('sessionError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  return {
    host: '127.0.0.1',
    port,
    key: `127.0.0.1:${String(port)}`,
    get requestCount() {
      return requestCount;
    },
    get connectionCount() {
      return connectionCount;
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function serverFor(
  wire: Wire,
  certified: { readonly cert: string; readonly key: string },
  onRequest: (request: WireRequest, response: WireResponse) => void,
): Server {
  switch (wire) {
    case 'http1':
      return createHttpServer(onRequest);
    case 'http1+tls':
      return createHttpsServer(certified, onRequest);
    case 'http2':
      return createHttp2Server(onRequest);
    case 'http2+tls':
      return createSecureServer(certified, onRequest);
  }
}
