import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateText } from './support.ts';

// N. Bronson and others, "Metastable failures in distributed systems" (HotOS 2021), section 2.1: a database for 300
// requests a second, callers that give up after a second and repeat once, an outage of ten seconds.
const database = (rate: number, settings: string): string => `
deadlines: { ${settings} }
services:
  web:
    operations:
      get:
        serviceTime: 0s
        calls: [{ to: db, timeouts: { request: 0s, backendRequest: 1s }, retry: { attempts: 1, on: [timeout], backoff: 1ms } }]
  db: { capacity: { workers: 3 }, operations: { get: { serviceTime: { mean: 10ms } } } }
workload: { duration: 90s, roots: [{ operation: web, rate: ${rate} }] }
faults: [{ at: 10s, for: 10s, service: db, capacityPercent: 0 }]
`;
const UNTOLD = 'propagate: false, dropExpired: false';

test('at 280 of 300 requests a second retries keep the database down long after its outage', () => {
  const { recovery, nodes } = simulateText(database(280, UNTOLD), { mode: 'retries' });
  assert.equal(recovery?.afterMs, undefined);
  const db = nodes[1]!.series.arrived;
  const late = db.slice(-10 * 5).reduce((sum, count) => sum + count, 0);
  assert.ok(nodes[1]!.peakLoad > 1.9, `peak ${nodes[1]!.peakLoad}`);
  assert.ok(late > 0);
  const lastFifth = Math.floor(db.length / 5);
  const arrived = db.slice(-lastFifth).reduce((sum, count) => sum + count, 0);
  const perSecond = (arrived * 1000) / (lastFifth * simulateIntervalMs(db.length));
  assert.ok(Math.abs(perSecond - 560) < 25, `${perSecond} a second, expected 560`);
});

function simulateIntervalMs(intervalCount: number): number {
  return 90_000 / intervalCount;
}

test('below half of its capacity the same database recovers by itself', () => {
  const { recovery } = simulateText(database(100, UNTOLD), { mode: 'retries' });
  assert.ok(recovery?.afterMs !== undefined && recovery.afterMs < 40_000, String(recovery?.afterMs));
});

test('when what is too late is not begun the database recovers at once, even with retries', () => {
  const { recovery } = simulateText(database(280, 'propagate: true, dropExpired: true'), { mode: 'retries' });
  assert.ok(recovery?.afterMs !== undefined && recovery.afterMs <= 10_000, String(recovery?.afterMs));
});

// Two stacked clients with 3 and 2 retries; five boxes with 2 retries each.
test('layers of retries multiply: 4 × 3 = 12, and 3 to the fourth is 81', () => {
  const layers = (attempts: readonly number[]): string => {
    const names = [...attempts.keys(), attempts.length].map((index) => `s${index}`);
    const services = names.map((name, index) => {
      const call =
        index < attempts.length
          ? `calls: [{ to: ${names[index + 1]}, retry: { attempts: ${attempts[index]}, codes: [429, 502], backoff: 1ms } }]`
          : 'errorPercent: 100';
      return `  ${name}: { operations: { get: { serviceTime: 0s, ${call} } } }`;
    });
    return `services:\n${services.join('\n')}\nworkload: { duration: 60s, roots: [{ operation: s0, rate: 0.01, arrivals: constant }] }\nfaults: [{ operation: ${names.at(-1)}, errorPercent: 100, status: 429 }]`;
  };
  const lastLoad = (attempts: readonly number[], mode: 'retries' | 'ownership'): number =>
    simulateText(layers(attempts), { mode }).nodes.at(-1)!.load;
  assert.equal(lastLoad([3, 2], 'retries'), 12);
  assert.equal(lastLoad([2, 2, 2, 2], 'retries'), 81);
  assert.equal(lastLoad([2, 2, 2, 2], 'ownership'), 3);
});
