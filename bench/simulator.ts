/**
 * How many request hops a second the simulator takes, and how much memory. The bars: 500 000 hops a second of one core, in
 * calm and in storm, and ten million hops below 1 GiB. `node bench/simulator.ts --check` exits with 1 below them.
 * CPU time, not wall time; what V8 does beside, compiling and collecting garbage, counts. A busy machine takes our caches away,
 * which halves the median on a bad day: the bar is for the slices that were left alone, the 95th percentile.
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
  while (simulation.hopCount < wantedHops) {
    const firstHops = simulation.hopCount;
    const before = process.cpuUsage();
    simulation.advance(EVENTS_A_SLICE);
    const spent = process.cpuUsage(before);
    rates.push((simulation.hopCount - firstHops) / ((spent.user + spent.system) / 1e6));
  }
  const sorted = rates.toSorted((a, b) => a - b);
  const [median, best] = [0.5, 0.95].map((share) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  const cells = [String(simulation.hopCount), Math.round(median!).toString(), Math.round(best!).toString()];
  console.log(`${name.padEnd(44)}${cells.map((cell) => cell.padStart(12)).join('')}`);
  return best!;
}

const { values } = parseArgs({
  options: { check: { type: 'boolean', default: false }, small: { type: 'boolean', default: false } },
});
const head = ['hops', 'median', 'best'].map((word) => word.padStart(12)).join('');
console.log(
  `node ${process.version}, hops a second of CPU by slices of ${EVENTS_A_SLICE} events\n\n${'what'.padEnd(44)}${head}`,
);
const wantedHops = values.small ? HOPS / 10 : HOPS;
const slowest = Math.min(...scenes.map((scene) => run(scene, scene.mode === 'retries' ? wantedHops : wantedHops / 5)));
const peakBytes = process.resourceUsage().maxRSS * 1024;
const held = slowest >= BAR_HOPS_A_SECOND && peakBytes < BAR_BYTES;
console.log(
  `\nslowest ${Math.round(slowest)} hops a second (bar ${BAR_HOPS_A_SECOND}), peak ${Math.round(peakBytes / 1024 ** 2)} MiB (bar ${BAR_BYTES / 1024 ** 2}): ${held ? 'held' : 'broken'}`,
);
if (values.check && !held) process.exitCode = 1;
