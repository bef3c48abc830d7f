import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTopology } from '../../src/simulator/read-topology.ts';
import { DEFAULT_RETRY_BUDGET, DEFAULT_RETRY_POLICY } from '../../src/core/presets/default.ts';
import { faultsOf, topologyOf } from './support.ts';

const services = (text: string, rest = ''): string =>
  `services:\n${text}\nworkload: { roots: [{ operation: a, rate: 1 }] }\n${rest}`;
const A = '  a: { operations: { get: { serviceTime: 1ms } } }';

const bad: readonly (readonly [name: string, text: string, expected: string | RegExp])[] = [
  ['an empty file', '', 't.yaml:1:1 is empty (it needs at least `services` and `workload`)'],
  ['no YAML', 'a: [', /^t\.yaml:1:5 /],
  ['a list', '- a', /must be a mapping, not a list/],
  [
    'no workload',
    `services:\n${A}`,
    't.yaml:1:1 workload: is missing (for example { duration: 60s, roots: [{ operation: frontend/home, rate: 100 }] })',
  ],
  [
    'no services at all',
    'services: {}\nworkload: { roots: [{ operation: a, rate: 1 }] }',
    /^t\.yaml:1:11 services: is empty/,
  ],
  [
    'a misspelt setting',
    services('  a: { operatons: { get: { serviceTime: 1ms } } }'),
    /2:8 services\.a\.operatons: is not a known setting \(did you mean `operations`\?\)/,
  ],
  [
    'an unknown operation',
    services(
      '  a: { operations: { get: { serviceTime: 1ms, calls: [crat/get] } } }\n  cart: { operations: { get: { serviceTime: 1ms } } }',
    ),
    't.yaml:2:55 services.a.operations.get.calls[0]: "crat/get" is not an operation of this file (did you mean `cart/get`?)',
  ],
  [
    'an unknown operation of a known service',
    services('  a: { operations: { get: { serviceTime: 1ms, calls: [{ to: a/put }] } } }'),
    't.yaml:2:61 services.a.operations.get.calls[0].to: "a/put" is not an operation of this file (known: a/get)',
  ],
  [
    'a service with several operations',
    services(
      '  a: { operations: { get: { serviceTime: 1ms, calls: [b] } } }\n  b: { operations: { x: { serviceTime: 1ms }, y: { serviceTime: 1ms } } }',
    ),
    't.yaml:2:55 services.a.operations.get.calls[0]: "b" has 2 operations (name one of them: b/x, b/y)',
  ],
  [
    'an unknown root',
    `services:\n${A}\nworkload: { roots: [{ operation: frontend, rate: 1 }] }`,
    't.yaml:3:34 workload.roots[0].operation: "frontend" is not an operation of this file (known: a/get)',
  ],
  [
    'a circle',
    services(
      '  a: { operations: { get: { serviceTime: 1ms, calls: [b] } } }\n  b: { operations: { get: { serviceTime: 1ms, calls: [{ parallel: [a] }] } } }',
    ),
    't.yaml:3:68 services.b.operations.get.calls[0].parallel[0]: closes a circle of calls: a/get -> b/get -> a/get (services may call each other, operations may not: give the service another operation for the inner call)',
  ],
  [
    'a call of itself',
    services('  a: { operations: { get: { serviceTime: 1ms, calls: [a] } } }'),
    /closes a circle of calls: a\/get -> a\/get/,
  ],
  [
    'more calls than can be simulated',
    services(
      '  a: { operations: { get: { serviceTime: 1ms, calls: [{ to: b, count: 1000 }] } } }\n  b: { operations: { get: { serviceTime: 1ms, calls: [{ to: c, count: 1000 }] } } }\n  c: { operations: { get: { serviceTime: 1ms } } }',
    ),
    /workload\.roots\[0\]\.operation: needs 1001001 calls for one request \(at most 100000/,
  ],
  [
    'a chain without end',
    services(
      Array.from({ length: 120 }, (_, index) =>
        index === 119
          ? '  s119: { operations: { get: { serviceTime: 1ms } } }'
          : `  ${index === 0 ? 'a' : `s${index}`}: { operations: { get: { serviceTime: 1ms, calls: [s${index + 1}] } } }`,
      ).join('\n'),
    ),
    /is more than 100 calls below a\/get/,
  ],
  [
    'a call of nothing',
    services('  a: { operations: { get: { serviceTime: 1ms, calls: [{ count: 2 }] } } }'),
    /calls\[0\]: calls nothing/,
  ],
  [
    'a call and a group in one',
    services(
      '  a: { operations: { get: { serviceTime: 1ms, calls: [{ to: b, parallel: [b] }] } } }\n  b: { operations: { get: { serviceTime: 1ms } } }',
    ),
    /calls\[0\]\.to: cannot stand beside `parallel`/,
  ],
  [
    'a service time of two kinds',
    services('  a: { operations: { get: { serviceTime: { mean: 1ms, p50: 2ms } } } }'),
    /serviceTime: cannot be made of mean and p50/,
  ],
  [
    'half a service time',
    services('  a: { operations: { get: { serviceTime: { p99: 2ms } } } }'),
    /serviceTime: cannot be made of p99/,
  ],
  [
    'percentiles the wrong way round',
    services('  a: { operations: { get: { serviceTime: { p50: 9ms, p99: 2ms } } } }'),
    /serviceTime\.p99: is below p50/,
  ],
  [
    'a time without unit',
    services('  a: { operations: { get: { serviceTime: 5 } } }'),
    /serviceTime: must be a mapping, not 5/,
  ],
  [
    'a time of another language',
    services('  a: { operations: { get: { serviceTime: 5 msec } } }'),
    /serviceTime: is not a duration/,
  ],
  ['a name with a slash', services(`${A}\n  b/c: { operations: { get: { serviceTime: 1ms } } }`), /is not a name/],
  [
    'a percentage with its sign',
    services('  a: { operations: { get: { serviceTime: 1ms, errorPercent: 5% } } }'),
    /errorPercent: must be a number, not "5%" \(a number from 0 to 100, without a % sign\)/,
  ],
  [
    'a probability above 1',
    services(
      '  a: { operations: { get: { serviceTime: 1ms, calls: [{ to: b, probability: 50 }] } } }\n  b: { operations: { get: { serviceTime: 1ms } } }',
    ),
    /probability: must be at most 1 \(from 0 to 1\)/,
  ],
  [
    'a retry that cannot happen',
    services(A, 'defaults: { retry: { attempts: 1, on: [], codes: [] } }'),
    /defaults\.retry\.on: allows 1 retry that can never happen/,
  ],
  [
    'an attempt longer than the whole',
    services(A, 'defaults: { timeouts: { request: 1s, backendRequest: 2s } }'),
    /defaults\.timeouts\.backendRequest: 2s is longer than request 1s/,
  ],
  [
    'a budget of mixed kinds',
    services(A, 'defaults: { retryBudget: { kind: throttle, percent: 10 } }'),
    /defaults\.retryBudget\.percent: does not belong to a budget of kind throttle/,
  ],
  ['a fault nowhere', services(A, 'faults: [{ errorPercent: 5 }]'), /faults\[0\]: says no place/],
  [
    'a fault in an unknown service',
    services(
      '  a: { operations: { get: { serviceTime: 1ms, calls: [cart] } } }\n  cart: { operations: { get: { serviceTime: 1ms } } }',
      'faults: [{ service: crat, errorPercent: 5 }]',
    ),
    /faults\[0\]\.service: "crat" is not a service of this file \(did you mean `cart`\?\)/,
  ],
  ['a fault that does nothing', services(A, 'faults: [{ service: a }]'), /faults\[0\]: does nothing/],
  [
    'a fault with two effects',
    services(A, 'faults: [{ service: a, outage: hangs, errorPercent: 5 }]'),
    /faults\[0\]\.outage: cannot stand beside `errorPercent`/,
  ],
  [
    'an outage of one operation',
    services(A, 'faults: [{ operation: a, outage: hangs }]'),
    /faults\[0\]\.outage: needs a `service`/,
  ],
  [
    'a cut of no capacity',
    services(A, 'faults: [{ service: a, capacityPercent: 50 }]'),
    /faults\[0\]\.capacityPercent: has no capacity to cut/,
  ],
  [
    'more sick instances than there are',
    services(A, 'faults: [{ service: a, instances: 2, outage: refused }]'),
    /faults\[0\]\.instances: is more than there are \(a has 1 instance\)/,
  ],
  [
    'a root that ends before it begins',
    `services:\n${A}\nworkload: { roots: [{ operation: a, rate: 1, from: 5s, until: 5s }] }`,
    /until: is not after `from`/,
  ],
  [
    'a rate of nothing',
    `services:\n${A}\nworkload: { roots: [{ operation: a, rate: 0 }] }`,
    /rate: must be at least 0\.001/,
  ],
  [
    'a misspelt mode',
    services(A, 'ownership: { mode: enforced }'),
    /ownership\.mode: must be one of enforce, observe, off \(did you mean `enforce`\?\)/,
  ],
];

for (const [name, text, expected] of bad) {
  test(`${name} is refused, with its place and what to do`, () => {
    const reading = readTopology(text, 't.yaml');
    assert.equal(reading.ok, false);
    const faults = faultsOf(text);
    if (typeof expected === 'string') assert.deepEqual(faults, [expected]);
    else
      assert.ok(
        faults.some((fault) => expected.test(fault)),
        faults.join('\n'),
      );
  });
}

for (const [name, text, expected] of [
  [
    'an operation that nobody calls',
    services(`${A}\n  b: { operations: { get: { serviceTime: 1ms } } }`),
    /^t\.yaml:3:22 warning: services\.b\.operations\.get: is called by nobody/,
  ],
  [
    'a fault after the end',
    services(A, 'faults: [{ at: 2m, service: a, errorPercent: 5 }]'),
    /warning: faults\[0\]\.at: is after the end of the run/,
  ],
] as const) {
  test(`${name} is warned of and taken`, () => {
    assert.equal(readTopology(text, 't.yaml').ok, true);
    assert.match(faultsOf(text).join('\n'), expected);
  });
}

test('what a file leaves out is as in a gateway', () => {
  const {
    calls,
    operations,
    services: list,
    deadlines,
  } = topologyOf(
    services(
      '  a: { operations: { get: { serviceTime: 0.25ms, calls: [b] } } }\n  b: { operations: { put: { serviceTime: { mean: 1ms } } } }',
    ),
  );
  const [call] = calls;
  assert.deepEqual(call?.policy, DEFAULT_RETRY_POLICY);
  assert.deepEqual(call?.budget, DEFAULT_RETRY_BUDGET);
  assert.deepEqual(call?.timeouts, { requestMs: 15_000, attemptMs: 0 });
  assert.equal(call?.maxInflightRequests, Infinity);
  assert.deepEqual(
    operations.map(({ name }) => name),
    ['a/get', 'b/put'],
  );
  assert.deepEqual(operations[0]?.serviceTime, { kind: 'constant', ms: 0.25 });
  assert.equal(list[0]?.capacity.workerCount, Infinity);
  assert.deepEqual(deadlines, { propagate: true, marginMs: 10, dropExpired: true });
});

test('the nearest block counts, and as a whole', () => {
  const { calls } = topologyOf(`
defaults: { retry: { attempts: 3, codes: [503] }, timeouts: { request: 7s } }
services:
  a:
    retry: { attempts: 2 }
    operations:
      get: { serviceTime: 1ms, calls: [b, { to: b, retry: { attempts: 5 } }] }
  b: { operations: { get: { serviceTime: 1ms, calls: [c] } } }
  c: { operations: { get: { serviceTime: 1ms } } }
workload: { roots: [{ operation: a, rate: 1 }] }
`);
  assert.deepEqual(
    calls.map(({ policy, timeouts }) => [policy.maxRetries, [...policy.codes], timeouts.requestMs]),
    [
      [2, [], 7000],
      [5, [], 7000],
      [3, [503], 7000],
      [0, [], 7000],
    ],
  );
});

test('no text makes the reader throw', () => {
  for (const text of [
    'services: 5',
    'services: { a: 5 }',
    'services: { a: { operations: [1] } }',
    'faults: {}',
    'workload: { roots: { a: 1 } }',
    'services: { a: { operations: { get: { calls: [[a]] } } } }',
    'services: { a: { operations: { get: { calls: [{ parallel: 5 }] } } } }',
  ])
    assert.equal(readTopology(text, 't.yaml').ok, false, text);
});
