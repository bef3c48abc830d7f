import { barPlot } from '../../src/simulator/report/bar-plot.ts';
import { linePlot } from '../../src/simulator/report/line-plot.ts';
import type { SimulationResult } from '../../src/simulator/result.ts';
import { exactly, within, type Reproduction } from './reproduction.ts';
import { rateLine, runText } from './run-text.ts';

/** A client that gives up after 120 ms on a service that takes 500 ms, through one that has 3.6 s and retries as well. */
export const overlapping: Reproduction = {
  id: 'overlapping',
  run() {
    const leaf = (settings: string, errorPercent: number): number =>
      runText(`
retryOfRetry: true
${settings}
defaults: { retry: { attempts: 2, codes: [500, 502, 504], on: [timeout], backoff: 1ms }, retryBudget: { kind: none } }
services:
  middle: { operations: { get: { serviceTime: 0s, calls: [{ to: leaf, timeouts: { request: 0s, backendRequest: 3600ms } }] } } }
  leaf: { operations: { get: { serviceTime: 500ms, errorPercent: ${errorPercent} } } }
workload:
  duration: 60s
  roots: [{ operation: middle, rate: 0.01, arrivals: constant, timeouts: { request: 0s, backendRequest: 120ms }, retry: { attempts: 2, codes: [500, 502, 504], on: [timeout], backoff: 1ms } }]
`).nodes[1]!.arrivedCount;
    const untold = 'ownership: { mode: off }\ndeadlines: { propagate: false }';
    const told = 'ownership: { mode: enforce }\ndeadlines: { propagate: true }';
    const cases = [
      { name: 'it answers', alone: leaf(untold, 0), told: leaf(told, 0), expected: 3 },
      { name: 'it fails', alone: leaf(untold, 100), told: leaf(told, 100), expected: 9 },
    ];
    return {
      rows: cases.flatMap(({ name, alone, told: one, expected }) => [
        exactly(`the leaf, ${name}: copies without deadlines`, expected, alone),
        exactly(`the leaf, ${name}: with deadlines and ownership`, 1, one),
      ]),
      plot: barPlot({
        id: 'overlapping',
        title: 'Copies of one request at a slow leaf',
        unit: 'copies',
        series: ['nobody knows the deadline', 'deadlines and ownership'],
        groups: cases.map(({ name, alone, told: one }) => ({ name, values: [alone, one] })),
      }),
    };
  },
};

/** Answers that take nearly as long as their readers wait, and a blip of ten seconds. */
export const nearTimeout: Reproduction = {
  id: 'near-timeout',
  run() {
    const storage = (budget: string): SimulationResult =>
      runText(`
ownership: { mode: off }
deadlines: { propagate: false, dropExpired: false }
services:
  storage:
    operations:
      ask: { serviceTime: 0s, calls: [{ to: metadata, timeouts: { request: 0s, backendRequest: 800ms }, retry: { attempts: 3, on: [timeout], backoff: 100ms }, retryBudget: ${budget} }] }
  metadata: { capacity: { workers: 70 }, operations: { get: { serviceTime: 600ms } } }
workload: { duration: 240s, roots: [{ operation: storage, rate: 90, timeouts: { request: 0s, backendRequest: 0s } }] }
faults: [{ at: 10s, for: 10s, service: metadata, capacityPercent: 0 }]
`);
    const alone = storage('{ kind: none }');
    const bounded = storage('{ percent: 10, interval: 10s, minRetryRate: { count: 0, interval: 1s } }');
    return {
      rows: [
        exactly('without a budget: recovered 220 s after the blip', 'no', recovered(alone)),
        exactly('10 % budget: recovered', 'yes', recovered(bounded)),
      ],
      plot: linePlot({
        id: 'near-timeout',
        title: 'Answers of 600 ms, patience of 800 ms, a blip of 10 s',
        unit: 'good answers a second',
        intervalMs: alone.intervalMs,
        lines: [rateLine('three retries', 0, alone), rateLine('within 10 %', 2, bounded)],
        bands: alone.faults,
      }),
    };
  },
};

