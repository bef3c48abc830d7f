import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OutcomeClass } from '../../../src/core/classify.ts';
import { attribute } from '../../../src/core/ownership/attribute.ts';
import {
  createDependencyMemory,
  type DependencyMemory,
  type DependencyMemoryOptions,
} from '../../../src/core/ownership/dependency-memory.ts';
import type { Outbound } from '../../../src/core/ownership/outbound.ts';
import { PLAIN_ANSWER } from './chain.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

function call(operation: string, outcomeClass: OutcomeClass, changes: Partial<Outbound> = {}): Outbound {
  return {
    operation,
    edge: 'unknown',
    startedAtMs: 0,
    ending: { atMs: 0, outcomeClass, claim: undefined, handled: true, effect: undefined },
    covered: false,
    causal: false,
    ...changes,
  };
}

/** A memory of one operation, `in`, and one callee, `db`, taught in requests. */
function lesson(options: DependencyMemoryOptions = {}): {
  memory: DependencyMemory;
  teach(calleeFailed: boolean, callerFailed: boolean, atMs: number, count?: number): void;
  edge(atMs: number): string;
} {
  const memory = createDependencyMemory(options);
  return {
    memory,
    teach(calleeFailed, callerFailed, atMs, count = 1) {
      for (let request = 0; request < count; request += 1) {
        memory.learn('in', callerFailed ? 'server' : 'ok', [call('db', calleeFailed ? 'server' : 'ok')], atMs);
      }
    },
    edge: (atMs) => memory.edgeClass('in', 'db', atMs),
  };
}

