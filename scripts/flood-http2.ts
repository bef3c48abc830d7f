import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Http2FloodProbe } from '../test/support/http2-floods.ts';
import { flood, floods } from '../test/support/http2-floods.ts';
import {
  connectFrames,
  endHeaders,
  endStream,
  frame,
  frameTypes,
  number32,
  requestBlock,
} from '../test/support/http2-frames.ts';

/**
 * `npm run flood:http2 [-- SECONDS]`: floods a listener in each way known here, and prints what it cost against the bars:
 * memory grows by less than 64 MB, other clients' p99 stays below 50 ms, the attacker is closed within a second.
 */
const seconds = Number(process.argv[2] ?? 3);
const attackerCount = 4;
const bars = { memoryMiB: 64, p99Ms: 50, closedMs: 1_000 };

interface Memory {
  readonly rssBytes: number;
  readonly peakBytes: number;
  readonly refused: readonly (readonly [string, number])[];
}

interface Latency {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failedCount: number;
}

const server = fork(new URL('flood/server.ts', import.meta.url), { execArgv: ['--expose-gc'] });
const [{ port }] = (await once(server, 'message')) as [{ port: number }];
const bystander = fork(new URL('flood/bystander.ts', import.meta.url), [String(port)], { execArgv: [] });
await once(bystander, 'message');

async function asked<T>(child: ChildProcess, question: string): Promise<T> {
  child.send(question);
  const [answer] = (await once(child, 'message')) as [T];
  return answer;
}

/** Floods again and again until `untilMs`; returns how long the slowest connection lived. */
async function attack(probe: Http2FloodProbe, untilMs: number): Promise<{ count: number; slowestMs: number }> {
  let count = 0;
  let slowestMs = 0;
  while (performance.now() < untilMs) {
    const client = await connectFrames(port);
    const startedAtMs = performance.now();
    await flood(client, probe, 100_000);
    await client.waitForClose();
    slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
    count += 1;
    client.destroy();
    await wait(1);
  }
  return { count, slowestMs };
}

/** Clients that ask for much and take nothing: they are not closed so soon, but they must not cost much either. */
async function stall(untilMs: number): Promise<{ count: number; slowestMs: number }> {
  const noWindow = Buffer.concat([Buffer.from([0, 4]), number32(0)]);
  const clients = await Promise.all(Array.from({ length: 50 }, () => connectFrames(port)));
  for (const client of clients) {
    await client.send(frame(frameTypes.settings, 0, 0, noWindow));
    for (let id = 1; id < 201; id += 2)
      await client.send(frame(frameTypes.headers, endHeaders | endStream, id, requestBlock('GET', '/')));
  }
  await wait(Math.max(0, untilMs - performance.now()));
  for (const client of clients) client.destroy();
  return { count: clients.length, slowestMs: 0 };
}

async function measure(
  name: string,
  run: (untilMs: number) => Promise<{ count: number; slowestMs: number }>,
): Promise<boolean> {
  await wait(200);
  const before = await asked<Memory>(server, 'settle');
  await asked<Latency>(bystander, 'begin');
  const { count, slowestMs } = await run(performance.now() + seconds * 1000);
  const latency = await asked<Latency>(bystander, 'end');
  const after = await asked<Memory>(server, 'read');
  const grownMiB = (after.peakBytes - before.rssBytes) / 1024 / 1024;
  const good =
    grownMiB < bars.memoryMiB && latency.p99Ms < bars.p99Ms && slowestMs < bars.closedMs && latency.failedCount === 0;
  process.stdout.write(
    `${[
      name.padEnd(48),
      String(count).padStart(6),
      `${slowestMs.toFixed(0)} ms`.padStart(9),
      `${latency.p50Ms.toFixed(1)} ms`.padStart(9),
      `${latency.p99Ms.toFixed(1)} ms`.padStart(9),
      `${grownMiB.toFixed(1)} MiB`.padStart(10),
      String(latency.failedCount).padStart(7),
      good ? 'ok' : 'MISSED',
    ].join('  ')}\n`,
  );
  return good;
}

process.stdout.write(`${'flood'.padEnd(48)}  closed  slowest    others p50        p99     memory   failed\n`);
const nothing = async (untilMs: number): Promise<{ count: number; slowestMs: number }> => {
  await wait(untilMs - performance.now());
  return { count: 0, slowestMs: 0 };
};
await nothing(performance.now() + 1_000);
await asked<Latency>(bystander, 'warm');
let good = await measure('none', nothing);
for (const probe of floods) {
  const both = (untilMs: number): Promise<{ count: number; slowestMs: number }> =>
    Promise.all(Array.from({ length: attackerCount }, () => attack(probe, untilMs))).then((all) => ({
      count: all.reduce((sum, one) => sum + one.count, 0),
      slowestMs: Math.max(...all.map((one) => one.slowestMs)),
    }));
  good = (await measure(probe.name, both)) && good;
}
good = (await measure('readers that open no window', stall)) && good;
const { refused } = await asked<Memory>(server, 'read');
process.stdout.write(`${refused.map(([reason, count]) => `${reason} ${count}`).join(', ')}\n`);
server.kill();
bystander.kill();
process.exitCode = good ? 0 : 1;
