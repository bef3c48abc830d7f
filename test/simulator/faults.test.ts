import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SimulationResult } from '../../src/simulator/result.ts';
import { simulateText } from './support.ts';

const withFault = (fault: string, service = '', retry = 'attempts: 0'): SimulationResult =>
  simulateText(`
defaults: { retryBudget: { kind: none } }
services:
  web: { operations: { get: { serviceTime: 0s, calls: [{ to: s, retry: { ${retry} }, timeouts: { request: 1s } }] } } }
  s: { ${service} operations: { get: { serviceTime: 10ms } } }
workload: { duration: 30s, roots: [{ operation: web, rate: 100, arrivals: constant }] }
faults: [{ at: 10s, for: 10s, ${fault} }]
`);

/** Failed requests in the first, the second and the third ten seconds. */
function failedByThird({ roots, intervalMs }: SimulationResult): number[] {
  const [{ series } = { series: { failed: [] as readonly number[] } }] = roots;
  const width = 10_000 / intervalMs;
  return [0, 1, 2].map((third) =>
    series.failed.slice(third * width, (third + 1) * width).reduce((sum, count) => sum + count, 0),
  );
}

test('errors begin and end when the file says', () => {
  const [before, during, after] = failedByThird(withFault('service: s, errorPercent: 100, status: 503'));
  assert.equal(before, 0);
  assert.ok(during! >= 998 && during! <= 1000, String(during));
  assert.ok(after! <= 2, String(after));
});

test('a share of errors is that share', () => {
  const [, during] = failedByThird(withFault('operation: s, errorPercent: 30'));
  assert.ok(Math.abs(during! - 300) < 3 * Math.sqrt(1000 * 0.3 * 0.7), String(during));
});

test('a refused connection fails at once, and never reaches the service', () => {
  const { nodes, totals } = withFault('service: s, outage: refused');
  assert.equal(totals.failedCount, 1000);
  assert.equal(nodes[1]!.arrivedCount, 2000);
});

test('a service that hangs ends calls by their timeouts alone', () => {
  const { nodes, totals } = withFault('service: s, outage: hangs');
  assert.equal(totals.failedCount, 1000);
  assert.equal(nodes[1]!.swallowedCount, 1000);
});

test('a service with fewer workers does less', () => {
  const { nodes } = withFault('service: s, capacityPercent: 25', 'capacity: { workers: 2, queueLimit: 1 },');
  // One worker of a hundred requests a second is just enough; half of one is rounded to one.
  assert.equal(nodes[1]!.shedCount, 0);
  const none = withFault('service: s, capacityPercent: 0', 'capacity: { workers: 2, queueLimit: 1 },');
  assert.equal(none.nodes[1]!.shedCount, 999);
});

test('a service that is slow with load takes longer for each other request that it works on', () => {
  // 100 a second of 10 ms each are one at a time; with 900 % more for each other they pile up without a limit.
  const alone = withFault('service: s, latency: { loadPercent: 900 }');
  assert.ok(alone.nodes[1]!.latency!.p99Ms < 11, String(alone.nodes[1]!.latency!.p99Ms));
  const crowded = withFault('service: s, latency: { factor: 3, loadPercent: 50 }');
  // Three at a time would be 30 ms; each works beside some others: 30 ms · (1 + 0.5 · (n − 1)), n of them in 10 ms · n.
  assert.ok(crowded.nodes[1]!.latency!.p99Ms > 45, String(crowded.nodes[1]!.latency!.p99Ms));
  assert.match(crowded.faults[0]!.what, /^s: 3 times as slow and 50 % slower for each other request$/);
});

test('a slow service is as slow as the file says', () => {
  assert.equal(failedByThird(withFault('service: s, latency: { factor: 200 }'))[1]! > 800, true);
  const { latency } = withFault('operation: s, latency: { add: 90ms }').nodes[1]!;
  assert.ok(Math.abs(latency!.p99Ms - 100) < 2, String(latency!.p99Ms));
});

test('of several instances only the sick ones fail, and a retry goes to another one', () => {
  const fault = 'service: s, errorPercent: 100, instances: 1';
  const alone = withFault(fault, 'instances: 4,').totals;
  assert.ok(Math.abs(alone.failedCount - 250) < 60, String(alone.failedCount));
  const helped = withFault(fault, 'instances: 4,', 'attempts: 1, codes: [500]').totals;
  assert.equal(helped.failedCount, 0);
});

test('a circuit opens for a service that fails, and closes when it is well again', () => {
  const result = simulateText(`
services:
  web:
    operations: { get: { serviceTime: 0s, calls: [{ to: s, retry: { attempts: 0 }, circuitBreaker: { consecutiveFailures: 5, openFor: 1s, maxOpenFor: 1s } }] } }
  s: { operations: { get: { serviceTime: 1ms } } }
workload: { duration: 30s, roots: [{ operation: web, rate: 100, arrivals: constant }] }
faults: [{ at: 10s, for: 10s, service: s, errorPercent: 100 }]
`);
  const [, s] = result.nodes;
  const [, during, after] = failedByThird(result);
  assert.ok(during! > 990);
  assert.ok(after! <= 100, `${after} fail while the circuit is still open`);
  assert.ok(s!.failedCount <= 5 + 10, `${s!.failedCount} reach the failing service`);
});

test('permits bound the attempts in flight', () => {
  const result = simulateText(`
services:
  web: { operations: { get: { serviceTime: 0s, calls: [{ to: s, retry: { attempts: 0 }, circuitBreaker: { maxInflightRequests: 3 } }] } } }
  s: { operations: { get: { serviceTime: 100ms } } }
workload: { duration: 10s, roots: [{ operation: web, rate: 100, arrivals: constant }] }
`);
  // Three every 100 ms, and the next ones ten milliseconds later.
  const { answeredCount } = result.totals;
  assert.ok(answeredCount >= 290 && answeredCount <= 300, String(answeredCount));
});