/** Uniform in [0, 1), the same in each run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test('an edge that was never seen is unknown', () => {
  const { memory, edge } = lesson();
  assert.equal(edge(0), 'unknown');
  assert.equal(memory.reading('in', 'db', 0), undefined);
  assert.equal(memory.edgeCount, 0);
});

test('good days alone teach nothing about what a failure would do', () => {
  const { teach, edge } = lesson();
  for (let minute = 0; minute < 100; minute += 1) teach(false, false, minute * MINUTE_MS, 10);
  assert.equal(edge(100 * MINUTE_MS), 'unknown');
});

test('13 clean co-failures are enough, 8 are not', () => {
  const { teach, edge } = lesson();
  teach(false, false, 0, 100);
  teach(true, true, 1, 8);
  assert.equal(edge(2), 'unknown');
  teach(true, true, 2, 5);
  assert.equal(edge(3), 'fail-closed');
});

test('13 clean co-failures spread over six hours are enough', () => {
  const { teach, edge } = lesson();
  for (let count = 0; count < 13; count += 1) {
    teach(false, false, count * 28 * MINUTE_MS, 50);
    teach(true, true, count * 28 * MINUTE_MS);
  }
  assert.equal(edge(6 * 60 * MINUTE_MS), 'fail-closed');
});

test('as many failures that the caller survived make it fail-open', () => {
  const { teach, edge } = lesson();
  teach(false, false, 0, 100);
  teach(true, false, 1, 13);
  assert.equal(edge(2), 'fail-open');
});

test('co-failures with no good call beside them prove nothing', () => {
  const { teach, edge } = lesson();
  teach(true, true, 0, 100);
  assert.equal(edge(0), 'unknown');
});

test('a good minute is the control of the outage that follows it, once', () => {
  const { memory, teach } = lesson();
  teach(false, false, 0, 1000);
  for (let minute = 1; minute <= 60; minute += 1) teach(true, true, minute * MINUTE_MS, 100);
  const { tally, edge } = memory.reading('in', 'db', 60 * MINUTE_MS)!;
  assert.equal(edge, 'fail-closed');
  assert.ok(tally.n00 <= 52 && tally.n00 > 50, String(tally.n00));
  assert.ok(tally.n11 > 700, String(tally.n11));
});

test('a partial dependency stays unknown', () => {
  const { teach, edge } = lesson();
  for (let minute = 0; minute < 60; minute += 1) {
    teach(false, false, minute * MINUTE_MS, 20);
    teach(true, true, minute * MINUTE_MS, 2);
    teach(true, false, minute * MINUTE_MS, 2);
  }
  assert.equal(edge(60 * MINUTE_MS), 'unknown');
});

test('a caller that is down 90 % of the time does not turn a fail-open dependency fail-closed', () => {
  const { teach, edge, memory } = lesson();
  const random = randomFrom(1);
  for (let minute = 0; minute < 600; minute += 1) {
    for (let request = 0; request < 50; request += 1) teach(random() < 0.1, random() < 0.9, minute * MINUTE_MS);
  }
  assert.notEqual(edge(600 * MINUTE_MS), 'fail-closed');
  const { tally, power } = memory.reading('in', 'db', 600 * MINUTE_MS)!;
  const conditional = tally.n11 / (tally.n11 + tally.n10);
  assert.ok(conditional > 0.85, 'the bare conditional probability would have called it fail-closed');
  assert.ok(power.lower < 0.1, String(power.lower));
});

test('nor does it when months without a fault of the caller went before', () => {
  const { teach, edge } = lesson();
  const random = randomFrom(2);
  for (let minute = 0; minute < 2000; minute += 1) teach(false, false, minute * MINUTE_MS, 20);
  for (let minute = 2000; minute < 2300; minute += 1) {
    for (let request = 0; request < 50; request += 1) teach(random() < 0.1, random() < 0.9, minute * MINUTE_MS);
  }
  assert.notEqual(edge(2300 * MINUTE_MS), 'fail-closed');
});

test('a fail-closed dependency is found behind a caller that also fails by itself', () => {
  const { teach, edge } = lesson();
  const random = randomFrom(3);
  for (let minute = 0; minute < 60; minute += 1) {
    for (let request = 0; request < 20; request += 1) {
      const calleeFailed = random() < 0.1;
      teach(calleeFailed, calleeFailed || random() < 0.1, minute * MINUTE_MS);
    }
  }
  assert.equal(edge(60 * MINUTE_MS), 'fail-closed');
});

test('an incident of minutes does not overwrite months', () => {
  const { teach, edge } = lesson();
  const months = 60 * 24 * 60;
  for (let minute = 0; minute < months; minute += 10) {
    teach(false, false, minute * MINUTE_MS, 5);
    teach(true, false, minute * MINUTE_MS, 10);
  }
  assert.equal(edge(months * MINUTE_MS), 'fail-open');
  for (let minute = months; minute < months + 15; minute += 1) {
    teach(false, false, minute * MINUTE_MS, 10);
    teach(true, true, minute * MINUTE_MS, 5000);
  }
  assert.equal(edge((months + 15) * MINUTE_MS), 'fail-open');
});

test('a dependency that has changed for good is found out within a day', () => {
  const { teach, edge } = lesson();
  for (let minute = 0; minute < 3000; minute += 1) {
    teach(false, false, minute * MINUTE_MS, 5);
    teach(true, false, minute * MINUTE_MS);
  }
  assert.equal(edge(3000 * MINUTE_MS), 'fail-open');
  let minute = 3000;
  while (edge(minute * MINUTE_MS) !== 'fail-closed' && minute < 9000) {
    minute += 1;
    teach(false, false, minute * MINUTE_MS, 5);
    teach(true, true, minute * MINUTE_MS, 20);
  }
  assert.ok(minute - 3000 < 24 * 60, `${String(minute - 3000)} minutes`);
});

test('a minute adds at most 13 failed calls, in the proportion of all of them', () => {
  const { memory, teach } = lesson();
  teach(false, true, 0, 100);
  teach(false, false, 0, 300);
  teach(true, true, 0, 750);
  teach(true, false, 0, 250);
  const { tally } = memory.reading('in', 'db', 0)!;
  assert.deepEqual(tally, { n11: 9.75, n10: 3.25, n01: 13, n00: 39 });
});

test('what was seen counts half after a day', () => {
  const { memory, teach } = lesson();
  teach(false, false, 0, 8);
  teach(true, true, 0, 4);
  const { tally } = memory.reading('in', 'db', DAY_MS)!;
  assert.deepEqual(tally, { n11: 2, n10: 0, n01: 0, n00: 4 });
});

test('a verdict does not fade with its evidence, but falls to evidence against it', () => {
  const { teach, edge } = lesson();
  teach(false, false, 0, 100);
  teach(true, true, 0, 13);
  assert.equal(edge(0), 'fail-closed');
  assert.equal(edge(60 * DAY_MS), 'fail-closed');
  teach(false, false, 60 * DAY_MS, 10);
  teach(true, false, 60 * DAY_MS, 6);
  assert.notEqual(edge(60 * DAY_MS), 'fail-closed');
});

test('a verdict that was reached while nobody asked stands', () => {
  const { teach, edge } = lesson();
  teach(false, false, 0, 100);
  teach(true, true, 0, 13);
  teach(false, false, 30 * DAY_MS, 1);
  assert.equal(edge(30 * DAY_MS), 'fail-closed');
});

test('a verdict ends later than it would begin', () => {
  const { teach, edge, memory } = lesson();
  teach(false, false, 0, 100);
  teach(true, false, 0, 13);
  assert.equal(edge(0), 'fail-open');
  teach(false, false, MINUTE_MS, 100);
  teach(true, true, MINUTE_MS, 2);
  const { power } = memory.reading('in', 'db', MINUTE_MS)!;
  assert.ok(power.upper > 0.2, 'from nothing it would not be called fail-open');
  assert.equal(edge(MINUTE_MS), 'fail-open');
  teach(true, true, 2 * MINUTE_MS, 13);
  assert.equal(edge(2 * MINUTE_MS), 'unknown');
});

test('a request in which two operations failed teaches nothing about either, nor about those that were well', () => {
  const memory = createDependencyMemory();
  memory.learn('in', 'server', [call('a', 'server'), call('b', 'timeout'), call('c', 'ok')], 0);
  assert.equal(memory.edgeCount, 0);
});

test('a request in which one operation failed teaches about that one alone', () => {
  const memory = createDependencyMemory();
  memory.learn('in', 'server', [call('a', 'ok'), call('b', 'timeout')], 0);
  assert.equal(memory.reading('in', 'a', 0), undefined);
  assert.deepEqual(memory.reading('in', 'b', 0)?.tally, { n11: 1, n10: 0, n01: 0, n00: 0 });
});

test('several calls of one operation count once, and fail when one of them did', () => {
  const memory = createDependencyMemory();
  memory.learn('in', 'ok', [call('a', 'server'), call('a', 'server'), call('a', 'ok', { startedAtMs: -1 })], 0);
  assert.deepEqual(memory.reading('in', 'a', 0)?.tally, { n11: 0, n10: 1, n01: 0, n00: 0 });
});

for (const [name, outbound] of [
  ['cancelled', call('a', 'cancelled')],
  ['still under way', call('a', 'server', { ending: undefined })],
  ['ended after the answer', call('a', 'server', { ending: { ...call('a', 'server').ending!, atMs: 1 } })],
  ['covered by a fallback', call('a', 'server', { covered: true })],
] as const) {
  test(`a call that is ${name} is left out`, () => {
    const memory = createDependencyMemory();
    memory.learn('in', 'server', [outbound], 0);
    assert.equal(memory.edgeCount, 0);
  });
}

test('a superseded call is left out, and the one that made up for it counts', () => {
  const memory = createDependencyMemory();
  memory.learn('in', 'ok', [call('a', 'server'), call('a', 'ok'), call('b', 'server')], 0);
  assert.equal(memory.reading('in', 'a', 0), undefined);
  assert.deepEqual(memory.reading('in', 'b', 0)?.tally, { n11: 0, n10: 1, n01: 0, n00: 0 });
});

test('a request that its client cancelled teaches nothing', () => {
  const memory = createDependencyMemory();
  memory.learn('in', 'cancelled', [call('a', 'server')], 0);
  assert.equal(memory.edgeCount, 0);
});

test("a callee's 404 is no failure, and an answer of 404 is none", () => {
  const memory = createDependencyMemory();
  memory.learn('in', 'client', [call('a', 'server')], 0);
  assert.equal(memory.reading('in', 'a', 0)?.tally.n10, 1);
  memory.learn('in', 'server', [call('b', 'client')], 0);
  memory.learn('in', 'server', [call('b', 'server')], 0);
  assert.equal(memory.reading('in', 'b', 0)?.tally.n01, 1);
});

test('what was declared wins over what was learned, which can still be read', () => {
  const { memory, teach, edge } = lesson({ declared: [{ inbound: 'in', callee: 'db', edge: 'fail-open' }] });
  teach(false, false, 0, 100);
  teach(true, true, 0, 13);
  assert.equal(edge(0), 'fail-open');
  assert.equal(memory.reading('in', 'db', 0)?.edge, 'fail-closed');
  assert.equal(memory.edgeClass('other', 'db', 0), 'unknown');
});

test('edges are kept apart by both names, whatever these contain', () => {
  const memory = createDependencyMemory({ declared: [{ inbound: 'a', callee: 'bc', edge: 'fail-open' }] });
  assert.equal(memory.edgeClass('ab', 'c', 0), 'unknown');
  assert.equal(memory.edgeClass('a', 'bc', 0), 'fail-open');
  for (const name of ['__proto__', 'constructor', 'toString']) {
    assert.equal(memory.edgeClass(name, name, 0), 'unknown');
    memory.learn(name, 'ok', [call(name, 'ok')], 0);
    assert.equal(memory.edgeClass(name, name, 0), 'unknown');
  }
  assert.equal(memory.edgeCount, 3);
});

test('beyond its size a memory forgets the edge that was used longest ago', () => {
  const memory = createDependencyMemory({ maxEdgeCount: 2 });
  memory.learn('in', 'ok', [call('a', 'ok')], 0);
  memory.learn('in', 'ok', [call('b', 'ok')], 0);
  memory.learn('in', 'ok', [call('a', 'ok')], 0);
  memory.learn('in', 'ok', [call('c', 'ok')], 0);
  assert.equal(memory.edgeCount, 2);
  assert.notEqual(memory.reading('in', 'a', 0), undefined);
  assert.equal(memory.reading('in', 'b', 0), undefined);
});

test('names that are empty or very long are not remembered', () => {
  const memory = createDependencyMemory();
  memory.learn('', 'ok', [call('a', 'ok')], 0);
  memory.learn('in', 'ok', [call('', 'ok'), call('x'.repeat(201), 'ok')], 0);
  assert.equal(memory.edgeCount, 0);
  memory.learn('in', 'ok', [call('x'.repeat(200), 'ok')], 0);
  assert.equal(memory.edgeCount, 1);
});

test('a clock that jumps back, or is none, counts nothing twice and loses nothing', () => {
  const { memory, teach } = lesson();
  teach(false, false, 10 * MINUTE_MS, 8);
  teach(true, true, 10 * MINUTE_MS, 4);
  memory.learn('in', 'server', [call('db', 'server')], 5 * MINUTE_MS);
  for (const nowMs of [0, -1e15, NaN, Infinity]) {
    assert.deepEqual(memory.reading('in', 'db', nowMs)?.tally, { n11: 5, n10: 0, n01: 0, n00: 8 });
  }
});

test('a size that is no whole number is refused in words', () => {
  assert.throws(() => createDependencyMemory({ maxEdgeCount: 0 }), /dependency memory: maxEdgeCount is 0/);
  assert.throws(() => createDependencyMemory({ maxEdgeCount: 1_000_001 }), RangeError);
});

/**
 * A fails by itself in 10 %, so do B and C, which it can do without: of 10 own errors of A, 1.9 fall together with one of theirs.
 */
