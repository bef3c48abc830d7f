/**
 * What a request costs its client: CPU of the client's process, beside other clients in the same run. Each way has a
 * process of its own, so that no way's garbage and compiled code burden another; they take turns, a slice each, and a
 * ratio is taken between two slices of one round only, so that a noisy machine is noisy for both.
 * `node bench/client.ts [--rounds N] [--requests N] [--only NAME,NAME] [--check]`; `--check` exits with 1 when a way
 * costs more than it may.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { wayNames, ways } from './client/ways.ts';
import type { WayName } from './client/ways.ts';
import type { Slice } from './client/worker.ts';
import { median, quantile } from './harness/quantile.ts';
import { shuffle } from './harness/shuffle.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '40' },
    requests: { type: 'string', default: '1000' },
    only: { type: 'string', default: wayNames.join(',') },
    check: { type: 'boolean', default: false },
  },
});
const chosen = values.only.split(',').map((name) => {
  if (name in ways) return name as WayName;
  console.error(`--only: ${JSON.stringify(name)} is none of ${wayNames.join(', ')}`);
  process.exit(2);
});
const roundCount = countOf('rounds', values.rounds);
const requestCount = countOf('requests', values.requests);

const start = (file: string, args: string[]): ChildProcess =>
  fork(fileURLToPath(new URL(`client/${file}`, import.meta.url)), args);
const origin = start('origin.ts', []);
const [port] = (await once(origin, 'message')) as [number];
const workers = new Map<WayName, ChildProcess>();
for (const name of chosen) {
  const worker = start('worker.ts', [name, `http://127.0.0.1:${port}`]);
  await once(worker, 'message');
  // The answer would be waited for for ever; what went wrong is on the terminal.
  worker.once('exit', () => process.exit(1));
  workers.set(name, worker);
}

const measure = async (name: WayName): Promise<Slice> => {
  const worker = workers.get(name)!;
  worker.send(requestCount);
  const [slice] = (await once(worker, 'message')) as [Slice];
  return slice;
};
// Compiled code and connections: what a program that runs for long has.
for (const name of chosen) for (let i = 0; i < 4; i += 1) await measure(name);
const slices = new Map<WayName, Slice[]>(chosen.map((name) => [name, []]));
for (let round = 0; round < roundCount; round += 1) {
  for (const name of shuffle(chosen, round)) slices.get(name)!.push(await measure(name));
}
for (const child of [...workers.values(), origin]) child.removeAllListeners('exit').disconnect();

console.log('| way | CPU µs a request | requests a second | × what it is measured against |\n|---|---|---|---|');
for (const name of chosen) {
  const { title, against } = ways[name];
  const own = slices.get(name)!;
  const cpu = median(own.map(({ cpuMicros }) => cpuMicros)).toFixed(1);
  const speed = median(own.map(({ perSecond }) => perSecond)).toFixed(0);
  console.log(`| ${title} | ${cpu} | ${speed} | ${against === undefined ? '' : compare(own, against)} |`);
}

function compare(own: readonly Slice[], { name, atMost }: NonNullable<(typeof ways)[WayName]['against']>): string {
  const other = slices.get(name);
  if (other === undefined) return '';
  const ratios = own.map(({ cpuMicros }, round) => cpuMicros / other[round]!.cpuMicros);
  const middle = median(ratios);
  if (values.check && middle > atMost) process.exitCode = 1;
  const bar = atMost === Infinity ? '' : `, at most ${atMost}`;
  const spread = `${quantile(ratios, 0.25).toFixed(2)}–${quantile(ratios, 0.75).toFixed(2)}`;
  return `${middle.toFixed(2)} (${spread}) × ${ways[name].title}${bar}`;
}

function countOf(option: string, text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  console.error(`--${option}: ${JSON.stringify(text)} is not a count`);
  process.exit(2);
}
