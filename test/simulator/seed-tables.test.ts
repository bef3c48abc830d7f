import { test } from 'node:test';
import { assertLoads, chain, simulateText } from './support.ts';

// Seven services in a row, the fourth fails every request: the tables of a published design for retries in call chains.
const outage = chain({ length: 7, failing: 3, budgetPercent: 10 });

test('without failures and retries every service gets the load of its root', () => {
  assertLoads(simulateText(chain({ length: 7 }), { mode: 'retries' }), [1, 1, 1, 1, 1, 1, 1]);
});

test('one retry everywhere doubles the load with each hop down to the failure', () => {
  assertLoads(simulateText(outage, { mode: 'retries' }), [1, 2, 4, 8, 8, 8, 8]);
});

test('a budget of 10 % everywhere adds a tenth with each hop down to the failure', () => {
  assertLoads(simulateText(outage, { mode: 'budget' }), [1, 1.1, 1.21, 1.331, 1.331, 1.331, 1.331]);
});

test('ownership and a budget of 10 % add a tenth in all, next to the failure and below', () => {
  assertLoads(simulateText(outage, { mode: 'ownership' }), [1, 1, 1, 1.1, 1.1, 1.1, 1.1]);
});

test('a limit on retries of retries adds one retry a hop instead of doubling', () => {
  assertLoads(simulateText(outage, { mode: 'lineage' }), [1, 2, 3, 4, 4, 4, 4]);
});

test('without retries the failure multiplies nothing', () => {
  assertLoads(simulateText(outage, { mode: 'none' }), [1, 1, 1, 1, 1, 1, 1]);
});

// e' = e − min(e, B)·(1 − e)
for (const [errorPercent, percent, expected] of [
  [5, 10, 0.05 * 0.05],
  [10, 10, 0.1 * 0.1],
  [20, 10, 0.2 - 0.1 * 0.8],
] as const) {
  test(`independent errors of ${errorPercent} % and a budget of ${percent} % leave a root failure of ${expected.toFixed(4)}`, () => {
    const text = chain({
      length: 2,
      budgetPercent: percent,
      workload: 'workload: { duration: 100s, roots: [{ operation: A, rate: 300 }] }',
      faults: `faults: [{ operation: B, errorPercent: ${errorPercent} }]`,
    });
    const { totals } = simulateText(text);
    const failed = 1 - totals.successRatio;
    const standardError = Math.sqrt((expected * (1 - expected)) / totals.requestCount);
    // A budget in a sliding window refuses a little more than its mean where errors are as many as it allows.
    const slack = errorPercent === percent ? 0.005 : 0;
    if (Math.abs(failed - expected) > 3 * standardError + slack)
      throw new Error(`failed ${failed}, expected ${expected} ± ${3 * standardError + slack}`);
  });
}

test('a partial failure costs p^2 of the requests with ownership, at (1 + p) of the load', () => {
  const p = 0.3;
  const text = chain({
    length: 4,
    workload: 'workload: { duration: 60s, roots: [{ operation: A, rate: 200 }] }',
    faults: `faults: [{ operation: D, errorPercent: ${p * 100} }]`,
  });
  const result = simulateText(text);
  assertLoads(result, [1, 1, 1, 1 + p]);
  const failed = 1 - result.totals.successRatio;
  const standardError = Math.sqrt((p * p) / result.totals.requestCount);
  if (Math.abs(failed - p * p) > 3 * standardError) throw new Error(`failed ${failed}, expected ${p * p}`);
});
