import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallGraph, Participation } from '../../../src/core/ownership/call-graph.ts';
import { stormRadius } from '../../../src/core/ownership/storm-radius.ts';

/** Edges as `from>to:retries`, one retry where nothing is said; services cooperate unless they are named otherwise. */
function graph(edges: string, kinds: Readonly<Record<string, Participation>> = {}): CallGraph {
  const parsed = edges.split(' ').map((text) => {
    const [, from, to, retries] = /^(\w+)>(\w+)(?::(-?[\d.]+))?$/.exec(text)!;
    return { from: from!, to: to!, maxRetries: retries === undefined ? 1 : Number(retries) };
  });
  const names = new Set(parsed.flatMap(({ from, to }) => [from, to]));
  return {
    nodes: Array.from(names, (name) => ({ name, participation: kinds[name] ?? 'cooperating' })),
    edges: parsed,
  };
}

function legacy(names: string): Record<string, Participation> {
  return Object.fromEntries([...names].map((name) => [name, 'legacy' as const]));
}

test('a root that calls nobody has a radius of 0', () => {
  assert.deepEqual(stormRadius({ nodes: [{ name: 'A', participation: 'legacy' }], edges: [] }, 'A'), {
    radius: 0,
    path: ['A'],
    amplification: 1,
    amplifiedPath: ['A'],
    sustained: 1,
    sustainedPath: ['A'],
  });
});

test('without ownership the radius is the depth, and the worst is every hop multiplied', () => {
  const found = stormRadius(graph('A>B A>E B>C C>D', legacy('ABCDE')), 'A');
  assert.deepEqual(found, {
    radius: 3,
    path: ['A', 'B', 'C', 'D'],
    amplification: 8,
    amplifiedPath: ['A', 'B', 'C', 'D'],
    sustained: 8,
    sustainedPath: ['A', 'B', 'C', 'D'],
  });
});

test('where all cooperate the radius is 1', () => {
  assert.equal(stormRadius(graph('A>B B>C C>D D>E'), 'A').radius, 1);
});

test('a service that lost its context adds one', () => {
  assert.equal(stormRadius(graph('A>B B>C C>D', { C: 'context-broken' }), 'A').radius, 2);
});

test('a radius of 25 without ownership is 3 with two services that lost their context', () => {
  const names = Array.from({ length: 26 }, (_, index) => `s${String(index)}`);
  const edges = names.slice(1).map((to, index) => `${names[index]!}>${to}`);
  const before = graph(edges.join(' '), Object.fromEntries(names.map((name) => [name, 'legacy' as const])));
  assert.equal(stormRadius(before, 's0').radius, 25);
  const after = graph(edges.join(' '), { s8: 'context-broken', s17: 'context-broken' });
  assert.equal(stormRadius(after, 's0').radius, 3);
});

test('the most retrying edges and the most requests may lie on different paths', () => {
  const found = stormRadius(graph('A>B B>C C>D A>X:9', legacy('ABCDX')), 'A');
  assert.equal(found.radius, 3);
  assert.deepEqual(found.path, ['A', 'B', 'C', 'D']);
  assert.equal(found.amplification, 10);
  assert.deepEqual(found.amplifiedPath, ['A', 'X']);
});

test('the service that fails may be one in the middle of a path', () => {
  // B's failure is retried by A; C's is not retried at all, for nobody has a policy that far down... but A keeps one.
  const found = stormRadius(graph('A>B:4 B>C'), 'A');
  assert.deepEqual(found.amplifiedPath, ['A', 'B']);
  assert.equal(found.amplification, 5);
});

test('an edge without a policy hands the retry to the one above it', () => {
  const found = stormRadius(graph('A>B:2 B>C:0 C>D:0'), 'A');
  assert.equal(found.radius, 1);
  assert.equal(found.amplification, 3);
});

test('a path that is worse below is not taken where it ends in silence above', () => {
  // Over C the edges below make 6, but B relays that and A does not retry; over D it makes 2 here and 4 above.
  const found = stormRadius(graph('A>B:3 B>C:5 B>D:0', { B: 'cooperating' }), 'A');
  assert.equal(found.amplification, 6);
  assert.deepEqual(found.amplifiedPath, ['A', 'B', 'C']);
  const legacyRoot = stormRadius(graph('A>B:3 B>C:5 B>D:0', { A: 'legacy' }), 'A');
  assert.equal(legacyRoot.amplification, 24);
});

