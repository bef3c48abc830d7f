import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { underlying } from '../client-peer.ts';
import type { ListenAddress } from '../downstream.ts';
import type { ListenerTls } from './tls-settings.ts';

/** Opens the address. Rejects with the system's error (`EADDRINUSE`, `EACCES`) when it cannot be bound. */
export function listening(server: Server, address: ListenAddress): Promise<ListenAddress> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: address.host, port: address.port, backlog: 511 }, () => {
      server.off('error', reject);
      // Accept errors (EMFILE) are not the end of the listener: the next connection may succeed.
      server.on('error', () => {});
      const bound = server.address() as AddressInfo;
      resolve({ host: bound.address, port: bound.port });
    });
  });
}

/** Where sockets come from: the network itself, or TLS upon it. */
export interface SocketServer {
  readonly server: Server;
  /** @throws Error when the listener has no TLS, or the settings are no good */
  setTls(settings: ListenerTls): void;
  /** Sockets whose handshake is not over. */
  cutHandshakes(): void;
}

export interface SocketServerOptions {
  readonly tls: ListenerTls | undefined;
  readonly handshakeTimeoutMs: number;
  /** Ready to be read from. */
  readonly onSocket: (socket: Socket) => void;
  readonly onHandshakeFailure: (remoteAddress: string, detail: string) => void;
}

/** @throws Error when the TLS settings are no good */
export async function createSocketServer(options: SocketServerOptions): Promise<SocketServer> {
  // Half-open sockets let a client that said everything and closed its side still read its answer.
  const common = { allowHalfOpen: true, noDelay: true };
  if (options.tls === undefined) {
    const server = createServer(common, options.onSocket);
    return { server, setTls: refuseTls, cutHandshakes() {} };
  }
  const [{ createServer: createTlsServer }, { TlsContexts }] = await Promise.all([
    import('node:tls'),
    import('./tls-settings.ts'),
  ]);
  const contexts = new TlsContexts(options.tls);
  const server = createTlsServer(
    { ...contexts.serverOptions(options.handshakeTimeoutMs), ...common },
    options.onSocket,
  );
  const watch = watchHandshakes(server, options.onHandshakeFailure);
  return { server, setTls: (settings) => contexts.replace(settings, server), cutHandshakes: watch };
}

/** Tells of handshakes that fail. Returns what cuts the sockets whose handshake is not over. */
export function watchHandshakes(
  server: Server,
  onFailure: (remoteAddress: string, detail: string) => void,
): () => void {
  const waiting = new Map<Socket, string>();
  server.on('connection', (socket: Socket) => {
    // Of a socket that is closed, nobody knows any longer where it came from.
    waiting.set(socket, socket.remoteAddress ?? '');
    socket.once('close', () => setImmediate(() => waiting.delete(socket)));
  });
  server.on('secureConnection', (socket: TLSSocket) => void waiting.delete(underlying(socket)));
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    onFailure(waiting.get(underlying(socket)) ?? '', error.code ?? error.message);
    socket.destroy();
  });
  return () => {
    for (const socket of waiting.keys()) socket.destroy();
  };
}

export function refuseTls(): void {
  throw new Error('this listener has no TLS');
}
