/**
 * What a request costs its client, on the success path: CPU of this process per request, and requests a second, through
 * undici's own pool and through a dispatcher of ours, by `undici.request` and by `fetch`. The ways alternate in rounds of
 * one process, so that a noisy machine is noisy for all of them; the server is a process of its own.
 * `node bench/client.ts [--rounds N] [--requests N] [--check]`; `--check` exits with 1 when ours costs more than undici's.
 */
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
// The package's own: the peers' tree has an older one.
import type { Dispatcher } from '../node_modules/undici/index.js';
import { fetch as undiciFetch, Pool, request } from '../node_modules/undici/index.js';
import { createDispatcher } from '../src/client/dispatcher.ts';
import { fetch } from '../src/client/fetch.ts';

const IN_FLIGHT = 50;
const BODY = 'hello, this is a small answer\n';

if (process.send !== undefined) {
  const server = createServer((_incoming, response) => response.end(BODY));
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
} else await main();

interface Way {
  readonly name: string;
  /** The one it is measured against. */
  readonly against?: string;
  readonly call: (url: string) => Promise<void>;
}

interface Figure {
  readonly cpuUs: number;
  readonly perSecond: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '7' },
      requests: { type: 'string', default: '4000' },
      check: { type: 'boolean', default: false },
    },
  });
  const rounds = Number(values.rounds);
  const requests = Number(values.requests);
  const server = fork(fileURLToPath(import.meta.url), { stdio: 'inherit' });
  const port = await new Promise<number>((resolve) => server.once('message', (value) => resolve(value as number)));
  const origin = `http://127.0.0.1:${port}`;
  const pool = new Pool(origin, { connections: IN_FLIGHT });
  const ours = createDispatcher();
  const read = async (dispatcher: Dispatcher, url: string): Promise<void> => {
    const { body } = await request(url, { dispatcher });
    await body.text();
  };
  const ways: Way[] = [
    { name: 'undici.request on its Pool', call: (url) => read(pool, url) },
    { name: 'undici.request on ours', against: 'undici.request on its Pool', call: (url) => read(ours, url) },
    {
      name: 'undici.fetch on its Pool',
      async call(url) {
        await (await undiciFetch(url, { dispatcher: pool })).text();
      },
    },
    {
      name: 'fetch of mulligan',
      against: 'undici.fetch on its Pool',
      async call(url) {
        await (await fetch(url, { dispatcher: ours })).text();
      },
    },
  ];
  const figures = new Map<string, Figure[]>(ways.map(({ name }) => [name, []]));
  for (const way of ways) await round(way, `${origin}/`, requests);
  for (let i = 0; i < rounds; i += 1) {
    for (const way of ways) figures.get(way.name)?.push(await round(way, `${origin}/`, requests));
  }
  const medianOf = (name: string, key: keyof Figure): number =>
    median((figures.get(name) ?? []).map((one) => one[key]));
  for (const { name, against } of ways) {
    const cpuUs = medianOf(name, 'cpuUs');
    const ratio = against === undefined ? 1 : cpuUs / medianOf(against, 'cpuUs');
    const parts = [
      `${cpuUs.toFixed(1)} µs CPU`,
      `${medianOf(name, 'perSecond').toFixed(0)}/s`,
      `× ${ratio.toFixed(2)}`,
    ];
    console.log(`${name.padEnd(30)} ${parts.join('   ')}`);
    if (values.check && ratio > 1) process.exitCode = 1;
  }
  await Promise.all([pool.close(), ours.close()]);
  server.kill();
}

async function round({ call }: Way, url: string, requests: number): Promise<Figure> {
  let left = requests;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await call(url);
    }
  };
  const cpu = process.cpuUsage();
  const startedAtMs = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  const { user, system } = process.cpuUsage(cpu);
  return { cpuUs: (user + system) / requests, perSecond: (requests * 1000) / (performance.now() - startedAtMs) };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
