import type { Participation } from '../../src/core/ownership/call-graph.ts';
import { barPlot } from '../../src/simulator/report/bar-plot.ts';
import { linePlot } from '../../src/simulator/report/line-plot.ts';
import type { SimulationResult } from '../../src/simulator/result.ts';
import { exactly, near, within, type Reproduction } from './reproduction.ts';
import { rateBetween, rateLine, runText } from './run-text.ts';

/** Requests a second that the last service can serve. */
const CAPACITY = 300;

/** N. Bronson and others, "Metastable Failures in Distributed Systems" (HotOS 2021), section 2.1. */
export const database: Reproduction = {
  id: 'database',
  run() {
    const at = (rate: number, durationS: number): SimulationResult =>
      runText(
        `
deadlines: { propagate: false, dropExpired: false }
services:
  web:
    operations:
      get: { serviceTime: 0s, calls: [{ to: db, timeouts: { request: 0s, backendRequest: 1s }, retry: { attempts: 1, on: [timeout], backoff: 1ms } }] }
  db: { capacity: { workers: 3 }, operations: { get: { serviceTime: { mean: 10ms } } } }
workload: { duration: ${durationS}s, roots: [{ operation: web, rate: ${rate} }] }
faults: [{ at: 10s, for: 10s, service: db, capacityPercent: 0 }]
`,
        'retries',
      );
    const [high, low] = [at(280, 200), at(140, 200)];
    return {
      rows: [
        exactly('280 a second: recovered 180 s after the outage', 'no', recovered(high)),
        near(
          '280 a second: arrivals a second at the database, the last 50 s',
          560,
          rateBetween(high, 1, 150_000, 200_000),
          10,
        ),
        exactly('140 a second: recovered', 'yes', recovered(low)),
        // 10 s of 280 wait; 20 a second of them are worked off, until no more than a second's work waits: (2800 − 300) ÷ 20.
        within('140 a second: seconds until it has', 100, 140, (low.recovery?.afterMs ?? Infinity) / 1000),
      ],
      plot: linePlot({
        id: 'database',
        title: 'A database for 300 a second, stopped for 10 s',
        unit: 'good answers a second; one retry after 1 s',
        intervalMs: high.intervalMs,
        lines: [rateLine('280 a second', 0, high), rateLine('140 a second', 2, low)],
        bands: high.faults,
      }),
    };
  },
};

interface Storm {
  readonly hops: number;
  readonly rate: number;
  readonly arrivals?: 'poisson' | 'constant';
  readonly ownership?: boolean;
  readonly budgetPercent?: number;
  /** What it is counted over. Default 1. */
  readonly budgetIntervalS?: number;
  /** The work of a request, with as many workers as that capacity needs. Default 100. */
  readonly workMs?: number;
  readonly dropExpired?: boolean;
  readonly participation?: Readonly<Record<number, Participation>>;
  readonly durationS: number;
  readonly outageS: number;
}

/** A row of services above one for 300 requests a second, which stops for a while. Timeouts are nested: 1 s, 3 s, 9 s. */
function stormFile({ hops, rate, arrivals = 'poisson', participation = {}, ...rest }: Storm): string {
  const { ownership = false, budgetPercent, budgetIntervalS = 1, workMs = 100, dropExpired = false } = rest;
  const { durationS, outageS } = rest;
  const services = Array.from({ length: hops }, (_, index) => {
    const timeout = 3 ** (hops - 1 - index);
    return `  S${index}: { participation: ${participation[index] ?? 'cooperating'}, operations: { get: { serviceTime: 0s, calls: [{ to: S${index + 1}, timeouts: { request: 0s, backendRequest: ${timeout}s } }] } } }`;
  });
  const budget =
    budgetPercent === undefined
      ? '{ kind: none }'
      : `{ percent: ${budgetPercent}, interval: ${budgetIntervalS}s, minRetryRate: { count: 0, interval: 1s } }`;
  return [
    'retryOfRetry: true',
    `ownership: { mode: ${ownership ? 'enforce' : 'off'} }`,
    `deadlines: { propagate: ${dropExpired}, dropExpired: ${dropExpired}, margin: 0s }`,
    `defaults: { retry: { attempts: 1, codes: [500, 502, 503, 504], on: [unsent, timeout], backoff: 10ms }, retryBudget: ${budget} }`,
    'services:',
    ...services,
    `  S${hops}: { capacity: { workers: ${(CAPACITY * workMs) / 1000} }, operations: { get: { serviceTime: ${workMs}ms } } }`,
    `workload: { duration: ${durationS}s, roots: [{ operation: S0, rate: ${rate}, arrivals: ${arrivals}, timeouts: { request: 0s, backendRequest: 0s } }] }`,
    `faults: [{ at: 2s, for: ${outageS}s, service: S${hops}, capacityPercent: 0 }]`,
  ].join('\n');
}

type Protections = Pick<Storm, 'hops' | 'ownership' | 'budgetPercent' | 'participation'>;

