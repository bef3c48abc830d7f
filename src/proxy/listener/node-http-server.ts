import { createServer } from 'node:http';
import type { Server, ServerOptions } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { refuseTls, watchHandshakes } from './accept-socket.ts';
import type { ListenerLimits } from '../downstream.ts';
import type { Http2Acceptor } from './http2-acceptor.ts';
import { isHandedOver } from './node-http-handover.ts';
import type { ListenerTls } from './tls-settings.ts';

export interface NodeHttpServerOptions {
  readonly limits: ListenerLimits;
  readonly tls: ListenerTls | undefined;
  /** Takes over what chose HTTP/2 in the TLS handshake. */
  readonly http2: Http2Acceptor | undefined;
  readonly onHandshakeFailure: (remoteAddress: string, detail: string) => void;
}

export interface NodeHttpServer {
  readonly server: Server | SecureServer;
  /** @throws Error when the listener has no TLS, or the settings are no good */
  setTls(settings: ListenerTls): void;
  /** Sockets whose handshake is not over. */
  cutHandshakes(): void;
}

/** The server of `node:http`, or that of `node:https`, with our limits. @throws Error when the TLS settings are no good */
export async function createNodeHttpServer(options: NodeHttpServerOptions): Promise<NodeHttpServer> {
  const { limits, tls } = options;
  const made = tls === undefined ? plainServer(limits) : await secureServer(options, tls);
  const { server } = made;
  server.maxHeadersCount = 100;
  server.maxConnections = limits.maxConnections;
  // Not in the documentation: a FIN after the request must not cut the answer. `NodeHttpDownstream` tells it from a
  // client that left.
  Object.assign(server, { httpAllowHalfOpen: true });
  return made;
}

function plainServer(limits: ListenerLimits): NodeHttpServer {
  return { server: createServer(httpOptions(limits)), setTls: refuseTls, cutHandshakes() {} };
}

async function secureServer(options: NodeHttpServerOptions, tls: ListenerTls): Promise<NodeHttpServer> {
  const { limits, http2, onHandshakeFailure } = options;
  const [https, { TlsContexts }] = await Promise.all([import('node:https'), import('./tls-settings.ts')]);
  const contexts = new TlsContexts(tls);
  const server = https.createServer({
    ...httpOptions(limits),
    ...contexts.serverOptions(limits.headerTimeoutMs),
    allowHalfOpen: true,
  });
  // That of node:https takes every socket for HTTP/1.1, whatever was agreed.
  const http1 = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') http2?.(socket, undefined);
    else for (const take of http1) take.call(server, socket);
  });
  const cutHandshakes = watchHandshakes(server, onHandshakeFailure);
  return { server, setTls: (settings) => contexts.replace(settings, server), cutHandshakes };
}

function httpOptions(limits: ListenerLimits): ServerOptions {
  return {
    insecureHTTPParser: false,
    requireHostHeader: false,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerTimeoutMs,
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: 1_000,
    noDelay: true,
    shouldUpgradeCallback: isHandedOver,
  };
}
