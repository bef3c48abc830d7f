import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from '../../src/config/parse.ts';
import { configOf, faultsOf, smallest, withRoute, withUpstream } from './support.ts';

test('the smallest file gets every default', () => {
  deepEqual(configOf(smallest), {
    listeners: [
      {
        address: { host: '127.0.0.1', port: 0, key: '127.0.0.1:0' },
        server: 'own',
        limits: {
          headerBytes: 16_384,
          headerTimeoutMs: 10_000,
          bodyIdleMs: 30_000,
          keepAliveMs: 65_000,
          maxConnections: 10_000,
          maxStreams: 100,
        },
      },
    ],
    upstreams: [
      {
        name: 'orders',
        endpoints: [
          {
            address: { host: '127.0.0.1', port: 9001, key: '127.0.0.1:9001' },
            weight: 1,
            priority: 0,
            domain: undefined,
          },
        ],
        dnsEndpoints: [],
        protocol: 'http1',
        tls: undefined,
        loadBalancing: 'least-request',
        hashHeader: undefined,
        connect: { connectMs: 1000, idleTimeoutMs: 50_000, maxConnections: 256, maxRequestsPerConnection: 0 },
        healthCheck: undefined,
        budget: { kind: 'ratio', percent: 20, intervalMs: 10_000, minRetryRate: { count: 10, intervalMs: 1000 } },
        onExhausted: 'original',
        maxInflightRequests: 1024,
        onOverflow: '503',
        circuitBreaker: undefined,
        outliers: undefined,
      },
    ],
    routes: [
      {
        name: 'route-1',
        match: { hosts: undefined, path: undefined, methods: undefined, fields: undefined },
        targets: [{ upstream: 'orders', weight: 1 }],
        rewrite: undefined,
        timeouts: { requestMs: 15_000, attemptMs: 0, idleMs: 60_000 },
        retry: {
          maxRetries: 1,
          codes: [],
          on: ['unsent', 'rejected', 'stale'],
          backoff: { curve: 'exponential', baseMs: 25, maxMs: 250, jitter: 'full' },
          retryAfterMaxMs: 10_000,
        },
        replayBufferBytes: 65_536,
        hedge: undefined,
        upgrade: undefined,
        connect: false,
        idempotent: false,
      },
    ],
    retryOfRetry: false,
    replayMemoryBytes: 64 * 1024 * 1024,
    accessLog: { path: '-' },
    drainMs: 30_000,
    drainDelayMs: 0,
    admin: undefined,
    tracing: undefined,
  });
});

test('every setting of a route is read', () => {
  const config = configOf(
    withRoute(`name: all
match: { hosts: [Shop.Example., '*.shop.example'], path: { exact: /orders }, methods: [GET, POST] }
timeouts: { request: 1m, backendRequest: 1.5s, idle: 0s }
retry: { codes: [502, 503], attempts: 3, backoff: 500ms, jitter: none, curve: fixed, on: [unsent, reset], retryAfterMax: 2s }
replayBuffer: 1MiB`),
  );
  deepEqual(config.routes[0], {
    name: 'all',
    match: {
      hosts: ['shop.example', '*.shop.example'],
      path: { kind: 'exact', value: '/orders' },
      methods: ['GET', 'POST'],
      fields: undefined,
    },
    targets: [{ upstream: 'orders', weight: 1 }],
    rewrite: undefined,
    timeouts: { requestMs: 60_000, attemptMs: 1500, idleMs: 0 },
    retry: {
      maxRetries: 3,
      codes: [502, 503],
      on: ['unsent', 'reset'],
      backoff: { curve: 'fixed', baseMs: 500, maxMs: 5000, jitter: 'none' },
      retryAfterMaxMs: 2000,
    },
    replayBufferBytes: 1024 * 1024,
    hedge: undefined,
    upgrade: undefined,
    connect: false,
    idempotent: false,
  });
});

test('attempts: 0 is zero retries, not the default', () => {
  equal(configOf(withRoute('retry: { attempts: 0 }')).routes[0]!.retry.maxRetries, 0);
});

for (const [text, budget] of [
  ['{ percent: 0 }', { kind: 'ratio', percent: 0, intervalMs: 10_000, minRetryRate: { count: 10, intervalMs: 1000 } }],
  [
    '{ kind: token-bucket, percent: 75, interval: 30s, minRetryRate: { count: 3 } }',
    { kind: 'token-bucket', percent: 75, intervalMs: 30_000, minRetryRate: { count: 3, intervalMs: 1000 } },
  ],
  ['{ kind: throttle }', { kind: 'throttle', maxTokens: 10, tokenRatio: 0.1 }],
  ['{ kind: throttle, maxTokens: 20, tokenRatio: 0.5 }', { kind: 'throttle', maxTokens: 20, tokenRatio: 0.5 }],
  ['{ kind: none }', { kind: 'none' }],
] as const) {
  test(`a retry budget ${text} is read`, () =>
    deepEqual(configOf(withUpstream(`retryBudget: ${text}`)).upstreams[0]!.budget, budget));
}

test('values can be shared by anchor and alias', () => {
  const config = configOf(`${smallest}    retry: &policy { attempts: 4 }
  - upstream: orders
    match: { path: { exact: /never } }
    retry: *policy
`);
  deepEqual(
    config.routes.map((route) => route.retry.maxRetries),
    [4, 4],
  );
});

test('a fault of an aliased value points at the alias', () => {
  deepEqual(
    faultsOf(`${smallest}    retry: &policy { attempts: 4, codes: [1] }
  - { name: b, upstream: orders, match: { path: { exact: /b } }, retry: *policy }
`).filter((line) => line.includes('routes[1].retry.codes')),
    ['9:73 routes[1].retry.codes[0]: must be at least 400 (A response status, 400 to 599.)'],
  );
});

test('all faults of a file come in one run, in order', () => {
  deepEqual(
    faultsOf(`listners:
  - address: 127.0.0.1:8080
upstreams:
  orders:
    endpoints: [127.0.0.1]
    colour: red
routes:
  - upstream: oders
    timeouts: { request: 5 }
    retry: { backof: 1s }
`),
    [
      '1:1 listners: is not a known setting (did you mean `listeners`?)',
      '4:3 warning: upstreams.orders: is used by no route (remove it, or name it as the upstream of a route)',
      '5:17 upstreams.orders.endpoints[0]: has no port (write 127.0.0.1:9001)',
      '6:5 upstreams.orders.colour: is not a known setting (known: endpoints, protocol, tls, loadBalancing, connect, retryBudget, circuitBreaker, outlierDetection, ownership, healthCheck)',
      '8:15 routes[0].upstream: no upstream is named "oders" (did you mean `orders`?)',
      '9:26 routes[0].timeouts.request: 5 is not a duration: it has no unit (add a unit: 5ms or 5s)',
      '10:14 routes[0].retry.backof: is not a known setting (did you mean `backoff`?)',
    ],
  );
});

test('a file of nothing but faults is cut at a hundred of them', () => {
  const result = parseConfig(Array.from({ length: 500 }, (_, index) => `wrong${index}: 1`).join('\n'), 'f');
  ok(!result.ok);
  equal(result.faults.length, 101);
  ok(result.faults.at(-1)!.message.includes('more faults'));
});

test('the access log is switched off by a word, and a text stands for its path', () => {
  equal(configOf(`${smallest}accessLog: off\n`).accessLog.path, 'off');
  equal(configOf(`${smallest}accessLog: /tmp/access.log\n`).accessLog.path, '/tmp/access.log');
});
