import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hasEndpoint, hasOtherEndpoint, pickEndpoint } from '../../src/core/pick-endpoint.ts';
import type { EndpointView, LoadBalancing } from '../../src/core/load-balancing.ts';
import { hashText } from '../../src/core/hash.ts';

interface Named extends EndpointView {
  readonly name: string;
}

function endpoint(name: string, changes: Partial<EndpointView> = {}): Named {
  return {
    name,
    hash: hashText(name),
    weight: 1,
    priority: 0,
    inflight: 0,
    available: true,
    excluded: false,
    ...changes,
  };
}

interface Choice {
  readonly tried?: readonly Named[];
  readonly random?: number;
  readonly cursor?: number;
  readonly keyHash?: number;
}

function pick(loadBalancing: LoadBalancing, endpoints: readonly Named[], choice: Choice = {}): string | undefined {
  return pickEndpoint(endpoints, { loadBalancing, tried: [], random: 0, cursor: 0, keyHash: 0, ...choice })?.name;
}

/** The choices of `count` cursors in a row, as one word. */
function turns(endpoints: readonly Named[], count: number): string {
  return Array.from({ length: count }, (_, cursor) => pick('round-robin', endpoints, { cursor })).join('');
}

/** How often each one is chosen over evenly spread random numbers. */
function shares(loadBalancing: LoadBalancing, endpoints: readonly Named[], draws = 1000): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let draw = 0; draw < draws; draw += 1) {
    const name = pick(loadBalancing, endpoints, { random: (draw + 0.5) / draws }) ?? 'none';
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const ALL: readonly LoadBalancing[] = ['least-request', 'round-robin', 'random', 'consistent-hash'];
const A = endpoint('a');
const B = endpoint('b');
const C = endpoint('c');

for (const loadBalancing of ALL) {
  test(`${loadBalancing}: nothing is chosen from nothing`, () => {
    assert.equal(pick(loadBalancing, []), undefined);
  });

  test(`${loadBalancing}: what is unavailable or has no weight is never chosen, not even when nothing else is left`, () => {
    const dead = [endpoint('a', { available: false }), endpoint('b', { weight: 0 })];
    assert.equal(pick(loadBalancing, dead), undefined);
    assert.equal(pick(loadBalancing, dead, { tried: dead }), undefined);
    for (const random of [0, 0.5, 0.99]) assert.equal(pick(loadBalancing, [...dead, C], { random }), 'c');
  });

  test(`${loadBalancing}: a tried endpoint is not chosen while there is another`, () => {
    for (let random = 0; random < 1; random += 0.1) {
      assert.equal(pick(loadBalancing, [A, B], { tried: [A], random, cursor: random * 10 }), 'b');
      assert.notEqual(pick(loadBalancing, [A, B, C], { tried: [B], random, cursor: random * 10 }), 'b');
    }
  });

  test(`${loadBalancing}: a single endpoint is chosen again and again`, () => {
    assert.equal(pick(loadBalancing, [A], { tried: [A] }), 'a');
    assert.equal(pick(loadBalancing, [A], { tried: [A, A, A] }), 'a');
  });

  test(`${loadBalancing}: when all were tried, the one tried longest ago is next`, () => {
    assert.equal(pick(loadBalancing, [A, B, C], { tried: [B, A, C] }), 'b');
    assert.equal(pick(loadBalancing, [A, B, C], { tried: [B, A, C, B] }), 'a');
    assert.equal(pick(loadBalancing, [A, B, C], { tried: [B, A, C, B, A] }), 'c');
  });

  test(`${loadBalancing}: four attempts on four endpoints meet each one`, () => {
    const endpoints = [A, B, C, endpoint('d')];
    const tried: Named[] = [];
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const choice = { loadBalancing, tried, random: 0.3, cursor: 0, keyHash: 7 };
      tried.push(pickEndpoint(endpoints, choice) as Named);
    }
    assert.equal(new Set(tried).size, 4);
  });

  test(`${loadBalancing}: an excluded endpoint is avoided, and chosen rather than one this request has tried`, () => {
    const excluded = endpoint('x', { excluded: true });
    for (const random of [0, 0.5, 0.99]) assert.equal(pick(loadBalancing, [excluded, A], { random, cursor: 0 }), 'a');
    assert.equal(pick(loadBalancing, [excluded, A], { tried: [A] }), 'x');
    assert.equal(pick(loadBalancing, [excluded]), 'x');
    assert.equal(pick(loadBalancing, [excluded], { tried: [excluded] }), 'x');
  });

  test(`${loadBalancing}: a lower tier is used before a higher one, wherever it stands in the list`, () => {
    const spare = endpoint('s', { priority: 1 });
    const last = endpoint('l', { priority: 7 });
    for (const random of [0, 0.5, 0.99]) {
      assert.equal(pick(loadBalancing, [last, spare, A], { random }), 'a');
      assert.equal(pick(loadBalancing, [A, last, spare], { random }), 'a');
    }
    assert.equal(pick(loadBalancing, [last, spare, A], { tried: [A] }), 's');
    assert.equal(pick(loadBalancing, [last, spare, A], { tried: [A, spare] }), 'l');
    assert.equal(pick(loadBalancing, [last, spare, endpoint('a', { available: false })]), 's');
    assert.equal(pick(loadBalancing, [last, spare, endpoint('a', { excluded: true })]), 's');
  });

  test(`${loadBalancing}: endpoints that have left the list are not chosen`, () => {
    assert.equal(pick(loadBalancing, [B], { tried: [A] }), 'b');
    assert.equal(pick(loadBalancing, [B], { tried: [A, B] }), 'b');
  });

  test(`${loadBalancing}: a choice is made exactly when there is one, and it is usable, preferably untried`, () => {
    const views = fc.array(
      fc.record({
        weight: fc.nat(5),
        priority: fc.nat(2),
        domain: fc.constantFrom(undefined, 'x', 'y'),
        hash: fc.nat(),
        inflight: fc.nat(10),
        available: fc.boolean(),
        excluded: fc.boolean(),
      }),
      { maxLength: 6 },
    );
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        views,
        fc.array(fc.nat(5), { maxLength: 8 }),
        random,
        fc.nat(1_000_000),
        (endpoints, order, draw, cursor) => {
          const tried = order.flatMap((index) => endpoints[index] ?? []);
          const chosen = pickEndpoint(endpoints, { loadBalancing, tried, random: draw, cursor, keyHash: cursor });
          assert.equal(chosen !== undefined, hasEndpoint(endpoints));
          if (chosen === undefined) return;
          assert.ok(endpoints.includes(chosen) && chosen.available && chosen.weight > 0);
          assert.equal(!tried.includes(chosen), hasOtherEndpoint(endpoints, tried));
          const better = endpoints.filter(
            (view) => view.available && view.weight > 0 && !view.excluded && !tried.includes(view),
          );
          if (better.length > 0) {
            assert.ok(better.includes(chosen));
            assert.equal(chosen.priority, Math.min(...better.map((view) => view.priority)));
          }
        },
      ),
    );
  });
}

