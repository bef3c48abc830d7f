import assert from 'node:assert/strict';
import { readFileSync, globSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SimulationResult } from '../../src/simulator/result.ts';
import { createSimulation, simulate } from '../../src/simulator/simulation.ts';
import { SIMULATION_MODES, type SimulationMode } from '../../src/simulator/mode.ts';
import { simulateText, topologyOf } from './support.ts';

/** A text with everything that a topology can have, by some numbers. */
const anyTopology = fc
  .record({
    workers: fc.integer({ min: 1, max: 6 }),
    limit: fc.integer({ min: 0, max: 20 }),
    queue: fc.constantFrom('fifo', 'lifo'),
    blocking: fc.boolean(),
    instances: fc.integer({ min: 1, max: 3 }),
    participation: fc.constantFrom('cooperating', 'context-broken', 'legacy'),
    attempts: fc.integer({ min: 0, max: 3 }),
    propagate: fc.boolean(),
    timeout: fc.constantFrom('0s', '30ms', '200ms'),
    fault: fc.constantFrom(
      'errorPercent: 60',
      'outage: refused',
      'outage: hangs',
      'capacityPercent: 0',
      'latency: { factor: 20 }',
    ),
    seed: fc.integer({ min: 0, max: 1e9 }),
  })
  .map(
    (it) => `
deadlines: { propagate: ${it.propagate} }
defaults:
  timeouts: { request: 500ms, backendRequest: ${it.timeout} }
  retry: { attempts: ${it.attempts}, codes: [500, 502, 503, 504], on: [unsent, timeout], backoff: 5ms }
services:
  a: { operations: { get: { serviceTime: { mean: 1ms }, calls: [b, { parallel: [c, { to: d, failOpen: true, probability: 0.5, count: 2 }] }] } } }
  b: { participation: ${it.participation}, operations: { get: { serviceTime: { p50: 2ms, p99: 9ms }, calls: [{ to: c, count: 2 }] } } }
  c: { instances: ${it.instances}, capacity: { workers: ${it.workers}, queue: ${it.queue}, queueLimit: ${it.limit}, blocking: ${it.blocking} }, operations: { get: { serviceTime: 3ms, calls: [d] } } }
  d: { capacity: { workers: ${it.workers} }, operations: { get: { serviceTime: { mean: 4ms }, errorPercent: 3 } } }
workload: { duration: 3s, seed: ${it.seed}, roots: [{ operation: a, rate: 150 }, { operation: c, rate: 40, until: 2s }] }
faults: [{ at: 1s, for: 1s, service: c, ${it.fault} }]
`,
  );

function assertConserved(result: SimulationResult): void {
  const { totals, roots, nodes, calls } = result;
  for (const root of roots) {
    assert.ok(root.inFlightCount >= 0);
    assert.equal(root.requestCount, root.answeredCount + root.failedCount + root.inFlightCount);
    assert.equal(root.requestCount, sum(root.series.requests));
    assert.equal(root.answeredCount, sum(root.series.answered));
    assert.equal(root.failedCount, sum(root.series.failed));
  }
  for (const node of nodes) {
    assert.ok(node.insideCount >= 0, node.operation);
    assert.equal(node.arrivedCount, node.answeredCount + node.swallowedCount + node.insideCount);
    assert.equal(node.arrivedCount, sum(node.series.arrived));
    assert.ok(node.failedCount <= node.answeredCount);
    assert.ok(node.shedCount + node.expiredCount <= node.failedCount);
    const attempts = sum(calls.filter(({ to }) => to === node.operation).map(({ attemptCount }) => attemptCount));
    // Refused connections are attempts that arrive nowhere.
    assert.ok(node.arrivedCount <= attempts, node.operation);
  }
  for (const call of calls) {
    assert.equal(call.attemptCount - call.retryCount <= call.callCount, true);
    assert.ok(call.retryCount <= call.callCount * call.maxRetries);
    assert.ok(sum(Object.values(call.stopReasons)) <= call.callCount);
  }
  assert.equal(totals.hopCount, sum(nodes.map(({ arrivedCount }) => arrivedCount)));
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

test('requests in are answered, failed or in flight, at every root and every service, in every mode', () => {
  fc.assert(
    fc.property(anyTopology, fc.constantFrom(...(Object.keys(SIMULATION_MODES) as SimulationMode[])), (text, mode) => {
      assertConserved(simulateText(text, { mode }));
    }),
    { numRuns: 60 },
  );
});

test('the same seed gives the same result, however the run is cut into turns', () => {
  fc.assert(
    fc.property(anyTopology, fc.integer({ min: 1, max: 5000 }), (text, turn) => {
      const whole = simulateText(text);
      const simulation = createSimulation(topologyOf(text));
      while (!simulation.advance(turn));
      assert.deepEqual(simulation.result(), whole);
    }),
    { numRuns: 20 },
  );
});

test('virtual time never goes back, and every look at a run is consistent', () => {
  fc.assert(
    fc.property(anyTopology, (text) => {
      const simulation = createSimulation(topologyOf(text));
      let latestMs = 0;
      let isOver = false;
      while (!isOver) {
        isOver = simulation.advance(1000);
        assert.ok(simulation.nowMs >= latestMs);
        latestMs = simulation.nowMs;
        assertConserved(simulation.result());
      }
      assert.equal(latestMs, simulation.durationMs);
    }),
    { numRuns: 10 },
  );
});

test('another seed gives another result', () => {
  const text = readFileSync('examples/topologies/hotel-reservation.yaml', 'utf8');
  const [one, other] = [1, 2].map((seed) => simulateText(text, { seed, durationMs: 5000 }));
  assert.notDeepEqual(one!.roots, other!.roots);
});

test('arrivals are the same in every mode', () => {
  const text = readFileSync('examples/topologies/social-network.yaml', 'utf8');
  const [first, ...others] = (Object.keys(SIMULATION_MODES) as SimulationMode[]).map((mode) =>
    simulateText(text, { mode, durationMs: 5000 }).roots.map(({ series }) => series.requests),
  );
  for (const arrivals of others) assert.deepEqual(arrivals, first);
});

for (const [name, services, edges] of [
  ['online-boutique', 12, 16],
  ['hotel-reservation', 10, 9],
  ['social-network', 12, 19],
  ['media', 14, 22],
  ['train-ticket', 41, 92],
] as const) {
  test(`the example ${name} has ${services} services and ${edges} calls between them, and runs`, () => {
    const topology = topologyOf(readFileSync(`examples/topologies/${name}.yaml`, 'utf8'));
    assert.equal(topology.services.length, services);
    const between = topology.calls.flatMap(({ from, to }) =>
      from === undefined ? [] : [`${topology.operations[from]!.service} ${topology.operations[to]!.service}`],
    );
    assert.equal(new Set(between).size, edges);
    const result = simulate(topology, { durationMs: 3000 });
    assertConserved(result);
    assert.ok(result.totals.successRatio > 0.98, `before its faults: ${result.totals.successRatio}`);
    assert.ok(result.nodes.every(({ arrivedCount, baselineCount }) => baselineCount < 20 || arrivedCount > 0));
  });
}

test('every file of examples/topologies is tested', () => {
  assert.equal(globSync('examples/topologies/*.yaml').length, 5);
});
