import assert from 'node:assert/strict';
import { formatFault } from '../../src/config/fault.ts';
import type { Participation } from '../../src/core/ownership/call-graph.ts';
import { readTopology } from '../../src/simulator/read-topology.ts';
import type { SimulationResult } from '../../src/simulator/result.ts';
import type { SimulationOptions } from '../../src/simulator/simulation.ts';
import { simulate } from '../../src/simulator/simulation.ts';
import type { Topology } from '../../src/simulator/topology.ts';

/** The topology of a text that must be fine. */
export function topologyOf(text: string): Topology {
  const reading = readTopology(text, 'topology.yaml');
  assert.ok(reading.ok, reading.ok ? '' : reading.faults.map(formatFault).join('\n'));
  return reading.topology;
}

export function simulateText(text: string, options: SimulationOptions = {}): SimulationResult {
  return simulate(topologyOf(text), options);
}

/** What is wrong with a text, a line each. */
export function faultsOf(text: string): string[] {
  const reading = readTopology(text, 't.yaml');
  return (reading.ok ? reading.warnings : reading.faults).map(formatFault);
}

export interface Chain {
  /** Services A, B, C, … each calling the next. */
  readonly length: number;
  /** The index of the one whose requests all fail. */
  readonly failing?: number | undefined;
  readonly participation?: readonly Participation[];
  /** Index of the caller; left out: all. */
  readonly retrying?: readonly number[];
  /** Left out: no budget. */
  readonly budgetPercent?: number;
  readonly settings?: string;
  readonly workload?: string;
  readonly faults?: string;
}

/** One request: what happens to it is exact. */
export const ONE_REQUEST = 'workload: { duration: 60s, roots: [{ operation: A, rate: 0.01, arrivals: constant }] }';

/** Services in a row, with one retry where there is one. */
export function chain({ length, failing, participation = [], retrying, ...rest }: Chain): string {
  const names = Array.from({ length }, (_, index) => String.fromCodePoint(65 + index));
  const budget =
    rest.budgetPercent === undefined
      ? '{ kind: none }'
      : `{ percent: ${rest.budgetPercent}, minRetryRate: { count: 0, interval: 1s } }`;
  const services = names.map((name, index) => {
    const next = names[index + 1];
    const retry = retrying === undefined || retrying.includes(index) ? '' : ', retry: { attempts: 0 }';
    const calls = next === undefined ? '' : `, calls: [{ to: ${next}${retry} }]`;
    const errors = index === failing ? ', errorPercent: 100' : '';
    const part = participation[index] ?? 'cooperating';
    return `  ${name}: { participation: ${part}, operations: { get: { serviceTime: { mean: 2ms }${errors}${calls} } } }`;
  });
  return [
    rest.settings ?? 'retryOfRetry: true',
    'defaults:',
    '  timeouts: { request: 30s }',
    '  retry: { attempts: 1, codes: [500, 502, 503, 504], on: [unsent, timeout], backoff: 1ms }',
    `  retryBudget: ${budget}`,
    'services:',
    ...services,
    rest.workload ?? 'workload: { duration: 20s, roots: [{ operation: A, rate: 200 }] }',
    rest.faults ?? '',
  ].join('\n');
}

export function loadsOf({ nodes }: SimulationResult): number[] {
  return nodes.map(({ load }) => load);
}

/** Each load within three standard errors: arrivals at a node are as scattered as a Poisson process at most. */
export function assertLoads(result: SimulationResult, expected: readonly number[]): void {
  assert.equal(result.nodes.length, expected.length);
  for (const [index, { operation, load, baselineCount }] of result.nodes.entries()) {
    const standardError = Math.sqrt(expected[index]! / baselineCount);
    assert.ok(
      Math.abs(load - expected[index]!) <= 3 * standardError,
      `${operation}: load ${load}, expected ${expected[index]} ± ${3 * standardError}`,
    );
  }
}