/** 5000 tasks that start again at once and need one answer each from a store for 500 a second. */
export const herd: Reproduction = {
  id: 'herd',
  run() {
    const restart = (backoff: string): SimulationResult =>
      runText(`
ownership: { mode: off }
services:
  store: { capacity: { workers: 5, queueLimit: 50 }, operations: { load: { serviceTime: 10ms } } }
workload:
  duration: 80s
  roots: [{ operation: store, rate: 50000, arrivals: constant, until: 100ms, timeouts: { request: 0s, backendRequest: 0s }, retryBudget: { kind: none }, retry: { attempts: 100, codes: [503], ${backoff} } }]
`);
    const inStep = restart('backoff: 1s, curve: fixed, jitter: none');
    const spread = restart('backoff: 1s, maxBackoff: 8s, curve: exponential, jitter: full');
    const drainedS = ({ series, intervalMs }: SimulationResult): number =>
      ((series.answered.findLastIndex((count) => count > 0) + 1) * intervalMs) / 1000;
    const worstAfter = ({ nodes, intervalMs }: SimulationResult): number =>
      Math.max(...nodes[0]!.series.arrived.slice(3000 / intervalMs)) * (1000 / intervalMs);
    return {
      rows: [
        within('in step: arrivals for one answer', 20, 30, inStep.totals.hopCount / 5000),
        within('in step: the worst quarter of a second after 3 s, a second', 15_000, 20_000, worstAfter(inStep)),
        within('exponential with full jitter: arrivals for one answer', 2, 6, spread.totals.hopCount / 5000),
        within('exponential with full jitter: the same quarter', 0, 4000, worstAfter(spread)),
        within('in step: seconds until all have their answer', 48, 75, drainedS(inStep)),
        within('exponential with full jitter: seconds', 11, 18, drainedS(spread)),
      ],
      plot: linePlot({
        id: 'herd',
        title: '5000 tasks start at once; the store takes 500 a second',
        unit: 'arrivals a second',
        intervalMs: inStep.intervalMs,
        lines: [rateLine('1 s, in step', 0, inStep, 0), rateLine('exponential, jitter', 2, spread, 0)],
        bands: [],
        reference: { value: 500, name: 'capacity' },
      }),
    };
  },
};

/** One client in ten is of an old version that asks again at once, a hundred times. */
export const oldClients: Reproduction = {
  id: 'old-clients',
  run() {
    const service = (budget: string): { readonly old: number; readonly others: number } => {
      const { calls } = runText(`
services:
  api: { operations: { get: { serviceTime: 1ms } } }
workload:
  duration: 30s
  roots:
    - { operation: api, rate: 90, timeouts: { request: 5s }, retryBudget: ${budget}, retry: { attempts: 5, codes: [503], backoff: 1s } }
    - { operation: api, rate: 10, timeouts: { request: 5s }, retryBudget: ${budget}, retry: { attempts: 100, codes: [503], backoff: 20ms, curve: fixed, jitter: none } }
faults: [{ service: api, errorPercent: 100, status: 503 }]
`);
      return { others: calls[0]!.attemptCount / 30, old: calls[1]!.attemptCount / 30 };
    };
    const alone = service('{ kind: none }');
    const bounded = service('{ percent: 10, minRetryRate: { count: 0, interval: 1s } }');
    const shareOf = ({ old, others }: typeof alone): number => old / (old + others);
    return {
      rows: [
        within('their share of the load', 0.6, 0.9, shareOf(alone)),
        within('their share with budgets of 10 %', 0.08, 0.13, shareOf(bounded)),
      ],
      plot: barPlot({
        id: 'old-clients',
        title: 'One client in ten retries without waiting',
        unit: 'requests a second to a service that is down',
        series: ['no budget', '10 %'],
        groups: [
          { name: 'nine in ten, with backoff', values: [alone.others, bounded.others] },
          { name: 'one in ten, without', values: [alone.old, bounded.old] },
        ],
      }),
    };
  },
};