function wrongRelays(memory: DependencyMemory | undefined, tenths: number): number {
  const edge = (callee: string): Outbound['edge'] => memory?.edgeClass('A', callee, 0) ?? 'unknown';
  let wrong = 0;
  let errors = 0;
  for (let b = 0; b < tenths; b += 1) {
    for (let c = 0; c < tenths; c += 1) {
      const outbounds = [
        call('B', b === 0 ? 'server' : 'ok', { edge: edge('B') }),
        call('C', c === 0 ? 'server' : 'ok', { edge: edge('C') }),
      ];
      errors += 1;
      if (attribute(PLAIN_ANSWER, outbounds)?.claim.claim === 'relayed') wrong += 1;
    }
  }
  return (10 * wrong) / errors;
}

test('without a memory, 1.9 of 10 own errors are wrongly given up at 10 % coincidence, and 0.396 at 2 %', () => {
  assert.ok(Math.abs(wrongRelays(undefined, 10) - 1.9) < 1e-9);
  assert.ok(Math.abs(wrongRelays(undefined, 50) - 0.396) < 1e-9);
});

test('a memory that lived through such coincidences gives up none', () => {
  const memory = createDependencyMemory();
  const random = randomFrom(4);
  for (let request = 0; request < 5000; request += 1) {
    const own = random() < 0.1 ? 'server' : 'ok';
    const outbounds = ['B', 'C'].map((callee) => call(callee, random() < 0.1 ? 'server' : 'ok'));
    memory.learn('A', own, outbounds, request * 100);
  }
  assert.equal(memory.edgeClass('A', 'B', 500_000), 'fail-open');
  assert.equal(memory.edgeClass('A', 'C', 500_000), 'fail-open');
  assert.equal(wrongRelays(memory, 10), 0);
});
