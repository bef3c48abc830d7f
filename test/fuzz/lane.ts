import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { createProxy } from '../../src/proxy/proxy.ts';
import { MARK, startFuzzOrigin } from './fuzz-origin.ts';
import type { FuzzOrigin } from './fuzz-origin.ts';

/** A request that the proxy says it has sent. */
interface SentRequest {
  readonly method: string;
  readonly target: string;
}

/** One proxy and one origin, on which cases run one after another. */
export interface Lane {
  readonly port: number;
  readonly origin: FuzzOrigin;
  /** Since `reset`: attempts, by the mark that they carry. */
  readonly sent: ReadonlyMap<string, SentRequest>;
  /** Forgets what earlier cases did. */
  reset(): void;
  /** What the origin saw that the proxy does not say it sent; undefined when all is as it should be. */
  difference(): string | undefined;
  close(): Promise<void>;
}

/** How long a case may take after its last event; more is a hang. */
const HANG_MS = 5_000;

export async function openLane(): Promise<Lane> {
  const origin = await startFuzzOrigin();
  const sent = new Map<string, SentRequest>();
  let count = 0;
  const proxy = createProxy(
    {
      selectUpstream: () => origin.address,
      upstreamRequestFilter(_exchange, request) {
        const mark = `m${++count}`;
        request.fields = [...request.fields, MARK, mark];
        sent.set(mark, { method: request.method, target: request.path });
      },
    },
    { diagnostics: () => {} },
  );
  const { address } = await proxy.listen('127.0.0.1:0');
  return {
    port: address.port,
    origin,
    sent,
    reset() {
      // A request whose client left may reach the origin late: its mark stays known.
      if (sent.size > 10_000) sent.clear();
      origin.seen.length = 0;
      origin.faults.length = 0;
      origin.answer = undefined;
    },
    difference() {
      if (origin.faults.length > 0) return `the origin got what is no HTTP: ${origin.faults[0]}`;
      const marks = new Set<string>();
      for (const { method, target, mark } of origin.seen) {
        if (method === '') continue;
        const said = sent.get(mark);
        if (said === undefined) return `the origin got ${method} ${target}, which the proxy did not send`;
        if (said.method !== method || said.target !== target)
          return `the origin got ${method} ${target} for ${said.method} ${said.target}`;
        if (marks.has(mark)) return `the origin got ${mark} twice`;
        marks.add(mark);
      }
      return undefined;
    },
    async close() {
      await proxy.close();
      await origin.close();
    },
  };
}

export interface Conversation {
  readonly received: Buffer;
  /** The other side did not end the connection in time. */
  readonly hung: boolean;
}

/** Says pieces, then FIN; resolves when the other side has closed as well. */
export async function converse(
  port: number,
  pieces: readonly Buffer[],
  hangMs: number = HANG_MS,
): Promise<Conversation> {
  const socket: Socket = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true });
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.on('error', () => {});
  const closed = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(true), hangMs);
    const ended = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    socket.once('end', ended);
    socket.once('close', ended);
  });
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await new Promise(setImmediate);
    if (socket.writable) socket.write(piece);
  }
  socket.end();
  const hung = await closed;
  socket.destroy();
  return { received: Buffer.concat(received), hung };
}

/** Cuts bytes at random places. */
export function cutUp(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((place, index) => bytes.subarray(places[index], place));
}