test('of two equally bad paths the one that was drawn first is named', () => {
  assert.deepEqual(stormRadius(graph('A>C A>B'), 'A').path, ['A', 'C']);
});

test('only what lies below the root counts', () => {
  const whole = graph('A>B B>C C>D', legacy('ABCD'));
  assert.equal(stormRadius(whole, 'C').radius, 1);
  assert.equal(stormRadius(whole, 'D').radius, 0);
});

test('a diamond of many layers is measured without walking each of its paths', () => {
  const edges = [];
  for (let layer = 0; layer < 60; layer += 1) {
    for (const from of ['a', 'b'])
      for (const to of ['a', 'b']) edges.push(`${from}${String(layer)}>${to}${String(layer + 1)}`);
  }
  const names = new Set(edges.flatMap((edge) => edge.split('>')));
  const all = graph(edges.join(' '), Object.fromEntries(Array.from(names, (name) => [name, 'legacy' as const])));
  assert.equal(stormRadius(all, 'a0').radius, 60);
});

/** The graph with a budget on every edge. */
function budgeted({ nodes, edges }: CallGraph, retryShare: number): CallGraph {
  return { nodes, edges: edges.map((edge) => ({ ...edge, retryShare })) };
}

test('budgets that hold multiply as 1 + their share, edge by edge', () => {
  const found = stormRadius(budgeted(graph('A>B B>C C>D', legacy('ABCD')), 0.1), 'A');
  assert.equal(found.amplification, 8);
  assert.ok(Math.abs(found.sustained - 1.331) < 1e-12);
  assert.deepEqual(found.sustainedPath, ['A', 'B', 'C', 'D']);
  assert.ok(Math.abs(stormRadius(budgeted(graph('A>B B>C C>D'), 0.1), 'A').sustained - 1.1) < 1e-12);
});

test('a budget that lets more through than the policy allows adds nothing', () => {
  assert.equal(stormRadius(budgeted(graph('A>B:2'), 50), 'A').sustained, 3);
  assert.equal(stormRadius(budgeted(graph('A>B:0'), 50), 'A').sustained, 1);
});

for (const [name, drawn, root, expected] of [
  ['a share below nothing', budgeted(graph('A>B'), -0.1), 'A', /^call graph: retryShare of A to B is below 0/],
  [
    'a share that is no number',
    budgeted(graph('A>B'), Number.NaN),
    'A',
    /^call graph: retryShare of A to B is below 0/,
  ],
  ['a circle', graph('A>B B>C C>B'), 'A', /B -> C -> B is a circle/],
  ['a service that calls itself', graph('A>A'), 'A', /A -> A is a circle/],
  ['an unknown root', graph('A>B'), 'Z', /Z, the root, is not among the nodes/],
  ['a fraction of a retry', graph('A>B:1.5'), 'A', /^call graph: maxRetries of A to B is 1.5/],
  ['fewer retries than none', graph('A>B:-1'), 'A', /^call graph: maxRetries of A to B is -1/],
  [
    'an unknown callee',
    { nodes: [{ name: 'A', participation: 'legacy' }], edges: [{ from: 'A', to: 'B', maxRetries: 1 }] },
    'A',
    /B, the callee of A, is not among/,
  ],
  [
    'an unknown caller',
    { nodes: [{ name: 'A', participation: 'legacy' }], edges: [{ from: 'B', to: 'A', maxRetries: 1 }] },
    'A',
    /B, the caller of A, is not among/,
  ],
  [
    'a name twice',
    {
      nodes: [
        { name: 'A', participation: 'legacy' },
        { name: 'A', participation: 'cooperating' },
      ],
      edges: [],
    },
    'A',
    /A is named twice/,
  ],
] as const) {
  test(`${name} is refused in words`, () => {
    assert.throws(() => stormRadius(drawn, root), { name: 'RangeError', message: expected });
  });
}
