import { getEventListeners } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { Agent, fetch as undiciFetch, request } from 'undici';
import { ClientDispatcher } from '../../src/client/dispatcher.ts';
import { fetch as ownFetch } from '../../src/client/fetch.ts';
import { retry } from '../../src/client/interceptor/retry.ts';
import type { InnerFetch } from '../../src/client/wrap-fetch.ts';
import type { LayerOptions } from '../../src/client/layer-options.ts';
import { wrapFetch } from '../../src/client/wrap-fetch.ts';
import { createSystemClock } from '../../src/transport/system-time.ts';

export interface StormResult {
  /** Those that were given up, in whatever phase they were. */
  readonly abortedCount: number;
  /** Those that ended without an answer though nobody gave them up. */
  readonly failedCount: number;
  /** What arrived at the origin, retries and copies included. */
  readonly sendCount: number;
  /** What there must be none of when all have ended. */
  readonly left: Readonly<Record<'listeners' | 'bodies' | 'keptBytes' | 'sockets', number>>;
}

const RETRY = { codes: [503], on: ['unsent', 'stale', 'reset'], maxRetries: 3, backoffMs: 2, maxBackoffMs: 8 } as const;
const OPTIONS: LayerOptions = { retry: RETRY, hedge: { delayMs: 4 }, budget: { kind: 'none' } };
const CONCURRENT = 50;

/** A seeded source of chance: a run can be run again. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Sends requests through every way there is to an origin that answers late, fails, breaks off, goes on for ever and hangs.
 * Half of them are given up after a random time: before they are sent, in an attempt, in a wait, while their answer comes
 * in. The others listen to one signal for all.
 */
export async function runAbortStorm(requestCount: number, seed: number): Promise<StormResult> {
  const random = createRandom(seed);
  let sendCount = 0;
  const server = createServer((message, response) => answer(message, response, (sendCount += 1)));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dispatcher = new ClientDispatcher({ ...OPTIONS, connections: 60 }, createSystemClock(), random);
  const agent = new Agent({ connections: 60, pipelining: 1 });
  const layered = agent.compose(retry(OPTIONS) as never);
  const inner = ((target: string, init: object) => undiciFetch(target, { ...init, dispatcher: agent })) as unknown;
  const wrapped = wrapFetch(inner as InnerFetch, OPTIONS);
  let bodyCount = 0;
  const body = (): Readable => {
    bodyCount += 1;
    return Readable.from([Buffer.alloc(500), Buffer.alloc(500)]).once('close', () => (bodyCount -= 1));
  };
  const ways: readonly ((target: string, signal: AbortSignal) => Promise<unknown>)[] = [
    async (target, signal) => (await ownFetch(target, { dispatcher, signal, method: 'PUT', body: 'x' })).bytes(),
    async (target, signal) => read(await request(target, { dispatcher, signal, method: 'PUT', body: body() })),
    async (target, signal) => read(await request(target, { dispatcher: layered, signal, method: 'PUT', body: body() })),
    async (target, signal) => (await wrapped(target, { signal, method: 'PUT', body: 'x' })).bytes(),
  ];

  const forAll = new AbortController();
  let abortedCount = 0;
  let failedCount = 0;
  const sendOne = async (number: number): Promise<void> => {
    const own = random() < 0.5 ? new AbortController() : undefined;
    const timer = own === undefined ? undefined : setTimeout(() => own.abort(), Math.floor(random() * 12));
    try {
      await ways[number % ways.length]!(`${url}/${own === undefined ? 'calm' : 'wild'}`, (own ?? forAll).signal);
    } catch {
      if (own?.signal.aborted === true) abortedCount += 1;
      else failedCount += 1;
    } finally {
      clearTimeout(timer);
    }
  };
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < requestCount) await sendOne(next++);
  };
  await Promise.all(Array.from({ length: CONCURRENT }, sender));

  await dispatcher.close();
  await agent.destroy();
  const left = {
    listeners: getEventListeners(forAll.signal, 'abort').length,
    bodies: await settled(() => bodyCount),
    keptBytes: dispatcher.client.replayMemory.usedBytes,
    sockets: await settled(() => openConnections(server)),
  };
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  return { abortedCount, failedCount, sendCount, left };
}

async function read({ body }: Awaited<ReturnType<typeof request>>): Promise<void> {
  for await (const _chunk of body);
}

function answer(message: IncomingMessage, response: ServerResponse, number: number): void {
  message.resume().on('error', () => undefined);
  response.on('error', () => undefined);
  switch (number % (message.url === '/calm' ? 4 : 6)) {
    case 0:
      response.writeHead(503).end('busy');
      return;
    case 1:
      setTimeout(() => response.end('late'), 3);
      return;
    case 2:
      message.socket.destroy();
      return;
    case 4:
      // Goes on until the client leaves.
      response.write('a piece');
      return;
    case 5:
      return;
    default:
      response.end('fine');
  }
}

function openConnections(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}

/** Closing takes the event loop some turns; what is left after many of them stays. */
async function settled(count: () => number | Promise<number>): Promise<number> {
  for (let turn = 0; turn < 2_000; turn += 1) {
    const left = await count();
    if (left === 0) return 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return count();
}
