import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createDependencyMemory } from '../../../src/core/ownership/dependency-memory.ts';
import type { DependencySnapshot, DependencySnapshotEdge } from '../../../src/core/ownership/dependency-snapshot.ts';
import type { Outbound } from '../../../src/core/ownership/outbound.ts';

const DAY_MS = 24 * 60 * 60_000;
const WALL_MS = 1_790_000_000_000;

const EDGE: DependencySnapshotEdge = {
  inbound: 'in',
  callee: 'db',
  edge: 'fail-closed',
  n11: 40,
  n10: 1,
  n01: 0,
  n00: 100,
};
const SNAPSHOT: DependencySnapshot = { version: 1, takenAtMs: WALL_MS, edges: [EDGE] };

function call(failed: boolean): Outbound {
  const outcomeClass = failed ? 'server' : 'ok';
  return {
    operation: 'db',
    edge: 'unknown',
    startedAtMs: 0,
    ending: { atMs: 0, outcomeClass, claim: undefined, handled: false, effect: undefined },
    covered: false,
    causal: false,
  };
}

test('what a memory knows goes through JSON into the next one', () => {
  const first = createDependencyMemory();
  for (let request = 0; request < 50; request += 1) first.learn('in', 'ok', [call(false)], 0);
  for (let request = 0; request < 13; request += 1) first.learn('in', 'server', [call(true)], 0);
  const data: unknown = JSON.parse(JSON.stringify(first.snapshot(0, WALL_MS)));
  assert.deepEqual(data, {
    version: 1,
    takenAtMs: WALL_MS,
    edges: [{ inbound: 'in', callee: 'db', edge: 'fail-closed', n11: 13, n10: 0, n01: 0, n00: 50 }],
  });

  const second = createDependencyMemory();
  assert.equal(second.restore(data, 77, WALL_MS), undefined);
  assert.equal(second.edgeClass('in', 'db', 77), 'fail-closed');
  assert.deepEqual(second.snapshot(77, WALL_MS), data);
});

test('weights are written with three digits after the point', () => {
  const memory = createDependencyMemory();
  memory.restore({ ...SNAPSHOT, edges: [{ ...EDGE, n11: 1.234567 }] }, 0, WALL_MS);
  assert.equal(memory.snapshot(0, WALL_MS).edges[0]?.n11, 1.235);
});

test('a snapshot has faded by the time since it was taken, but its verdicts stand', () => {
  const memory = createDependencyMemory();
  memory.restore(SNAPSHOT, 5, WALL_MS + DAY_MS);
  assert.deepEqual(memory.reading('in', 'db', 5)?.tally, { n11: 20, n10: 0.5, n01: 0, n00: 50 });
  const late = createDependencyMemory();
  late.restore(SNAPSHOT, 5, WALL_MS + 100 * DAY_MS);
  assert.equal(late.edgeClass('in', 'db', 5), 'fail-closed');
});

test('each class of an edge is taken over', () => {
  for (const edge of ['fail-closed', 'fail-open', 'unknown'] as const) {
    const memory = createDependencyMemory();
    assert.equal(
      memory.restore({ ...SNAPSHOT, edges: [{ ...EDGE, edge, n11: 0 }] }, 0, WALL_MS + 99 * DAY_MS),
      undefined,
    );
    assert.equal(memory.edgeClass('in', 'db', 0), edge);
  }
});

test('a snapshot from the future is taken as of now', () => {
  const memory = createDependencyMemory();
  memory.restore(SNAPSHOT, 0, WALL_MS - DAY_MS);
  assert.equal(memory.reading('in', 'db', 0)?.tally.n11, 40);
});

test('what a process has seen itself wins over a snapshot that comes late, and is forgotten after it', () => {
  const memory = createDependencyMemory({ maxEdgeCount: 2 });
  memory.learn('in', 'server', [call(true)], 0);
  const other = { ...EDGE, callee: 'cache' };
  assert.equal(memory.restore({ ...SNAPSHOT, edges: [other, { ...EDGE, inbound: 'x' }, EDGE] }, 0, WALL_MS), undefined);
  assert.equal(memory.edgeCount, 2);
  assert.equal(memory.reading('in', 'db', 0)?.tally.n11, 1);
  assert.equal(memory.reading('in', 'cache', 0), undefined);
  assert.notEqual(memory.reading('x', 'db', 0), undefined);
});

