import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configOf, faultsOf, smallest, withRoute, withUpstream } from './support.ts';

describe('circuitBreaker', () => {
  test('without a threshold no circuit opens, whatever else is set', () => {
    const [upstream] = configOf(
      withUpstream('circuitBreaker: { maxInflightRequests: 9, onOverflow: original }'),
    ).upstreams;
    deepEqual(
      [upstream?.circuitBreaker, upstream?.maxInflightRequests, upstream?.onOverflow],
      [undefined, 9, 'original'],
    );
  });

  test('a threshold brings the rest with its defaults', () => {
    deepEqual(configOf(withUpstream('circuitBreaker: { consecutiveFailures: 5 }')).upstreams[0]?.circuitBreaker, {
      consecutiveFailures: 5,
      failurePercent: undefined,
      minRequests: 20,
      windowMs: 10_000,
      openForMs: 5_000,
      maxOpenForMs: undefined,
      halfOpenRequests: 1,
    });
  });

  test('everything can be said', () => {
    const text =
      'circuitBreaker: { failurePercent: 50, minRequests: 7, window: 30s, openFor: 2s, maxOpenFor: 20s, halfOpenRequests: 3 }';
    deepEqual(configOf(withUpstream(text)).upstreams[0]?.circuitBreaker, {
      consecutiveFailures: undefined,
      failurePercent: 50,
      minRequests: 7,
      windowMs: 30_000,
      openForMs: 2_000,
      maxOpenForMs: 20_000,
      halfOpenRequests: 3,
    });
  });
});

describe('outlierDetection', () => {
  test('left out, nothing is ejected; {} takes the defaults', () => {
    equal(configOf(smallest).upstreams[0]?.outliers, undefined);
    deepEqual(configOf(withUpstream('outlierDetection: {}')).upstreams[0]?.outliers, {
      consecutiveFailures: undefined,
      failurePercent: undefined,
      minRequests: 20,
      windowMs: 10_000,
      baseEjectionMs: 30_000,
      maxEjectionMs: undefined,
      maxEjectionPercent: 50,
    });
  });

  test('everything can be said', () => {
    const text =
      'outlierDetection: { consecutiveFailures: 3, failurePercent: 60, minRequests: 9, window: 5s, baseEjection: 10s, maxEjection: 1m, maxEjectionPercent: 30 }';
    deepEqual(configOf(withUpstream(text)).upstreams[0]?.outliers, {
      consecutiveFailures: 3,
      failurePercent: 60,
      minRequests: 9,
      windowMs: 5_000,
      baseEjectionMs: 10_000,
      maxEjectionMs: 60_000,
      maxEjectionPercent: 30,
    });
  });
});

describe('loadBalancing', () => {
  const read = (text: string): unknown[] => {
    const [upstream] = configOf(withUpstream(text)).upstreams;
    return [upstream?.loadBalancing, upstream?.hashHeader];
  };

  test('is a word, or consistent-hash with the field it looks at', () => {
    deepEqual(read('loadBalancing: round-robin'), ['round-robin', undefined]);
    deepEqual(read('loadBalancing: consistent-hash'), ['consistent-hash', undefined]);
    deepEqual(read('loadBalancing: { consistent-hash: {} }'), ['consistent-hash', undefined]);
    deepEqual(read('loadBalancing: { consistent-hash: { header: X-User } }'), ['consistent-hash', 'x-user']);
  });

  test('is least-request when it is left out', () => {
    equal(configOf(smallest).upstreams[0]?.loadBalancing, 'least-request');
  });
});

test('a hedge has a delay, and one copy unless more are asked for', () => {
  equal(configOf(smallest).routes[0]?.hedge, undefined);
  deepEqual(configOf(withRoute('hedge: { delay: 100ms }')).routes[0]?.hedge, { delayMs: 100, max: 1 });
  deepEqual(configOf(withRoute('hedge: { delay: 1s, max: 3 }')).routes[0]?.hedge, { delayMs: 1000, max: 3 });
});

test('an endpoint of weight 0 is allowed: it takes no traffic', () => {
  const text = smallest.replace('[127.0.0.1:9001]', '[127.0.0.1:9001, { address: 127.0.0.1:9002, weight: 0 }]');
  equal(configOf(text).upstreams[0]?.endpoints[1]?.weight, 0);
});

