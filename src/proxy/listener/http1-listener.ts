import type { Socket } from 'node:net';
import type { Clock } from '../../transport/clock.ts';
import { createSocketServer, listening } from './accept-socket.ts';
import { isTls } from '../client-peer.ts';
import type { ListenAddress, Listener, ListenerLimits, RequestSink } from '../downstream.ts';
import { Http1ServerConnection } from './http1-server-connection.ts';
import { createHttp2Acceptor } from './http2-acceptor.ts';
import { ProtocolChoice } from './protocol-choice.ts';
import type { ConnectionHost, ServerConnection } from './server-connection.ts';
import type { ListenerTls } from './tls-settings.ts';

/**
 * Opens an address for our own strict server: HTTP/1.1, and HTTP/2 for clients that choose it in the TLS handshake or
 * begin with its preface.
 * Rejects with the system's error (`EADDRINUSE`, `EACCES`) when the address cannot be bound, or with that of OpenSSL when
 * the TLS settings are no good.
 */
export async function listenHttp1(
  address: ListenAddress,
  sink: RequestSink,
  limits: ListenerLimits,
  clock: Clock,
  tls?: ListenerTls,
): Promise<Listener> {
  const connections = new Set<ServerConnection>();
  let draining = false;
  let current = limits;
  const host: ConnectionHost = {
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
  const http1 = (socket: Socket): void => {
    connections.add(new Http1ServerConnection(host, socket));
  };
  const http2 = await createHttp2Acceptor(host, connections, tls !== undefined);
  const handlers = {
    http1(socket: Socket, early: Buffer) {
      http1(socket);
      // As if it came only now: whoever reads a socket listens to this.
      socket.emit('data', early);
    },
    http2,
  };
  const { server, setTls, cutHandshakes } = await createSocketServer({
    tls,
    handshakeTimeoutMs: limits.headerTimeoutMs,
    onSocket(socket) {
      if (!isTls(socket)) connections.add(new ProtocolChoice(host, socket, handlers));
      else if (socket.alpnProtocol === 'h2') http2(socket, undefined);
      else http1(socket);
    },
    onHandshakeFailure: (remote, detail) => sink.connectionRefused('tls-handshake', remote, detail),
  });
  server.maxConnections = limits.maxConnections;
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  const stopAccepting = (): void => {
    draining = true;
    if (server.listening) server.close();
  };
  return {
    address: await listening(server, address),
    get connectionCount() {
      return connections.size;
    },
    setLimits(next) {
      current = next;
      server.maxConnections = next.maxConnections;
    },
    setTls,
    drain() {
      stopAccepting();
      for (const connection of connections) connection.drain();
    },
    close() {
      stopAccepting();
      for (const connection of connections) connection.cut();
      cutHandshakes();
      return closed;
    },
  };
}
