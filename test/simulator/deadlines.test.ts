import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadsOf, simulateText } from './support.ts';

/** Three hops to a service that never answers; the attempts' timeouts from the root down. */
const hanging = (timeouts: readonly string[], settings: string): string => {
  const call = (to: string, timeout: string): string =>
    `calls: [{ to: ${to}, timeouts: { request: 30s, backendRequest: ${timeout} } }]`;
  return `
retryOfRetry: true
${settings}
defaults: { retry: { attempts: 1, codes: [502, 504], on: [timeout], backoff: 1ms }, retryBudget: { kind: none } }
services:
  a: { operations: { get: { serviceTime: 0s, ${call('b', timeouts[0]!)} } } }
  b: { operations: { get: { serviceTime: 0s, ${call('c', timeouts[1]!)} } } }
  c: { operations: { get: { serviceTime: 0s, ${call('d', timeouts[2]!)} } } }
  d: { operations: { get: { serviceTime: 1ms } } }
workload: { duration: 60s, roots: [{ operation: a, rate: 0.01, arrivals: constant }] }
faults: [{ service: d, outage: hangs }]
`;
};
const UNTOLD = 'deadlines: { propagate: false }';

test('equal timeouts defeat ownership: each caller gives up before it can hear whose error it is', () => {
  assert.deepEqual(loadsOf(simulateText(hanging(['1s', '1s', '1s'], UNTOLD))), [1, 2, 4, 8]);
});

test('nested timeouts let ownership work: the hop next to the failure retries', () => {
  assert.deepEqual(loadsOf(simulateText(hanging(['9s', '3s', '1s'], UNTOLD))), [1, 1, 1, 2]);
});

test('a deadline that is passed on ends the innermost call first, and nobody repeats it', () => {
  const result = simulateText(hanging(['1s', '1s', '1s'], 'deadlines: { propagate: true, margin: 10ms }'));
  // a repeats nothing, for b says in time that the call was handled below.
  assert.deepEqual(loadsOf(result), [1, 1, 1, 1]);
  assert.deepEqual(result.totals.stopReasons, { 'not-owner': 3, deadline: 1 });
});

const overload = (dropExpired: boolean): string => `
deadlines: { dropExpired: ${dropExpired} }
services:
  web: { operations: { get: { serviceTime: 0s, calls: [{ to: db, retry: { attempts: 0 } }] } } }
  db: { capacity: { workers: 1 }, operations: { get: { serviceTime: 10ms } } }
workload: { duration: 20s, roots: [{ operation: web, rate: 200, timeouts: { request: 500ms } }] }
`;

test('work that is too late is dropped before it begins, so that an overloaded service answers in time', () => {
  const kept = simulateText(overload(false)).totals;
  const dropped = simulateText(overload(true)).totals;
  assert.ok(kept.goodputPerSecond < 10, `without: ${kept.goodputPerSecond}`);
  assert.ok(dropped.goodputPerSecond > 60, `with: ${dropped.goodputPerSecond}`);
});
