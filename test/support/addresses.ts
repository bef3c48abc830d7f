import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';

/** An address with a known fault. `release` gives the port back; idempotent. */
export interface FaultyAddress {
  readonly host: string;
  readonly port: number;
  /** `host:port` */
  readonly address: string;
  release(): Promise<void>;
}

interface AddressOptions {
  readonly t?: TestContext | undefined;
}

/**
 * A port that refuses connections until it is released, and can be listened on after that.
 * The port is held as the local port of a connection of ours: while that lives, the kernel gives the port to nobody,
 * and as nothing listens on it, a SYN is answered by an RST. A port that was merely freed could be taken by a
 * neighbouring test in the meantime.
 */
export async function refusedAddress(options: AddressOptions = {}): Promise<FaultyAddress> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  // No localAddress here: binding sets SO_REUSEADDR, which would let a listener share the port.
  const holder = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  holder.on('error', () => {});
  const peer = await accepted;
  peer.on('error', () => {});
  if (holder.connecting) await new Promise((resolve) => holder.once('connect', resolve));
  server.close();
  const port = holder.localPort!;
  let released: Promise<void> | undefined;
  const address: FaultyAddress = {
    host: '127.0.0.1',
    port,
    address: `127.0.0.1:${port}`,
    release() {
      // By RST: no TIME_WAIT is left on the port.
      released ??= Promise.all([gone(holder), gone(peer), Promise.resolve(holder.resetAndDestroy())]).then(() => {});
      return released;
    },
  };
  options.t?.after(() => address.release());
  return address;
}

/**
 * An address that swallows SYNs: a listener that never accepts, in a thread that sleeps, with its queue full.
 * Linux drops a SYN for a full queue without an answer.
 */
export async function blackHoleAddress(options: AddressOptions = {}): Promise<FaultyAddress> {
  const worker = new Worker(
    `const { createServer } = require('node:net');
     const { parentPort } = require('node:worker_threads');
     const server = createServer();
     server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
     });`,
    { eval: true },
  );
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  // The queue takes backlog + 1; the third connection is the first whose SYN is dropped.
  const fillers = [fill(port), fill(port)];
  await Promise.all(fillers.map((filler) => new Promise((resolve) => filler.once('connect', resolve))));
  const address: FaultyAddress = {
    host: '127.0.0.1',
    port,
    address: `127.0.0.1:${port}`,
    async release() {
      await Promise.all(fillers.map((filler) => gone(filler.destroy())));
      await worker.terminate();
    },
  };
  options.t?.after(() => address.release());
  return address;
}

function fill(port: number): Socket {
  return connect(port, '127.0.0.1').on('error', () => {});
}

function gone(socket: Socket): Promise<void> {
  return socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', () => resolve()));
}
