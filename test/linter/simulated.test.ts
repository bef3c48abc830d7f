import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stormReadings } from '../../src/linter/storm-reading.ts';
import { simulate } from '../../src/simulator/simulation.ts';
import { sourceOf } from './support.ts';

/** One hop of a chain: how its caller takes part, how often it retries, and what else retries on the way. */
const HOP = fc.record({
  participation: fc.constantFrom('cooperating', 'context-broken', 'legacy'),
  attempts: fc.integer({ min: 0, max: 2 }),
  sdkAttempts: fc.integer({ min: 0, max: 2 }),
});
type Hop = typeof HOP extends fc.Arbitrary<infer Value> ? Value : never;

/** Services in a row, the last of which fails every request. One request, so that what happens is exact. */
function chainOf(hops: readonly Hop[]): string {
  const rows = hops.map(({ participation, attempts, sdkAttempts }, index) => {
    const retry = (count: number): string => `retry: { attempts: ${count}, codes: [500, 502, 504], backoff: 1ms }`;
    const layers = sdkAttempts === 0 ? '' : `, layers: [{ name: sdk, ${retry(sdkAttempts)} }]`;
    const call = `{ to: s${index + 1}, ${retry(attempts)}${layers} }`;
    return `  s${index}: { participation: ${participation}, operations: { get: { serviceTime: 1ms, calls: [${call}] } } }`;
  });
  return [
    'retryOfRetry: true',
    'defaults: { timeouts: { request: 60s }, retryBudget: { kind: none } }',
    'services:',
    ...rows,
    `  s${hops.length}: { operations: { get: { serviceTime: 1ms, errorPercent: 100 } } }`,
    'workload: { duration: 60s, roots: [{ operation: s0, rate: 0.01, arrivals: constant }] }',
  ].join('\n');
}

for (const [view, mode] of [
  ['file', 'file'],
  ['retries', 'retries'],
] as const) {
  test(`where the last of a chain fails it gets as many requests as the linter says, in mode ${mode}`, () => {
    fc.assert(
      fc.property(fc.array(HOP, { minLength: 1, maxLength: 4 }), (hops) => {
        const { topology } = sourceOf(chainOf(hops));
        const [reading] = stormReadings(topology, view);
        const { nodes } = simulate(topology, { mode });
        const atLast = nodes.find(({ operation }) => operation === `s${hops.length}/get`)!.arrivedCount;
        // The worst path may end before the chain does: then another service would have to fail.
        assert.ok(atLast <= reading!.amplification, `${atLast} of ${reading!.amplification}`);
        if (reading!.amplifiedPath.at(-1) === `s${hops.length}/get`) assert.equal(atLast, reading!.amplification);
      }),
      { numRuns: 60 },
    );
  });
}
