import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Participation } from '../../../src/core/ownership/call-graph.ts';
import { stormRadius } from '../../../src/core/ownership/storm-radius.ts';
import { createRetryBudget, type RetryBudget } from '../../../src/core/retry-budget.ts';
import { createChain, type ChainOptions } from './chain.ts';

const KINDS: readonly Participation[] = ['cooperating', 'context-broken', 'legacy'];

function all(count: number, kind: Participation): Participation[] {
  return Array.from({ length: count }, () => kind);
}

/** A, B, C and D, of which D fails: E, F and G below it see what D does. */
const A_TO_D = 4;

function* subsets(edgeCount: number): Generator<boolean[]> {
  for (let bits = 0; bits < 2 ** edgeCount; bits += 1) {
    yield Array.from({ length: edgeCount }, (_, edge) => (bits & (1 << edge)) !== 0);
  }
}

function* rows(length: number): Generator<Participation[]> {
  for (let code = 0; code < 3 ** length; code += 1) {
    yield Array.from({ length }, (_, place) => KINDS[Math.floor(code / 3 ** place) % 3]!);
  }
}

function run(options: ChainOptions): { served: number[]; retries: number[] } {
  const chain = createChain(options);
  chain.request();
  return chain;
}

test('of the 126 fully cooperating chains up to 6 edges, one edge retries: the deepest with a policy', () => {
  let chainCount = 0;
  for (let edgeCount = 1; edgeCount <= 6; edgeCount += 1) {
    for (const policies of subsets(edgeCount)) {
      chainCount += 1;
      const { retries } = run({ services: all(edgeCount + 1, 'cooperating'), policies });
      const deepest = policies.lastIndexOf(true);
      assert.deepEqual(
        retries,
        policies.map((_, edge) => (edge === deepest ? 1 : 0)),
        policies.join(),
      );
    }
  }
  assert.equal(chainCount, 126);
});

/**
 * Told downwards, independently of what each service says upwards: an edge with a policy retries when its caller is
 * legacy, or when between it and the first service that does not cooperate (or the one that fails) no edge has a policy.
 */
function isExpectedToRetry(edge: number, services: readonly Participation[], policies: readonly boolean[]): boolean {
  if (!policies[edge]) return false;
  if (services[edge] === 'legacy') return true;
  for (let below = edge + 1; below < services.length - 1; below += 1) {
    if (services[below] !== 'cooperating') return true;
    if (policies[below]) return false;
  }
  return true;
}

test('in each of the 27 990 chains up to 5 edges the load at the one that fails is a to the number of retrying edges', () => {
  let chainCount = 0;
  for (let edgeCount = 1; edgeCount <= 5; edgeCount += 1) {
    for (const services of rows(edgeCount + 1)) {
      for (const policies of subsets(edgeCount)) {
        chainCount += 1;
        const { served } = run({ services, policies });
        const count = policies.filter((_, edge) => isExpectedToRetry(edge, services, policies)).length;
        if (served[edgeCount] !== 2 ** count)
          assert.equal(served[edgeCount], 2 ** count, `${services.join()} ${policies.join()}`);
      }
    }
  }
  assert.equal(chainCount, 27_990);
});

test('with retries everywhere, an edge retries where its caller is legacy, or its callee fails, is legacy or lost the context', () => {
  for (let edgeCount = 1; edgeCount <= 5; edgeCount += 1) {
    for (const services of rows(edgeCount + 1)) {
      const { retries } = run({ services });
      const expected = retries.map((_, edge) => {
        const last = edge + 1 === edgeCount;
        return services[edge] === 'legacy' || last || services[edge + 1] !== 'cooperating';
      });
      assert.deepEqual(
        retries.map((count) => count > 0),
        expected,
        services.join(),
      );
    }
  }
});

