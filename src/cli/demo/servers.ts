import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import type { Journal } from './journal.ts';

export type ServerName = 'healthy' | 'closed' | 'crashing' | 'closing' | 'busy' | 'failing';

/** What each server does, for people. */
export const behaviours: Readonly<Record<ServerName, string>> = {
  healthy: 'answers 200',
  closed: 'a port on which nobody listens',
  crashing: 'resets the connection in the middle of its response head',
  closing: 'answers one request a connection, reads the second and closes',
  busy: 'answers 503 with Retry-After first, 200 when asked again',
  failing: 'answers 503 to everything',
};

/** Real servers on 127.0.0.1, each wrong in a way of its own. */
export interface Servers {
  /** `host:port` */
  addressOf(name: ServerName): string;
  /** The name of the server at an address; the address itself when it is none of ours. */
  nameAt(address: string): string;
  /** Cuts every connection. */
  close(): Promise<void>;
}

type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

/** A server's answer begins when the whole request was read: what it saw is then beyond doubt. */
const whenRead =
  (then: Behaviour): Behaviour =>
  (request, response) =>
    request.on('end', () => then(request, response)).resume();

export async function startServers(journal: Journal): Promise<Servers> {
  const running: Server[] = [];
  const addresses = new Map<ServerName, string>();
  const start = async (name: ServerName, behaviour: Behaviour): Promise<AddressInfo> => {
    const server = createServer((request, response) => {
      journal.arrived(name, request);
      behaviour(request, response);
    });
    server.keepAliveTimeout = 0;
    running.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address() as AddressInfo;
    addresses.set(name, `127.0.0.1:${address.port}`);
    return address;
  };

  const healthy = await start('healthy', whenRead(answer));
  await start('crashing', whenRead(crash));
  await start('closing', whenRead(createClosing()));
  await start('busy', whenRead(createBusy()));
  await start('failing', whenRead(fail));
  const holder = await holdPort(healthy.port);
  addresses.set('closed', `127.0.0.1:${holder.localPort}`);

  return {
    addressOf: (name) => addresses.get(name)!,
    nameAt: (address) => [...addresses].find(([, known]) => known === address)?.[0] ?? address,
    async close() {
      holder.destroy();
      await Promise.all(
        running.map((server) => {
          server.closeAllConnections();
          return new Promise((resolve) => server.close(resolve));
        }),
      );
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Content-Type', 'text/plain');
  response.end(`done: ${request.method} ${request.url}\n`);
}

function crash({ socket }: IncomingMessage): void {
  socket.write('HTTP/1.1 200 OK\r\nContent-Ty', () => socket.resetAndDestroy());
}

function createClosing(): Behaviour {
  const answered = new WeakSet<Socket>();
  return (request, response) => {
    if (answered.has(request.socket)) {
      request.socket.destroy();
      return;
    }
    answered.add(request.socket);
    answer(request, response);
  };
}

/** Seconds in Retry-After, by the path's second part. */
const waits: Readonly<Record<string, string>> = { now: '0', soon: '1', later: '30' };
const maxRefusedCount = 1000;

function createBusy(): Behaviour {
  const refused = new Set<string>();
  return (request, response) => {
    const path = request.url ?? '';
    const asked = `${String(request.headers['x-request-id'])} ${path}`;
    if (refused.delete(asked)) {
      answer(request, response);
      return;
    }
    if (refused.size >= maxRefusedCount) refused.clear();
    refused.add(asked);
    response.setHeader('Retry-After', waits[path.split('/')[2] ?? ''] ?? '0');
    fail(request, response);
  };
}

function fail(_request: IncomingMessage, response: ServerResponse): void {
  response.statusCode = 503;
  response.setHeader('Content-Type', 'text/plain');
  response.end('not now\n');
}

/**
 * A port that refuses connections for as long as the demo runs: the local port of a connection of ours, so the system
 * gives it to nobody, and nobody listens on it. A port that was merely closed again could be taken by a stranger.
 */
async function holdPort(peerPort: number): Promise<Socket> {
  const holder = connect(peerPort, '127.0.0.1');
  await once(holder, 'connect');
  holder.on('error', () => {});
  return holder;
}
