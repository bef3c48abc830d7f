import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRetryPolicy } from '../../src/core/retry-policy.ts';
import { stormReadings } from '../../src/linter/storm-reading.ts';
import type { Topology, TopologyCall } from '../../src/simulator/topology.ts';
import { chain, type DrawnChain, lintText, sourceOf } from './support.ts';

const readingOf = (drawn: DrawnChain): ReturnType<typeof stormReadings>[number] =>
  stormReadings(sourceOf(chain(drawn)).topology, 'file')[0]!;

const OFF = 'ownership: { mode: off }';

test('five layers of three tries each make 243 of one request', () => {
  const { radius, amplification } = readingOf({ names: 'ABCDEF', attempts: 2, settings: OFF });
  assert.deepEqual([radius, amplification], [5, 243]);
});

test('three layers of four tries each make 64 of one request', () => {
  const { radius, amplification } = readingOf({ names: 'ABCD', attempts: 3, settings: OFF });
  assert.deepEqual([radius, amplification], [3, 64]);
});

for (const [name, drawn, expected] of [
  ['all cooperate', {}, [1, 2]],
  ['one has lost its context', { services: { B: 'participation: context-broken' } }, [2, 4]],
  ['one is legacy', { services: { C: 'participation: legacy' } }, [2, 4]],
  ['two are legacy', { services: { B: 'participation: legacy', C: 'participation: legacy' } }, [3, 8]],
  ['claims are written and not obeyed', { settings: 'ownership: { mode: observe }' }, [3, 8]],
  ['nobody retries', { attempts: 0 }, [0, 1]],
  ['only the first hop retries', { calls: { B: 'retry: { attempts: 0 }', C: 'retry: { attempts: 0 }' } }, [1, 2]],
] as const) {
  test(`where ${name} the radius is ${expected[0]} and the worst is ${expected[1]} times`, () => {
    const { radius, amplification } = readingOf({ names: 'ABCD', ...drawn });
    assert.deepEqual([radius, amplification], expected);
  });
}

test('a policy that covers no answer retries only what its own callee does', () => {
  const { radius, amplification, amplifiedPath } = readingOf({
    names: 'ABCD',
    settings: OFF,
    calls: { A: 'retry: { attempts: 3 }', B: 'retry: { attempts: 3 }' },
  });
  // D is tried twice by C, whose answer nobody above retries; where C itself cannot be reached, B tries it four times.
  assert.deepEqual([radius, amplification, amplifiedPath], [1, 4, ['A/get', 'B/get', 'C/get']]);
});

test('a call that its caller does without hands no failure up', () => {
  const { radius, path } = readingOf({ names: 'ABCD', settings: OFF, calls: { B: 'failOpen: true' } });
  assert.equal(radius, 2);
  assert.deepEqual(path, ['B/get', 'C/get', 'D/get']);
});

test('what a client retries counts as a hop of its own', () => {
  const text = chain({ names: 'AB', settings: OFF }).replace(
    'rate: 10,',
    'rate: 10, retry: { attempts: 2, codes: [502] },',
  );
  const { radius, amplification, path } = stormReadings(sourceOf(text).topology, 'file')[0]!;
  assert.deepEqual([radius, amplification, path], [2, 6, ['client', 'A/get', 'B/get']]);
});

test('what a service answers to a request that may not be repeated is retried by legacy callers alone', () => {
  const amplificationOf = (participation: string): number => {
    const text = chain({ names: 'ABC', settings: OFF, services: { A: `participation: ${participation}` } });
    const posted = text.replace('B: { operations: { get: {', 'B: { operations: { get: { method: POST,');
    return stormReadings(sourceOf(posted).topology, 'file')[0]!.amplification;
  };
  assert.equal(amplificationOf('legacy'), 4);
  assert.equal(amplificationOf('cooperating'), 2);
});

test('with equal timeouts that nobody tells each other ownership does nothing, with ordered ones it does', () => {
  const settings = 'deadlines: { propagate: false }';
  const equal = readingOf({ names: 'ABCD', settings });
  assert.deepEqual([equal.radius, equal.amplification, equal.isByTimeouts], [3, 8, true]);
  const ordered = readingOf({
    names: 'ABCD',
    settings,
    calls: {
      A: 'timeouts: { request: 0s, backendRequest: 30s }',
      B: 'timeouts: { request: 20s, backendRequest: 8s }',
      C: 'timeouts: { request: 4s, backendRequest: 1s }',
    },
  });
  assert.deepEqual([ordered.radius, ordered.amplification, ordered.isByTimeouts], [1, 2, false]);
});

test('where each hop is told how much time is left, equal timeouts are in order by themselves', () => {
  assert.equal(readingOf({ names: 'ABCD', settings: 'deadlines: { propagate: true }' }).radius, 1);
});

test('budgets multiply along the path where everybody retries', () => {
  const { sustained } = readingOf({ names: 'ABCD', settings: OFF });
  assert.ok(Math.abs(sustained - 1.331) < 1e-9, String(sustained));
});

for (const [budget, expected] of [
  ['{ kind: none }', 3],
  ['{ kind: throttle, maxTokens: 10, tokenRatio: 0.5 }', 1.5],
  ['{ kind: token-bucket, percent: 30 }', 1.3],
  ['{ percent: 0 }', 1],
] as const) {
  test(`a budget of ${budget} lets through ${expected} for one`, () => {
    const { sustained } = readingOf({ names: 'AB', attempts: 2, calls: { A: `retryBudget: ${budget}` } });
    assert.equal(sustained, expected);
  });
}

