import type { Socket } from 'node:net';
import type { ConnectionHost, ServerConnection } from './server-connection.ts';

/** `early` is what was read of the connection already. */
export type Http2Acceptor = (socket: Socket, early: Buffer | undefined) => void;

/**
 * What takes over sockets that speak HTTP/2. `node:http2` is loaded at once when it will be needed (`now`), else for the
 * first such connection: it takes 12 MB.
 */
export async function createHttp2Acceptor(
  host: ConnectionHost,
  connections: Set<ServerConnection>,
  now: boolean,
): Promise<Http2Acceptor> {
  const load = () => import('./http2-connection.ts');
  let loaded = now ? await load() : undefined;
  const take = (socket: Socket, early: Buffer | undefined): void => {
    if (loaded !== undefined) connections.add(new loaded.Http2ServerConnection(host, socket, early));
  };
  return (socket, early) => {
    if (loaded !== undefined) return take(socket, early);
    const waiting = new WaitingConnection(host, socket);
    connections.add(waiting);
    void load().then((module) => {
      loaded = module;
      connections.delete(waiting);
      if (!socket.destroyed) take(socket, early);
    });
  };
}

/** A connection that waits for the code that serves it. */
class WaitingConnection implements ServerConnection {
  readonly #socket: Socket;

  constructor(host: ConnectionHost, socket: Socket) {
    this.#socket = socket;
    socket.pause();
    socket.on('error', () => {});
    socket.once('close', () => host.connectionClosed(this));
  }

  drain(): void {}

  cut(): void {
    this.#socket.destroy();
  }
}