/** A vendor becomes four times as slow for a while; payments call it. */
export const slowVendor: Reproduction = {
  id: 'slow-vendor',
  run() {
    const payments = (settings: string, call: string): SimulationResult =>
      runText(`
${settings}
services:
  checkout: { operations: { pay: { serviceTime: 20ms, calls: [{ to: vendor, ${call} }] } } }
  vendor: { capacity: { workers: 40 }, operations: { charge: { serviceTime: { p50: 80ms, p99: 300ms } } } }
workload: { duration: 120s, roots: [{ operation: checkout, rate: 90, timeouts: { request: 0s, backendRequest: 0s } }] }
faults: [{ at: 20s, for: 80s, service: vendor, latency: { factor: 4 } }]
`);
    const alone = payments(
      'ownership: { mode: off }\ndeadlines: { propagate: false, dropExpired: false }',
      'timeouts: { request: 0s, backendRequest: 500ms }, retryBudget: { kind: none }, retry: { attempts: 3, on: [timeout], backoff: 1ms, jitter: none }',
    );
    const bounded = payments(
      'deadlines: { propagate: true }',
      'timeouts: { request: 600ms, backendRequest: 450ms }, retryBudget: { percent: 10, minRetryRate: { count: 0, interval: 1s } }, retry: { attempts: 3, on: [timeout] }',
    );
    const answered = ({ totals }: SimulationResult): number => totals.successRatio;
    return {
      rows: [
        exactly('three retries on a timeout: recovered', 'no', recovered(alone)),
        within('three retries on a timeout: share answered', 0, 0.3, answered(alone)),
        exactly('a deadline of 600 ms and 10 %: recovered', 'yes', recovered(bounded)),
        within('a deadline of 600 ms and 10 %: share answered', 0.6, 1, answered(bounded)),
        within(
          'a deadline of 600 ms and 10 %: p95 of the answered in ms',
          0,
          620,
          bounded.totals.latency?.p95Ms ?? Infinity,
        ),
      ],
      plot: linePlot({
        id: 'slow-vendor',
        title: 'A vendor is four times as slow for 80 s',
        unit: 'payments a second',
        intervalMs: alone.intervalMs,
        lines: [rateLine('three retries', 0, alone), rateLine('deadline, 10 %', 2, bounded)],
        bands: alone.faults,
      }),
    };
  },
};

/** Requests that take a worker for a minute, and callers that wait twelve seconds for the head of the answer. */
export const costly: Reproduction = {
  id: 'costly',
  run() {
    const copies = (retry: string): number =>
      runText(`
ownership: { mode: off }
deadlines: { propagate: false }
services:
  model: { instances: 3, capacity: { workers: 10 }, operations: { complete: { serviceTime: 60s } } }
workload: { duration: 120s, roots: [{ operation: model, rate: 10, arrivals: constant, until: 1s, timeouts: { request: 0s, backendRequest: 12s }, retryBudget: { kind: none }, retry: ${retry} }] }
`).nodes[0]!.load;
    const all = copies('{ attempts: 2, on: [timeout] }');
    const standard = copies('{}');
    return {
      rows: [
        exactly('two retries on a timeout: copies of a request', 3, all),
        exactly('what is retried when a file says nothing: copies', 1, standard),
      ],
      plot: barPlot({
        id: 'costly',
        title: 'Copies of a request that takes a worker for a minute',
        unit: 'copies',
        series: ['copies'],
        groups: [
          { name: 'timeouts are retried', values: [all] },
          { name: 'the default', values: [standard] },
        ],
      }),
    };
  },
};

function recovered({ recovery }: SimulationResult): 'yes' | 'no' {
  return recovery?.afterMs === undefined ? 'no' : 'yes';
}