const THRESHOLD_CASES: readonly { readonly name: string; readonly load: number; readonly storm: Protections }[] = [
  { name: 'one layer', load: 2, storm: { hops: 1 } },
  { name: 'three layers', load: 8, storm: { hops: 3 } },
  { name: 'three, 10 % budgets', load: 1.1 ** 3, storm: { hops: 3, budgetPercent: 10 } },
  { name: 'three, ownership and 10 %', load: 1.1, storm: { hops: 3, budgetPercent: 10, ownership: true } },
  {
    name: 'the same, one without context',
    load: 1.1 ** 2,
    storm: { hops: 3, budgetPercent: 10, ownership: true, participation: { 2: 'context-broken' } },
  },
];

/** Up to which share of its capacity a service recovers by itself: 1 ÷ what all failing requests multiply to. */
export const thresholds: Reproduction = {
  id: 'thresholds',
  run() {
    const found = THRESHOLD_CASES.map(({ name, load, storm }) => ({
      name,
      expected: 1 / load,
      measured: thresholdOf(storm),
    }));
    return {
      rows: found.map(({ name, expected, measured }) => near(name, expected, measured, 0.03 * expected)),
      plot: barPlot({
        id: 'thresholds',
        title: 'Utilisation up to which an outage ends by itself',
        unit: 'requests ÷ capacity',
        series: ['measured', '1 ÷ amplification'],
        groups: found.map(({ name, expected, measured }) => ({ name, values: [measured, expected] })),
      }),
    };
  },
};

/** By halving: does what waits at the service grow or shrink once everything fails? */
function thresholdOf(storm: Protections): number {
  let [calm, stormy] = [0.02, 1];
  while (stormy - calm > 0.01 * stormy) {
    const rate = (calm + stormy) / 2;
    if (isDrained(storm, rate)) calm = rate;
    else stormy = rate;
  }
  return (calm + stormy) / 2;
}

/** Evenly spaced, so that a small drift is seen at once and not only when chance has averaged out. */
function isDrained(storm: Protections, utilisation: number): boolean {
  const rate = Number((utilisation * CAPACITY).toFixed(3));
  const { services, intervalMs } = runText(
    stormFile({ ...storm, rate, arrivals: 'constant', outageS: 8, durationS: 36 }),
  );
  const queue = services.at(-1)!.series.queue;
  const mean = (fromMs: number, untilMs: number): number => {
    const some = queue.slice(fromMs / intervalMs, untilMs / intervalMs);
    return some.reduce((sum, length) => sum + length, 0) / some.length;
  };
  return mean(29_000, 36_000) < mean(20_000, 27_000) || mean(29_000, 36_000) < 1;
}

const PROTECTIONS = [
  { name: 'none', seeds: [1], with: {} },
  { name: 'ownership, budget', seeds: [1, 2, 3], with: { ownership: true, budgetPercent: 10 } },
  { name: 'ownership, drop', seeds: [1], with: { ownership: true, dropExpired: true } },
  { name: 'budget, drop', seeds: [1, 2, 3], with: { budgetPercent: 10, dropExpired: true } },
  { name: 'all three', seeds: [1, 2, 3], with: { ownership: true, budgetPercent: 10, dropExpired: true } },
] as const;

/** 280 of 300 requests a second, three layers, ten seconds of outage: which protections end the storm? */
export const threeProtections: Reproduction = {
  id: 'three-protections',
  run() {
    const found = PROTECTIONS.map((one) => {
      const text = stormFile({ hops: 3, rate: 280, outageS: 10, durationS: 45, ...one.with });
      return { name: one.name, results: one.seeds.map((seed) => runText(text, 'file', seed)) };
    });
    const dropping = { hops: 3, rate: 280, outageS: 10, durationS: 45, budgetPercent: 10, dropExpired: true } as const;
    const uneven = runText(stormFile({ ...dropping, budgetIntervalS: 10 }));
    const short = runText(stormFile({ ...dropping, workMs: 10 }));
    const [first] = found[0]!.results;
    const all = found.at(-1)!.results.map(({ recovery }) => (recovery?.afterMs ?? Infinity) / 1000);
    return {
      rows: [
        ...found
          .slice(0, -1)
          .map(({ name, results }) => exactly(`${name}: recovered, of ${results.length}`, 0, recoveredCount(results))),
        exactly(`all three: recovered, of ${all.length}`, all.length, recoveredCount(found.at(-1)!.results)),
        exactly('budget over 10 s, drop: recovered', 'yes', recovered(uneven)),
        within('budget, drop: share answered in the last 5 s', 0, 0.3, lastShareOf(found[3]!.results[0]!)),
        within('the same with work of 10 ms', 0.5, 1, lastShareOf(short)),
        within('all three: seconds until it has, the median', 3, 20, all.toSorted((a, b) => a - b)[1]!),
      ],
      plot: linePlot({
        id: 'three-protections',
        title: '280 of 300 a second, stopped for 10 s',
        unit: 'good answers a second',
        intervalMs: first!.intervalMs,
        lines: found.map(({ name, results }, style) => rateLine(name, style, results[0]!)),
        bands: first!.faults,
      }),
    };
  },
};

function lastShareOf({ recovery }: SimulationResult): number {
  return recovery?.lastSuccessRatio ?? Number.NaN;
}

function recoveredCount(results: readonly SimulationResult[]): number {
  return results.filter((result) => recovered(result) === 'yes').length;
}

function recovered({ recovery }: SimulationResult): 'yes' | 'no' {
  return recovery?.afterMs === undefined ? 'no' : 'yes';
}