test('round-robin takes turns in the order of the list', () => {
  assert.equal(turns([A, B, C], 7), 'abcabca');
});

test('round-robin follows weights in rounds', () => {
  assert.equal(turns([endpoint('a', { weight: 3 }), B, endpoint('c', { weight: 2 })], 12), 'abcacaabcaca');
  assert.equal(turns([endpoint('a', { weight: 2 }), endpoint('b', { weight: 2 })], 4), 'abab');
  assert.equal(turns([B, endpoint('a', { weight: 4 })], 10), 'baaaabaaaa');
});

test('round-robin with a weight of a million is as fast and as fair as with a small one', () => {
  const endpoints = [endpoint('a', { weight: 1_000_000 }), endpoint('b', { weight: 500_000 })];
  assert.equal(pick('round-robin', endpoints, { cursor: 999_998 }), 'a');
  assert.equal(pick('round-robin', endpoints, { cursor: 999_999 }), 'b');
  assert.equal(pick('round-robin', endpoints, { cursor: 1_000_000 }), 'a');
  assert.equal(pick('round-robin', endpoints, { cursor: 1_000_001 }), 'a');
  assert.equal(pick('round-robin', endpoints, { cursor: 1_499_999 }), 'a');
  assert.equal(pick('round-robin', endpoints, { cursor: 1_500_001 }), 'b');
});

test('round-robin gives each one exactly its weight in a full turn', () => {
  const weights = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(weights, (given) => {
      const endpoints = given.map((weight, index) => endpoint(String(index), { weight }));
      const total = given.reduce((sum, weight) => sum + weight, 0);
      const names = turns(endpoints, total);
      given.forEach((weight, index) => assert.equal(names.split(String(index)).length - 1, weight));
    }),
  );
});

test('random follows weights', () => {
  assert.deepEqual(shares('random', [A, endpoint('b', { weight: 3 }), C]), { a: 200, b: 600, c: 200 });
});

test('random gives an endpoint for a number just below 1, and for one that is out of range', () => {
  assert.equal(pick('random', [A, B], { random: 1 - Number.EPSILON / 2 }), 'b');
  assert.equal(pick('random', [A, B], { random: 0.5 }), 'b');
  assert.equal(pick('random', [A, B], { random: 1 }), 'b');
  assert.equal(pick('random', [A, B], { random: NaN }), 'b');
});

test('least-request takes the less loaded of two, whichever is drawn first', () => {
  const busy = endpoint('busy', { inflight: 5 });
  const idle = endpoint('idle', { inflight: 4 });
  assert.deepEqual(shares('least-request', [busy, idle]), { idle: 1000 });
  assert.deepEqual(shares('least-request', [idle, busy]), { idle: 1000 });
});

test('least-request spreads equal loads evenly', () => {
  assert.deepEqual(shares('least-request', [A, B]), { a: 500, b: 500 });
});

test('least-request draws two different ones, so that the busiest of three is never chosen', () => {
  const busiest = endpoint('z', { inflight: 9 });
  const middle = endpoint('m', { inflight: 5 });
  const idle = endpoint('i', { inflight: 1 });
  assert.deepEqual(shares('least-request', [busiest, middle, idle], 6000), { i: 4000, m: 2000 });
});

