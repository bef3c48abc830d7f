/**
 * How many request hops a second the simulator takes, and how much memory. The bars: 500 000 hops a second of one core, in
 * calm and in storm, and ten million hops below 1 GiB. `node bench/simulator.ts --check` exits with 1 below them.
 * Slices of a run are timed: CPU time, with what V8 does beside (compiling and collecting garbage), and wall time. A busy
 * machine takes our caches away, which halves the median on a bad day: the bar is for the slices that were left alone, the
 * 95th percentile, of the slower of the two times.
 */
import { parseArgs } from 'node:util';
import { readTopology } from '../src/simulator/read-topology.ts';
import type { SimulationMode } from '../src/simulator/mode.ts';
import { createSimulation } from '../src/simulator/simulation.ts';

const BAR_HOPS_A_SECOND = 500_000;
const BAR_BYTES = 1024 ** 3;
const HOPS = 10_000_000;
const EVENTS_A_SLICE = 50_000;

interface Scene {
  readonly name: string;
  readonly mode: SimulationMode;
  readonly errorPercent: number;
}

const scenes: readonly Scene[] = [
  { name: 'seven services, all well', mode: 'ownership', errorPercent: 0 },
  { name: 'the fourth fails, retries everywhere', mode: 'retries', errorPercent: 100 },
  { name: 'the fourth fails, budgets and ownership', mode: 'ownership', errorPercent: 100 },
];

function chain(errorPercent: number): string {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const services = names.map((name, index) => {
    const next = names[index + 1];
    const calls = next === undefined ? '' : `, calls: [${next}]`;
    const errors = name === 'd' ? `, errorPercent: ${String(errorPercent)}` : '';
    return `  ${name}: { operations: { get: { serviceTime: { mean: 5ms }${errors}${calls} } } }`;
  });
  return [
    'defaults:',
    '  timeouts: { request: 10s, backendRequest: 2s }',
    '  retry: { attempts: 1, codes: [500, 502, 503, 504], on: [unsent, timeout], backoff: 10ms }',
    '  retryBudget: { percent: 10, minRetryRate: { count: 0, interval: 1s } }',
    'services:',
    ...services,
    'workload: { duration: 24h, roots: [{ operation: a, rate: 1000 }] }',
  ].join('\n');
}

function run({ name, mode, errorPercent }: Scene, wantedHops: number): number {
  const reading = readTopology(chain(errorPercent), name);
  if (!reading.ok) throw new Error(JSON.stringify(reading.faults));
  const simulation = createSimulation(reading.topology, { mode });
  // The first hops pay for the compiler.
  while (simulation.hopCount < wantedHops / 20) simulation.advance(20_000);
  const rates: number[] = [];
  const wallRates: number[] = [];
  while (simulation.hopCount < wantedHops) {
    const firstHops = simulation.hopCount;
    const before = process.cpuUsage();
    const startedAtMs = performance.now();
    simulation.advance(EVENTS_A_SLICE);
    const spent = process.cpuUsage(before);
    const hops = simulation.hopCount - firstHops;
    rates.push(hops / ((spent.user + spent.system) / 1e6));
    wallRates.push((hops * 1000) / (performance.now() - startedAtMs));
  }
  const best = [rates, wallRates].map((some) => shareOf(some, 0.95));
  const cells = [simulation.hopCount, shareOf(rates, 0.5), best[0]!, shareOf(wallRates, 0.5), best[1]!].map((value) =>
    Math.round(value).toString(),
  );
  console.log(`${name.padEnd(44)}${cells.map((cell) => cell.padStart(12)).join('')}`);
  return Math.min(...best);
}

function shareOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
}

const { values } = parseArgs({
  options: { check: { type: 'boolean', default: false }, small: { type: 'boolean', default: false } },
});
const head = ['hops', 'median', 'best', 'wall median', 'wall best'].map((word) => word.padStart(12)).join('');
console.log(
  `node ${process.version}, hops a second of CPU, and of wall time, by slices of ${EVENTS_A_SLICE} events\n\n${'what'.padEnd(44)}${head}`,
);
const wantedHops = values.small ? HOPS / 10 : HOPS;
const slowest = Math.min(...scenes.map((scene) => run(scene, scene.mode === 'retries' ? wantedHops : wantedHops / 5)));
const peakBytes = process.resourceUsage().maxRSS * 1024;
const held = slowest >= BAR_HOPS_A_SECOND && peakBytes < BAR_BYTES;
console.log(
  `\nslowest ${Math.round(slowest)} hops a second (bar ${BAR_HOPS_A_SECOND}), peak ${Math.round(peakBytes / 1024 ** 2)} MiB (bar ${BAR_BYTES / 1024 ** 2}): ${held ? 'held' : 'broken'}`,
);
if (values.check && !held) process.exitCode = 1;