const at = 'upstreams.orders';
const rows: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'a threshold of nothing',
    withUpstream('circuitBreaker: { consecutiveFailures: 0 }'),
    [`6:44 ${at}.circuitBreaker.consecutiveFailures: must be at least 1 (The circuit of a route opens`],
  ],
  [
    'an open time without a threshold',
    withUpstream('circuitBreaker: { openFor: 1s }'),
    [
      `6:23 warning: ${at}.circuitBreaker.openFor: has no effect: the circuit never opens (give consecutiveFailures or failurePercent)`,
    ],
  ],
  [
    'a window without a share',
    withUpstream('circuitBreaker: { consecutiveFailures: 5, window: 10s }'),
    [
      `6:47 warning: ${at}.circuitBreaker.window: has no effect: failurePercent is not given (give failurePercent, or remove it)`,
    ],
  ],
  [
    'a ceiling below the open time',
    withUpstream('circuitBreaker: { consecutiveFailures: 5, openFor: 10s, maxOpenFor: 9s }'),
    [
      `6:73 ${at}.circuitBreaker.maxOpenFor: 9s is shorter than openFor 10s (the longest time cannot be shorter than the first)`,
    ],
  ],
  [
    'a ceiling below the default open time',
    withUpstream('circuitBreaker: { consecutiveFailures: 5, maxOpenFor: 1s }'),
    [
      `6:59 ${at}.circuitBreaker.maxOpenFor: 1s is shorter than the default openFor 5s (the longest time cannot be shorter than the first)`,
    ],
  ],
  [
    'an open time without an end',
    withUpstream('circuitBreaker: { consecutiveFailures: 5, openFor: 2h }'),
    [`6:56 ${at}.circuitBreaker.openFor: is too long (at most 1h)`],
  ],
  [
    'an open time of nothing',
    withUpstream('circuitBreaker: { consecutiveFailures: 5, openFor: 0s }'),
    [`6:56 ${at}.circuitBreaker.openFor: cannot be switched off (give it at least 1ms)`],
  ],
  [
    'a misspelt ejection',
    withUpstream('outlierDetection: { baseEjecton: 30s }'),
    [`6:25 ${at}.outlierDetection.baseEjecton: is not a known setting (did you mean \`baseEjection\`?)`],
  ],
  [
    'more than all endpoints',
    withUpstream('outlierDetection: { maxEjectionPercent: 101 }'),
    [`6:45 ${at}.outlierDetection.maxEjectionPercent: must be at most 100 (Share of the endpoints`],
  ],
  [
    'an ejection with a ceiling below its floor',
    withUpstream('outlierDetection: { baseEjection: 30s, maxEjection: 10s }'),
    [
      `6:57 ${at}.outlierDetection.maxEjection: 10s is shorter than baseEjection 30s (the longest time cannot be shorter than the first)`,
    ],
  ],
  [
    'a policy that there is not',
    withUpstream('loadBalancing: roundrobin'),
    [
      `6:20 ${at}.loadBalancing: must be one of least-request, round-robin, random, consistent-hash (did you mean \`round-robin\`?)`,
    ],
  ],
  [
    'a policy that looks at nothing',
    withUpstream('loadBalancing: { consistent-hash: { cookie: user } }'),
    [
      `6:20 ${at}.loadBalancing: consistent-hash has one setting: header (write { consistent-hash: { header: x-user } })`,
    ],
  ],
  [
    'a field that no request can have',
    withUpstream("loadBalancing: { consistent-hash: { header: 'x user' } }"),
    [`6:20 ${at}.loadBalancing: header is not the name of a field (write { consistent-hash: { header: x-user } })`],
  ],
  [
    'settings of another policy',
    withUpstream('loadBalancing: { random: {} }'),
    [
      `6:20 ${at}.loadBalancing: may be a mapping only for consistent-hash (write { consistent-hash: { header: x-user } })`,
    ],
  ],
  [
    'endpoints that all have weight 0',
    smallest.replace('[127.0.0.1:9001]', '[{ address: 127.0.0.1:9001, weight: 0 }]'),
    [
      `5:16 warning: ${at}.endpoints: have all weight 0: every request is answered 503 (give at least one of them a weight)`,
    ],
  ],
  [
    'a copy without a delay',
    withRoute('hedge: { max: 2 }'),
    ['8:12 routes[0].hedge.delay: is missing (A copy is sent when'],
  ],
  [
    'no copies',
    withRoute('hedge: { delay: 10ms, max: 0 }'),
    ['8:32 routes[0].hedge.max: must be at least 1 (Copies of one request'],
  ],
  [
    'a copy after the end',
    withRoute('hedge: { delay: 15s }'),
    [
      '8:21 warning: routes[0].hedge.delay: 15s is not shorter than the request timeout 15s: no copy is ever sent (lower it to about the 95th percentile of the response time)',
    ],
  ],
];

for (const [name, text, expected] of rows) {
  test(`${name} is told with its place`, () => {
    const found = faultsOf(text);
    deepEqual(
      found.map((line, index) => line.slice(0, expected[index]?.length)),
      expected,
      found.join('\n'),
    );
  });
}