test('least-request draws the second one evenly after a first of any weight', () => {
  const heavy = endpoint('h', { weight: 2, inflight: 9 });
  assert.deepEqual(shares('least-request', [heavy, A, B]), { a: 500, b: 500 });
});

test('least-request measures load by weight, and idle endpoints share by weight', () => {
  const big = endpoint('big', { weight: 3, inflight: 5 });
  const small = endpoint('small', { weight: 1, inflight: 2 });
  assert.deepEqual(shares('least-request', [big, small]), { big: 1000 });
  assert.deepEqual(shares('least-request', [endpoint('big', { weight: 3 }), endpoint('small')]), {
    big: 750,
    small: 250,
  });
});

test('a retry goes to a failure domain that was not tried, within the tier and among the untried', () => {
  const a1 = endpoint('a1', { domain: 'a' });
  const a2 = endpoint('a2', { domain: 'a' });
  const b1 = endpoint('b1', { domain: 'b' });
  const unknown = endpoint('u');
  for (const random of [0, 0.4, 0.99]) {
    assert.equal(pick('random', [a1, a2, b1], { tried: [a1], random }), 'b1');
    assert.equal(pick('random', [a1, a2, unknown], { tried: [a1], random }), 'u');
    assert.equal(pick('random', [a1, a2, b1], { tried: [a1, b1], random }), 'a2');
    assert.notEqual(pick('random', [unknown, endpoint('v'), a1], { tried: [unknown], random }), 'u');
  }
  const later = endpoint('b2', { domain: 'b', priority: 1 });
  assert.equal(pick('random', [a1, a2, later], { tried: [a1] }), 'a2');
  assert.deepEqual(shares('random', [a1, a2, b1], 300), { a1: 100, a2: 100, b1: 100 });
});

test('a domain that is not known is no domain that others could be in', () => {
  const [u, v] = [endpoint('u'), endpoint('v')];
  assert.equal(pick('round-robin', [u, v, endpoint('a', { domain: 'a' })], { tried: [u], cursor: 0 }), 'v');
});

/** Where the keys 0, 1, … go. */
function homes(endpoints: readonly Named[], keys: number): (string | undefined)[] {
  return Array.from({ length: keys }, (_, key) =>
    pick('consistent-hash', endpoints, { keyHash: hashText(`key ${key}`) }),
  );
}

test('consistent-hash sends a key to the same endpoint, wherever that stands in the list and whatever the load', () => {
  const busy = [C, endpoint('a', { inflight: 99 }), B];
  assert.deepEqual(homes([A, B, C], 200), homes(busy, 200));
});

test('consistent-hash gives each endpoint its share by weight', () => {
  const count = (list: readonly (string | undefined)[], name: string): number =>
    list.filter((one) => one === name).length;
  const even = homes([A, B, C], 6000);
  for (const name of ['a', 'b', 'c'])
    assert.ok(Math.abs(count(even, name) - 2000) < 200, `${name}: ${count(even, name)}`);
  const weighted = homes([A, endpoint('b', { weight: 3 })], 4000);
  assert.ok(Math.abs(count(weighted, 'b') - 3000) < 200, `b: ${count(weighted, 'b')}`);
});

test('consistent-hash moves no key but those of the endpoint that goes, and back when it comes again', () => {
  const before = homes([A, B, C], 1000);
  const without = homes([A, C], 1000);
  before.forEach((home, key) => {
    if (home === 'b') assert.ok(without[key] === 'a' || without[key] === 'c');
    else assert.equal(without[key], home);
  });
  const took = new Set(before.flatMap((home, key) => (home === 'b' ? [without[key]] : [])));
  assert.deepEqual(took, new Set(['a', 'c']));
});

test('consistent-hash with a retry goes to the second best, the same for the same key', () => {
  for (let key = 0; key < 50; key += 1) {
    const keyHash = hashText(`key ${key}`);
    const first = [A, B, C].find((one) => one.name === pick('consistent-hash', [A, B, C], { keyHash }))!;
    const others = [A, B, C].filter((one) => one !== first);
    assert.equal(
      pick('consistent-hash', [A, B, C], { keyHash, tried: [first] }),
      pick('consistent-hash', others, { keyHash }),
    );
  }
});

test('whether there is an endpoint, and whether there is an untried one', () => {
  assert.equal(hasEndpoint([]), false);
  assert.equal(hasEndpoint([endpoint('a', { available: false }), endpoint('b', { weight: 0 })]), false);
  assert.equal(hasEndpoint([endpoint('a', { excluded: true })]), true);
  assert.equal(hasOtherEndpoint([A, B], [A]), true);
  assert.equal(hasOtherEndpoint([A, B], [A, B]), false);
  assert.equal(hasOtherEndpoint([A, endpoint('b', { available: false })], [A]), false);
  assert.equal(hasOtherEndpoint([A, endpoint('b', { weight: 0 })], [A]), false);
});