test('of a snapshot with too many edges the ones used last are taken', () => {
  const edges = Array.from({ length: 10 }, (_, index) => ({ ...EDGE, callee: `c${String(index)}` }));
  const memory = createDependencyMemory({ maxEdgeCount: 3 });
  assert.equal(memory.restore({ ...SNAPSHOT, edges }, 0, WALL_MS), undefined);
  assert.deepEqual(
    memory.snapshot(0, WALL_MS).edges.map(({ callee }) => callee),
    ['c7', 'c8', 'c9'],
  );
});

test('a declared edge wins over a restored one', () => {
  const memory = createDependencyMemory({ declared: [{ inbound: 'in', callee: 'db', edge: 'fail-open' }] });
  memory.restore(SNAPSHOT, 0, WALL_MS);
  assert.equal(memory.edgeClass('in', 'db', 0), 'fail-open');
});

for (const [name, data, expected] of [
  ['nothing', undefined, /not an object/],
  ['a null', null, /not an object/],
  ['a list', [], /not an object/],
  ['a text', 'version 1', /not an object/],
  ['another version', { ...SNAPSHOT, version: 2 }, /version is 2; this release reads version 1/],
  ['no version', { edges: [] }, /version is undefined/],
  ['a time that is none', { ...SNAPSHOT, takenAtMs: 'today' }, /takenAtMs/],
  ['a time before time', { ...SNAPSHOT, takenAtMs: -1 }, /takenAtMs/],
  ['a time that is not a number', { ...SNAPSHOT, takenAtMs: NaN }, /takenAtMs/],
  ['edges that are no list', { ...SNAPSHOT, edges: {} }, /edges are not a list/],
  ['an edge that is no object', { ...SNAPSHOT, edges: [EDGE, 5] }, /edges\[1\]: it is not an object/],
  ['an edge without a caller', { ...SNAPSHOT, edges: [{ ...EDGE, inbound: '' }] }, /edges\[0\]: inbound is not a text/],
  ['a long name', { ...SNAPSHOT, edges: [{ ...EDGE, callee: 'x'.repeat(201) }] }, /callee is not a text of 1 to 200/],
  ['an unknown class', { ...SNAPSHOT, edges: [{ ...EDGE, edge: 'ajar' }] }, /edge is none of fail-closed/],
  ['a weight below nothing', { ...SNAPSHOT, edges: [{ ...EDGE, n10: -1 }] }, /not all numbers from 0/],
  ['a weight beyond measure', { ...SNAPSHOT, edges: [{ ...EDGE, n01: 1e7 }] }, /not all numbers from 0 to 1000000/],
  ['a weight that is a text', { ...SNAPSHOT, edges: [{ ...EDGE, n11: '4' }] }, /not all numbers/],
  ['a weight that is missing', { ...SNAPSHOT, edges: [{ ...EDGE, n00: undefined }] }, /not all numbers/],
] as const) {
  test(`${name} in place of a snapshot is refused in words, and nothing of it is taken`, () => {
    const memory = createDependencyMemory();
    memory.learn('in', 'server', [call(true)], 0);
    assert.match(memory.restore(data, 0, WALL_MS) ?? 'taken', expected);
    assert.equal(memory.edgeCount, 1);
  });
}

test('no data whatever makes a memory throw, and what it takes it can give back', () => {
  const edge = fc.record({
    inbound: fc.oneof(fc.string({ maxLength: 5 }), fc.anything()),
    callee: fc.string({ maxLength: 5 }),
    edge: fc.constantFrom('fail-closed', 'fail-open', 'unknown', 'x'),
    n11: fc.oneof(fc.double({ min: 0, max: 100 }), fc.anything()),
    n10: fc.double(),
    n01: fc.nat(9),
    n00: fc.nat(9),
  });
  const almost = fc.record({ version: fc.constant(1), takenAtMs: fc.nat(), edges: fc.array(edge, { maxLength: 4 }) });
  fc.assert(
    fc.property(fc.oneof(almost, fc.anything()), (data) => {
      const memory = createDependencyMemory({ maxEdgeCount: 3 });
      const fault = memory.restore(data, 0, 0);
      assert.ok(fault === undefined || fault.length > 0);
      assert.ok(memory.edgeCount <= 3);
      assert.equal(createDependencyMemory().restore(memory.snapshot(0, 0), 0, 0), undefined);
    }),
    { numRuns: 500 },
  );
});