test('the storm radius foretells the load of every chain up to 4 edges', () => {
  for (let edgeCount = 1; edgeCount <= 4; edgeCount += 1) {
    for (const services of rows(edgeCount + 1)) {
      for (const policies of subsets(edgeCount)) {
        const nodes = services.map((participation, index) => ({ name: String(index), participation }));
        const edges = policies.map((on, index) => ({
          from: String(index),
          to: String(index + 1),
          maxRetries: on ? 1 : 0,
        }));
        // The worst of the graph is that of the worst service to fail, not always of the last one.
        const loads = services.map((_, last) =>
          last === 0
            ? 1
            : run({ services: services.slice(0, last + 1), policies: policies.slice(0, last) }).served[last]!,
        );
        const { radius, amplification, path } = stormRadius({ nodes, edges }, '0');
        assert.equal(amplification, Math.max(...loads), `${services.join()} ${policies.join()}`);
        assert.equal(amplification, 2 ** radius);
        assert.equal(loads[path.length - 1], amplification);
      }
    }
  }
});

test('ownership never adds a request: no service of a cooperating chain sees more than with retries everywhere', () => {
  for (const services of rows(5)) {
    for (const policies of subsets(4)) {
      const { served } = run({ services, policies, maxRetries: 2 });
      const without = run({ services: all(5, 'legacy'), policies, maxRetries: 2 });
      assert.ok(served.every((count, index) => count <= without.served[index]!));
    }
  }
});

test('one retry on every hop without ownership gives 1, 2, 4 and 8 times the load', () => {
  assert.deepEqual(run({ services: all(A_TO_D, 'legacy') }).served, [1, 2, 4, 8]);
});

test('ownership leaves every service but the one that fails with its own load', () => {
  assert.deepEqual(run({ services: all(A_TO_D, 'cooperating') }).served, [1, 1, 1, 2]);
});

test('one service that lost the context halves the storm instead of ending it', () => {
  const services: Participation[] = ['cooperating', 'cooperating', 'context-broken', 'cooperating'];
  assert.deepEqual(run({ services }).served.slice(1), [1, 2, 4]);
  assert.deepEqual(run({ services: all(A_TO_D, 'legacy') }).served.slice(1), [2, 4, 8]);
});

test('five more services above cost 32 times without ownership, and nothing with it', () => {
  assert.equal(run({ services: all(A_TO_D + 5, 'legacy') }).served.at(-1), 8 * 32);
  const services = [...all(A_TO_D + 5, 'cooperating')];
  services[services.length - 2] = 'context-broken';
  assert.equal(run({ services }).served.at(-1), 4);
});

test('each service inside the path that lost the context costs one more layer of retries', () => {
  for (let brokenCount = 0; brokenCount <= 4; brokenCount += 1) {
    const services = all(6, 'cooperating').map((kind, index) =>
      index >= 1 && index <= brokenCount ? ('context-broken' as const) : kind,
    );
    assert.equal(run({ services }).served[5], 2 ** (1 + brokenCount));
  }
});

test('a legacy service costs a layer on each side, for it neither obeys nor tells', () => {
  const services = all(6, 'cooperating').map((kind, index) => (index === 2 ? ('legacy' as const) : kind));
  assert.deepEqual(run({ services }).retries.map(Math.sign), [0, 1, 1, 0, 1]);
  assert.equal(run({ services }).served[5], 8);
});

/** Ten per cent, and no rate beyond it. */
function tenPercent(): RetryBudget {
  return createRetryBudget({
    kind: 'ratio',
    percent: 10,
    intervalMs: 3_600_000,
    minRetryRate: { count: 0, intervalMs: 1000 },
  });
}

function loadsUnderBudget(options: ChainOptions, requestCount = 1000): number[] {
  const budgets = options.services.map(tenPercent);
  const chain = createChain({ ...options, budgets });
  for (let request = 0; request < requestCount; request += 1) chain.request(request);
  return chain.served.map((count) => count / requestCount);
}

