import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { targetFault } from '../../http1/request-target.ts';
import { consistsOf, TARGET } from '../../http1/octets.ts';
import { parseFault } from '../../http1/parse-fault.ts';
import { fieldValues } from '../../http1/field-list.ts';
import type { Clock, Timer } from '../../transport/clock.ts';
import { listening } from './accept-socket.ts';
import type { ListenAddress, Listener, ListenerLimits, RequestSink } from '../downstream.ts';
import { DRAIN_IDLE_MS } from '../downstream.ts';
import { createHttp2Acceptor } from './http2-acceptor.ts';
import { PREFACE } from './http2-frames.ts';
import { Http1ServerConnection } from './http1-server-connection.ts';
import { NodeHttpDownstream } from './node-http-downstream.ts';
import { requestBytes } from './node-http-handover.ts';
import { createNodeHttpServer } from './node-http-server.ts';
import type { ConnectionHost, ServerConnection } from './server-connection.ts';
import type { ListenerTls } from './tls-settings.ts';

/**
 * The safe mode: `node:http` reads the requests. What its parser lets through although RFC 9112 tells a proxy to refuse
 * it (two Hosts, a Host with a path, odd targets) is refused here.
 */
export async function listenNodeHttp(
  address: ListenAddress,
  sink: RequestSink,
  limits: ListenerLimits,
  clock: Clock,
  tls?: ListenerTls,
): Promise<Listener> {
  let draining = false;
  let current = limits;
  let idleTimer: Timer | undefined;
  const sessions = new Set<ServerConnection>();
  const host: ConnectionHost = {
    sink,
    get limits() {
      return current;
    },
    clock,
    get draining() {
      return draining;
    },
    connectionClosed: (session) => void sessions.delete(session),
  };
  const { server, setTls, cutHandshakes } = await createNodeHttpServer({
    limits,
    tls,
    http2: tls === undefined ? undefined : await createHttp2Acceptor(host, sessions, true),
    onHandshakeFailure: (remote, detail) => sink.connectionRefused('tls-handshake', remote, detail),
  });
  const busy = new Map<Socket, NodeHttpDownstream>();
  const accept = (request: IncomingMessage, response: ServerResponse): NodeHttpDownstream => {
    const downstream = new NodeHttpDownstream(request, response, current, clock);
    const { socket } = request;
    busy.set(socket, downstream);
    response.once('close', () => {
      if (busy.get(socket) === downstream) busy.delete(socket);
    });
    if (draining) downstream.closeAfterResponse();
    return downstream;
  };
  const refused = new WeakSet<Socket>();
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    const downstream = accept(request, response);
    const fault = requestFault(request);
    if (fault === undefined) return sink.request(downstream);
    refused.add(request.socket);
    downstream.closeAfterResponse();
    sink.refused(downstream, fault.status, fault.message);
  };
  server.on('request', take);
  server.on('checkContinue', take);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const downstream = accept(request, response);
    downstream.closeAfterResponse();
    sink.refused(downstream, 417, parseFault('BAD_EXPECT').message);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // What follows a refused head is not read as a request, and gets no answer of its own.
    if (refused.has(socket)) socket.end();
    else answerClientError(error, socket);
  });
  const handedOver = new WeakSet<Socket>();
  const handOver = (request: IncomingMessage, stream: Duplex, rest: Buffer): void => {
    const socket = stream as Socket;
    handedOver.add(socket);
    sessions.add(new Http1ServerConnection(host, socket));
    // As if it came only now: whoever reads a socket listens to this.
    socket.emit('data', requestBytes(request, rest));
  };
  server.on('connect', handOver);
  // Before Node 24.9 every request with an Upgrade field would come here, with a body that nobody reads.
  if ('shouldUpgradeCallback' in server) server.on('upgrade', handOver);
  // A socket that was handed over is no longer the server's to close.
  const sockets = new Set<Socket>();
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  return listening(server, address).then((bound) => {
    return {
      address: bound,
      get connectionCount() {
        return sockets.size;
      },
      setTls,
      setLimits(next) {
        current = next;
        server.maxConnections = next.maxConnections;
        server.headersTimeout = next.headerTimeoutMs;
        server.keepAliveTimeout = next.keepAliveMs;
        // Read for each new connection, though the documentation tells of the option alone.
        Object.assign(server, { maxHeaderSize: next.headerBytes });
      },
      drain() {
        draining = true;
        // That of node:http would close idle connections at once.
        if (server.listening) NetServer.prototype.close.call(server);
        for (const downstream of busy.values()) downstream.closeAfterResponse();
        for (const session of sessions) session.drain();
        idleTimer ??= clock.setTimer(DRAIN_IDLE_MS, () => {
          for (const socket of sockets)
            if (!busy.has(socket) && !handedOver.has(socket) && !isHttp2(socket)) socket.destroy();
        });
      },
      close() {
        draining = true;
        idleTimer?.cancel();
        server.close();
        for (const downstream of busy.values()) downstream.listener.cut();
        for (const session of sessions) session.cut();
        for (const socket of sockets) if (!isHttp2(socket)) socket.destroy();
        cutHandshakes();
        return closed;
      },
    };
  });
}

function isHttp2(socket: Socket): boolean {
  return 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
}

function requestFault(request: IncomingMessage): { status: number; message: string } | undefined {
  const hosts = fieldValues(request.rawHeaders, 'host');
  if (hosts.length > 1) return parseFault('DUPLICATE_HOST');
  if (hosts.length === 0 && request.httpVersionMinor === 1) return parseFault('MISSING_HOST');
  if (request.httpVersionMajor !== 1) return parseFault('BAD_VERSION');
  const target = request.url ?? '';
  if (!consistsOf(target, TARGET)) return parseFault('BAD_TARGET');
  for (const length of fieldValues(request.rawHeaders, 'content-length')) {
    if (!/^(?:0|[1-9]\d*)$/.test(length)) return parseFault('BAD_CONTENT_LENGTH');
  }
  for (const coding of fieldValues(request.rawHeaders, 'transfer-encoding')) {
    if (coding.toLowerCase() !== 'chunked') return parseFault('BAD_TRANSFER_ENCODING');
  }
  const fault = targetFault(request.method ?? '', target, hosts[0]);
  return fault === undefined ? undefined : parseFault(fault);
}

function answerClientError(error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  if (error.rawPacket?.subarray(0, PREFACE.length).equals(PREFACE) === true) {
    socket.end(HTTP2_REFUSAL);
    return;
  }
  const status = CLIENT_ERRORS[error.code ?? ''] ?? '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}

const HTTP2_ADVICE = 'This listener speaks HTTP/2 over TLS only; without TLS, `server: own` does.\n';
const HTTP2_REFUSAL = `HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Type: text/plain\r\nContent-Length: ${HTTP2_ADVICE.length}\r\nConnection: close\r\n\r\n${HTTP2_ADVICE}`;

const CLIENT_ERRORS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};
