import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateText } from './support.ts';

const one = (capacity: string, rest: string = 'serviceTime: 10ms', rate = 'rate: 200'): string => `
services:
  s: { capacity: ${capacity}, operations: { get: { ${rest} } } }
workload: { duration: 10s, roots: [{ operation: s, ${rate}, arrivals: constant, timeouts: { request: 0s } }] }
`;

test('so many workers finish so much work', () => {
  const { totals } = simulateText(one('{ workers: 1 }'));
  assert.equal(Math.round(totals.goodputPerSecond), 100);
});

test('what waits longer than it may is refused, and everything else is answered', () => {
  const { nodes, totals, services } = simulateText(one('{ workers: 1, queueLimit: 5 }'));
  const [node] = nodes;
  assert.equal(services[0]?.peakQueueLength, 5);
  assert.ok(node!.shedCount > 900 && node!.shedCount < 1000, `shed ${node!.shedCount}`);
  assert.equal(totals.failedCount, node!.shedCount);
});

test('the oldest waits longest in a fifo, and the newest is served at once in a lifo', () => {
  const fifo = simulateText(one('{ workers: 1, queueLimit: 50 }')).roots[0]!.latency!;
  const lifo = simulateText(one('{ workers: 1, queue: lifo, queueLimit: 50 }')).roots[0]!.latency!;
  assert.ok(fifo.p50Ms > 400, `fifo ${fifo.p50Ms}`);
  assert.ok(lifo.p50Ms < 50, `lifo ${lifo.p50Ms}`);
});

test('an M/M/1 queue has the mean stay of the textbook: 1 / (μ − λ)', () => {
  const text = `
services:
  s: { capacity: { workers: 1 }, operations: { get: { serviceTime: { mean: 10ms } } } }
workload: { duration: 2000s, roots: [{ operation: s, rate: 50, timeouts: { request: 0s } }] }
`;
  const { meanMs } = simulateText(text).roots[0]!.latency!;
  assert.ok(Math.abs(meanMs - 20) < 1, `mean ${meanMs} ms, expected 20`);
});

for (const [blocking, expected] of [
  [true, 10],
  [false, 100],
] as const) {
  test(`a worker ${blocking ? 'is held' : 'is free'} while its request waits for calls`, () => {
    const text = `
services:
  s: { capacity: { workers: 1, blocking: ${blocking} }, operations: { get: { serviceTime: 10ms, calls: [slow] } } }
  slow: { operations: { get: { serviceTime: 90ms } } }
workload: { duration: 10s, roots: [{ operation: s, rate: 200, timeouts: { request: 0s } }] }
`;
    const { goodputPerSecond } = simulateText(text).totals;
    assert.ok(Math.abs(goodputPerSecond - expected) <= expected / 20, `${goodputPerSecond} a second`);
  });
}

test('calls of a group are made at the same time, others one after the other', () => {
  const text = (calls: string): string => `
services:
  s: { operations: { get: { serviceTime: 0s, calls: ${calls} } } }
  t: { operations: { get: { serviceTime: 10ms } } }
workload: { duration: 1s, roots: [{ operation: s, rate: 10 }] }
`;
  const meanMs = (calls: string): number => Math.round(simulateText(text(calls)).roots[0]!.latency!.meanMs);
  assert.equal(meanMs('[t, t]'), 20);
  assert.equal(meanMs('[{ to: t, count: 3 }]'), 30);
  assert.equal(meanMs('[{ parallel: [t, t, { to: t, count: 2 }] }]'), 10);
});

test('a call is made as often as its probability says', () => {
  const text = `
services:
  s: { operations: { get: { serviceTime: 0s, calls: [{ to: t, probability: 0.25, count: 4 }] } } }
  t: { operations: { get: { serviceTime: 1ms } } }
workload: { duration: 20s, roots: [{ operation: s, rate: 500 }] }
`;
  const [, t] = simulateText(text).nodes;
  assert.ok(Math.abs(t!.load - 1) < 3 * Math.sqrt(0.75 / t!.baselineCount), `load ${t!.load}`);
});