test('a budget of 10 % on every hop without ownership gives 1.1 to the power of the depth', () => {
  const measured = loadsUnderBudget({ services: all(A_TO_D, 'legacy') });
  assert.deepEqual(measured, [1, 1.1, 1.21, 1.331]);
});

test('ownership and a budget of 10 % give 10 % more at the one that fails, and none above it', () => {
  assert.deepEqual(loadsUnderBudget({ services: all(A_TO_D, 'cooperating') }), [1, 1, 1, 1.1]);
});

test('a storm of 46 % to 135 % is what four to nine hops of 10 % would have added', () => {
  for (const [depth, expected] of [
    [4, 0.46],
    [9, 1.35],
  ] as const) {
    const extra = loadsUnderBudget({ services: all(depth + 1, 'legacy') }).at(-1)! - 1;
    assert.ok(Math.abs(extra - expected) < 0.012, `${String(depth)} hops: ${String(extra)}`);
  }
});

test('where lineage is passed on, layers of retries add up instead of multiplying', () => {
  assert.deepEqual(run({ services: all(A_TO_D, 'legacy'), lineage: true }).served, [1, 2, 3, 4]);
  assert.deepEqual(run({ services: all(A_TO_D, 'legacy'), lineage: false }).served, [1, 2, 4, 8]);
});

/** Errors of the last service that are spread evenly, first attempts and retries each for themselves. */
function availability(errorRate: number): number {
  const requestCount = 100_000;
  const budgets = [tenPercent()];
  let firstCount = 0;
  let retryCount = 0;
  let first = true;
  const even = (count: number): boolean => Math.floor((count + 1) * errorRate) > Math.floor(count * errorRate);
  const chain = createChain({
    services: ['cooperating', 'cooperating'],
    budgets,
    fails(service) {
      if (service === 0) return false;
      const failed = first ? even(firstCount) : even(retryCount);
      if (first) firstCount += 1;
      else retryCount += 1;
      first = false;
      return failed;
    },
  });
  let okCount = 0;
  for (let request = 0; request < requestCount; request += 1) {
    first = true;
    if (chain.request(request)) okCount += 1;
  }
  return (100 * okCount) / requestCount;
}

for (const [base, expected] of [
  [99.9, 99.9999],
  [99, 99.99],
  [95, 99.75],
  [90, 99],
  [80, 88],
  [70, 77],
] as const) {
  test(`an availability of ${String(base)} % becomes ${String(expected)} % with a budget of 10 %`, () => {
    const measured = availability((100 - base) / 100);
    assert.ok(Math.abs(measured - expected) <= 0.02, String(measured));
  });
}

/** Plays every way in which up to `callCount` calls of the last service can end, weighted by how likely it is. */
function expectation(kind: Participation, p: number): { load: number; failed: number } {
  const services = all(4, kind);
  const callCount = 8;
  let load = 0;
  let failed = 0;
  for (let bits = 0; bits < 2 ** callCount; bits += 1) {
    const chain = createChain({ services, fails: (service, call) => service === 3 && (bits & (1 << call)) !== 0 });
    const ok = chain.request();
    const badCount = bits.toString(2).replaceAll('0', '').length;
    const weight = p ** badCount * (1 - p) ** (callCount - badCount);
    load += weight * chain.served[3]!;
    failed += ok ? 0 : weight;
  }
  return { load, failed };
}

for (const p of [0.1, 0.3, 0.5, 0.9]) {
  test(`of failures with probability ${String(p)}, retries everywhere and ownership leave what the formulas say`, () => {
    const everywhere = expectation('legacy', p);
    assert.ok(Math.abs(everywhere.load - (1 - p ** 8) / (1 - p)) < 1e-9);
    assert.ok(Math.abs(everywhere.failed - p ** 8) < 1e-9);
    const owned = expectation('cooperating', p);
    assert.ok(Math.abs(owned.load - (1 + p)) < 1e-9);
    assert.ok(Math.abs(owned.failed - p * p) < 1e-9);
  });
}
