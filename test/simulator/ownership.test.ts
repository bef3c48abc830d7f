import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Participation } from '../../src/core/ownership/call-graph.ts';
import { simulate } from '../../src/simulator/simulation.ts';
import { chain, loadsOf, ONE_REQUEST, simulateText, topologyOf } from './support.ts';

const KINDS: readonly Participation[] = ['cooperating', 'context-broken', 'legacy'];

function* words<T>(letters: readonly T[], length: number): Generator<T[]> {
  if (length === 0) yield [];
  else for (const rest of words(letters, length - 1)) for (const letter of letters) yield [...rest, letter];
}

test('in a chain that cooperates exactly one edge retries, the deepest with a policy, whichever have one', () => {
  let count = 0;
  for (let edgeCount = 1; edgeCount <= 6; edgeCount += 1) {
    for (const chosen of words([true, false], edgeCount)) {
      const retrying = chosen.flatMap((has, index) => (has ? [index] : []));
      const text = chain({ length: edgeCount + 1, failing: edgeCount, retrying, workload: ONE_REQUEST });
      const deepest = retrying.at(-1) ?? edgeCount;
      const expected = Array.from({ length: edgeCount + 1 }, (_, depth) => (depth > deepest ? 2 : 1));
      assert.deepEqual(loadsOf(simulateText(text)), expected, `${edgeCount} edges, retries at ${retrying.join(', ')}`);
      count += 1;
    }
  }
  assert.equal(count, 126);
});

test('an edge of a chain retries when its caller is legacy, or its callee fails by itself, lost its context or is legacy', () => {
  for (let edgeCount = 1; edgeCount <= 5; edgeCount += 1) {
    // Read once: a thousand files would take longer than the thousand requests.
    const topology = topologyOf(chain({ length: edgeCount + 1, failing: edgeCount, workload: ONE_REQUEST }));
    for (const participation of words(KINDS, edgeCount + 1)) {
      const services = topology.services.map(({ name, instanceCount, capacity }, index) => ({
        name,
        instanceCount,
        capacity,
        participation: participation[index]!,
      }));
      const expected = [1];
      for (let edge = 0; edge < edgeCount; edge += 1) {
        const isRetrying =
          participation[edge] === 'legacy' || edge + 1 === edgeCount || participation[edge + 1] !== 'cooperating';
        expected.push(expected[edge]! * (isRetrying ? 2 : 1));
      }
      const result = simulate({ ...topology, services }, { mode: 'ownership' });
      assert.deepEqual(loadsOf(result), expected, participation.join(' -> '));
    }
  }
});

test('one service that lost its context lets one more layer retry: half of what all would', () => {
  const text = chain({
    length: 4,
    failing: 3,
    participation: ['cooperating', 'cooperating', 'context-broken'],
    workload: ONE_REQUEST,
  });
  assert.deepEqual(loadsOf(simulateText(text)), [1, 1, 2, 4]);
});

test('a call that the operation does without is no reason for anything', () => {
  const text = `
retryOfRetry: true
defaults:
  retry: { attempts: 1, codes: [500, 502] }
  retryBudget: { kind: none }
services:
  a: { operations: { get: { serviceTime: 1ms, calls: [b] } } }
  b: { operations: { get: { serviceTime: 1ms, errorPercent: 100, calls: [{ to: c, failOpen: true }] } } }
  c: { operations: { get: { serviceTime: 1ms, errorPercent: 100 } } }
workload: { duration: 10s, roots: [{ operation: a, rate: 0.01, arrivals: constant }] }
`;
  // b owns its error although c failed below it, so that a retries; c is retried for each of b's.
  assert.deepEqual(loadsOf(simulateText(text)), [1, 2, 4]);
});

test('claims that are only observed change nothing', () => {
  const text = chain({
    length: 4,
    failing: 3,
    workload: ONE_REQUEST,
    settings: 'retryOfRetry: true\nownership: { mode: observe }',
  });
  assert.deepEqual(loadsOf(simulateText(text)), [1, 2, 4, 8]);
});

test('a failed POST without a key is not repeated, and the callers above are told never to', () => {
  const text = `
retryOfRetry: true
defaults: { retry: { attempts: 1, codes: [500, 502] }, retryBudget: { kind: none } }
services:
  a: { operations: { get: { serviceTime: 1ms, calls: [b] } } }
  b: { operations: { get: { serviceTime: 1ms, calls: [c/pay] } } }
  c: { operations: { pay: { method: POST, serviceTime: 1ms, errorPercent: 100 } } }
workload: { duration: 10s, roots: [{ operation: a, rate: 0.01, arrivals: constant }] }
`;
  const result = simulateText(text);
  assert.deepEqual(loadsOf(result), [1, 1, 1]);
  assert.deepEqual(result.totals.stopReasons, { 'not-owner': 1, 'advised-never': 1, 'not-idempotent': 1 });
});
