import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../transport/clock.ts';
import type { ListenAddress, Listener, ListenerLimits, RequestSink } from './downstream.ts';
import { Http1ServerConnection } from './http1-server-connection.ts';
import type { ConnectionOwner } from './http1-server-connection.ts';

/**
 * Opens an address for our own strict HTTP/1.1 server.
 * Rejects with the system's error (`EADDRINUSE`, `EACCES`) when the address cannot be bound.
 */
export function listenHttp1(
  address: ListenAddress,
  sink: RequestSink,
  limits: ListenerLimits,
  clock: Clock,
): Promise<Listener> {
  const connections = new Set<Http1ServerConnection>();
  let draining = false;
  let current = limits;
  const owner: ConnectionOwner = {
    sink,
    get limits() {
      return current;
    },
    clock,
    get draining() {
      return draining;
    },
    connectionClosed: (connection) => void connections.delete(connection),
  };
  // Half-open sockets let a client that said everything and closed its side still read its answer.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    connections.add(new Http1ServerConnection(owner, socket));
  });
  server.maxConnections = limits.maxConnections;
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  const stopAccepting = (): void => {
    draining = true;
    if (server.listening) server.close();
  };
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: address.host, port: address.port, backlog: 511 }, () => {
      server.off('error', reject);
      // Accept errors (EMFILE) are not the end of the listener: the next connection may succeed.
      server.on('error', () => {});
      const bound = server.address() as AddressInfo;
      resolve({
        address: { host: bound.address, port: bound.port },
        get connectionCount() {
          return connections.size;
        },
        setLimits(next) {
          current = next;
          server.maxConnections = next.maxConnections;
        },
        drain() {
          stopAccepting();
          for (const connection of connections) connection.drain();
        },
        close() {
          stopAccepting();
          for (const connection of connections) connection.cut();
          return closed;
        },
      });
    });
  });
}
