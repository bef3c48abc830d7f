/**
 * `npm run bench:service [-- ROUNDS]`: the CPU that `mulligan/register` adds to a service that answers each request by one
 * call, with node:http and with fetch. The same service runs with it and without it, in turns, so that what else the
 * machine does falls on both. Two numbers: the cheapest tenth of the turns of each, for what a busy
 * machine adds is never negative, and the median of the pairs of turns. The register is the built one, as users have it.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Short turns: the neighbours of one moment then fall on both of a pair. */
const REQUEST_COUNT = 200;
const WARM_UP_COUNT = 10;
const CONCURRENCY = 16;
const roundCount = Math.min(Math.max(1, Number(process.argv[2] ?? 60)), 500);

const app = fileURLToPath(new URL('targets/hello-service.ts', import.meta.url));
const register = new URL('../dist/service/register.js', import.meta.url).href;

const build = fileURLToPath(new URL('../scripts/build.ts', import.meta.url));
if (spawnSync(process.execPath, [build, 'src/service'], { stdio: 'inherit' }).status !== 0) process.exit(1);

const origin = http.createServer((_request, response) => response.end('ok'));
origin.listen(0, '127.0.0.1');
await once(origin, 'listening');
const originUrl = `http://127.0.0.1:${String((origin.address() as AddressInfo).port)}/stock`;
const agent = new http.Agent({ keepAlive: true, maxSockets: CONCURRENCY });

interface Target {
  readonly child: ChildProcess;
  readonly url: string;
}

async function start(client: string, registered: boolean): Promise<Target> {
  const child = spawn(process.execPath, [...(registered ? ['--import', register] : []), app], {
    env: { ...process.env, ORIGIN: originUrl, CLIENT: client, MULLIGAN_TRUST: '127.0.0.0/8' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, url: `http://127.0.0.1:${port}` };
}

function get(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    http
      .get(url, { agent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve(text));
      })
      .on('error', reject);
  });
}

/** Microseconds of the service's CPU for one request. */
async function measure({ url }: Target): Promise<number> {
  const before = Number(await get(`${url}/cpu`));
  let left = REQUEST_COUNT;
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (left > 0) {
        left -= 1;
        await get(`${url}/hello`);
      }
    }),
  );
  return (Number(await get(`${url}/cpu`)) - before) / REQUEST_COUNT;
}

for (const client of ['http', 'fetch']) {
  const plain = await start(client, false);
  const registered = await start(client, true);
  for (let turn = 0; turn < WARM_UP_COUNT; turn += 1) {
    for (const target of [plain, registered]) await measure(target);
  }
  const rounds: { readonly plain: number; readonly registered: number }[] = [];
  for (let round = 0; round < roundCount; round += 1) {
    // Who comes first changes: the second one of a pair finds a warmer machine.
    const order = round % 2 === 0 ? [plain, registered] : [registered, plain];
    const costs = new Map<Target, number>();
    for (const target of order) costs.set(target, await measure(target));
    rounds.push({ plain: costs.get(plain)!, registered: costs.get(registered)! });
  }
  const sorted = (of: 'plain' | 'registered'): number[] => rounds.map((one) => one[of]).toSorted((a, b) => a - b);
  const at = (numbers: readonly number[], share: number): number =>
    numbers[Math.floor((numbers.length - 1) * share)] ?? Number.NaN;
  const [without, withIt] = [at(sorted('plain'), 0.1), at(sorted('registered'), 0.1)];
  const ratios = rounds.map((one) => one.registered / one.plain).toSorted((one, other) => one - other);
  const percent = (ratio: number): string => `${((ratio - 1) * 100).toFixed(1)} %`;
  console.log(
    `${client.padEnd(6)} ${without.toFixed(0)} µs without, ${withIt.toFixed(0)} µs with register: ${percent(withIt / without)} more CPU a request; ` +
      `of ${String(ratios.length)} pairs the median ${percent(at(ratios, 0.5))}, the middle half ${percent(at(ratios, 0.25))} to ${percent(at(ratios, 0.75))}; ` +
      `load ${loadavg()[0]!.toFixed(1)}`,
  );
  plain.child.kill();
  registered.child.kill();
}
agent.destroy();
origin.close();
origin.closeAllConnections();