test('the report has what ownership would change, and what it has changed', () => {
  const { roots } = lintText(chain({ names: 'ABCD' }));
  assert.deepEqual(
    roots.map(({ now, withoutOwnership, withOwnership }) => [
      now.radius,
      withoutOwnership.radius,
      withOwnership.radius,
    ]),
    [[1, 3, 1]],
  );
});

// Topologies of up to seven operations, each in a service of its own; calls lead from lower to higher numbers.
const CALL = fc.record({
  from: fc.nat(6),
  to: fc.nat(6),
  maxRetries: fc.integer({ min: 0, max: 2 }),
  codes: fc.constantFrom<readonly number[]>([], [503], [500, 502]),
  slow: fc.boolean(),
  failOpen: fc.boolean(),
  seconds: fc.integer({ min: 1, max: 4 }),
});

type DrawnCall = typeof CALL extends fc.Arbitrary<infer Value> ? Value : never;

function toCall({ from, to, maxRetries, codes, slow, failOpen, seconds }: DrawnCall): TopologyCall {
  return {
    from,
    to,
    probability: 1,
    timeouts: { requestMs: 1000 * seconds, attemptMs: 500 * seconds },
    policy: createRetryPolicy({ maxRetries, codes, on: slow ? ['unsent', 'timeout'] : ['unsent'] }),
    budget: { kind: 'ratio', percent: 20 },
    maxInflightRequests: Infinity,
    breaker: undefined,
    edge: failOpen ? 'fail-open' : 'fail-closed',
  };
}

const TOPOLOGY = fc
  .record({
    calls: fc.array(CALL, { maxLength: 12 }),
    kinds: fc.array(fc.constantFrom('cooperating', 'context-broken', 'legacy'), { minLength: 7, maxLength: 7 }),
    methods: fc.array(fc.constantFrom('GET', 'POST'), { minLength: 7, maxLength: 7 }),
    propagate: fc.boolean(),
    ownership: fc.constantFrom('off', 'enforce'),
  })
  .map(({ calls, kinds, methods, propagate, ownership }): Topology => {
    const down = calls.filter(({ from, to }) => from < to);
    const capacity = { workerCount: Infinity, queue: 'fifo', queueLimit: Infinity, blocking: false } as const;
    const root = { ...toCall({ from: 0, to: 0, maxRetries: 0, codes: [], slow: false, failOpen: false, seconds: 4 }) };
    return {
      services: kinds.map((participation, index) => ({ name: `s${index}`, participation, instanceCount: 1, capacity })),
      operations: methods.map((method, index) => ({
        name: `s${index}/get`,
        service: index,
        method,
        keyed: false,
        serviceTime: { kind: 'constant', ms: 1 },
        errorRatio: 0,
        steps: down.flatMap(({ from }, call) => (from === index ? [[call]] : [])),
      })),
      calls: [...down.map(toCall), { ...root, from: undefined }],
      roots: [{ operation: 0, call: down.length, ratePerSecond: 1, arrivals: 'poisson', fromMs: 0, untilMs: Infinity }],
      faults: [],
      durationMs: 1000,
      seed: 1,
      deadlines: { propagate, marginMs: 10, dropExpired: true },
      ownership,
      tellsLineage: false,
    };
  });

const VIEWS = ['file', 'retries', 'ownership'] as const;

test('ownership never makes a radius larger, nor an amplification', () => {
  fc.assert(
    fc.property(TOPOLOGY, (topology) => {
      const [file, retries, ownership] = VIEWS.map((view) => stormReadings(topology, view)[0]!);
      for (const reading of [file!, ownership!]) {
        assert.ok(reading.radius <= retries!.radius);
        assert.ok(reading.amplification <= retries!.amplification);
        assert.ok(reading.sustained <= retries!.sustained + 1e-9);
      }
    }),
  );
});

test('one more call that retries never makes a radius smaller', () => {
  fc.assert(
    fc.property(TOPOLOGY, CALL, (topology, drawn) => {
      fc.pre(drawn.from < drawn.to);
      const more: Topology = {
        ...topology,
        calls: [...topology.calls, toCall({ ...drawn, maxRetries: 1 })],
        operations: topology.operations.map((operation, index) =>
          index === drawn.from
            ? Object.assign({}, operation, { steps: [...operation.steps, [topology.calls.length]] })
            : operation,
        ),
      };
      for (const view of VIEWS)
        assert.ok(stormReadings(more, view)[0]!.radius >= stormReadings(topology, view)[0]!.radius, view);
    }),
  );
});

test('a call that begins to retry never makes a radius smaller', () => {
  fc.assert(
    fc.property(TOPOLOGY, fc.nat(), (topology, which) => {
      const index = which % topology.calls.length;
      const begun = (call: TopologyCall): TopologyCall => ({
        ...call,
        policy: createRetryPolicy({ maxRetries: 1, codes: [500], on: ['unsent', 'timeout'] }),
      });
      const calls = topology.calls.map((call, at) => (at === index ? begun(call) : call));
      fc.pre(topology.calls[index]!.policy.maxRetries === 0);
      for (const view of VIEWS)
        assert.ok(stormReadings({ ...topology, calls }, view)[0]!.radius >= stormReadings(topology, view)[0]!.radius);
    }),
  );
});

test('a radius is never larger than the longest call path, and an amplification never beyond its retries', () => {
  fc.assert(
    fc.property(TOPOLOGY, (topology) => {
      for (const view of VIEWS) {
        const { radius, path, amplification } = stormReadings(topology, view)[0]!;
        assert.ok(radius <= path.length - 1 || radius === 0);
        assert.ok(amplification <= 3 ** 6);
        assert.ok(amplification >= 2 ** radius || radius === 0);
      }
    }),
  );
});
