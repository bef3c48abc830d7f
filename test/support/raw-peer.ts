import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { createSignal } from './signal.ts';

/** One connection at a raw server, byte by byte. */
export interface RawPeer {
  readonly socket: Socket;
  /** Everything received so far, as latin1. */
  readonly text: string;
  readonly bytes: number;
  /** How the other side ended its direction, once it did. */
  readonly ending: 'fin' | 'reset' | 'closed' | undefined;
  until<T>(check: () => T | false | undefined, what: string): Promise<T>;
  send(bytes: string | Buffer): void;
}

export interface RawServer {
  readonly address: string;
  readonly peers: readonly RawPeer[];
  /** The n-th connection (1-based), as soon as it is there. */
  peer(number?: number): Promise<RawPeer>;
  close(): Promise<void>;
}

/** A server that speaks nothing: the test decides every byte. Half-open, so that both directions close on their own. */
export async function startRawServer(t: TestContext): Promise<RawServer> {
  const signal = createSignal();
  const peers: RawPeer[] = [];
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    let text = '';
    let ending: RawPeer['ending'];
    const peer: RawPeer = {
      socket,
      get text() {
        return text;
      },
      get bytes() {
        return text.length;
      },
      get ending() {
        return ending;
      },
      until: (check, what) =>
        signal.until(check, {
          what,
          describe: () => `${ending ?? 'open'}; received ${JSON.stringify(text.slice(0, 2_000))}`,
        }),
      send: (bytes) => void socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes),
    };
    const end = (how: NonNullable<RawPeer['ending']>): void => {
      ending ??= how;
      signal.changed();
    };
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      signal.changed();
    });
    socket.on('end', () => end('fin'));
    socket.on('error', () => end('reset'));
    socket.on('close', () => end('closed'));
    peers.push(peer);
    signal.changed();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const { socket } of peers) socket.destroy();
    });
  t.after(() => close());
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    peers,
    peer: (number = 1) => signal.until(() => peers[number - 1], { what: `connection ${number}` }),
    close,
  };
}
