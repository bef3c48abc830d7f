import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, faultsOf, smallest, withUpstream } from './support.ts';

const endpoints = (list: string): string => smallest.replace('[127.0.0.1:9001]', list);

test('a name with its settings is read', () => {
  const [upstream] = configOf(
    endpoints('[{ dns: Orders.Internal:8080, refresh: 30s, weight: 2, priority: 1, domain: eu-1 }]'),
  ).upstreams;
  deepEqual(upstream!.endpoints, []);
  deepEqual(upstream!.dnsEndpoints, [
    {
      name: { host: 'orders.internal', port: 8080, key: 'orders.internal:8080' },
      refreshMs: 30_000,
      weight: 2,
      priority: 1,
      domain: 'eu-1',
    },
  ]);
});

test('a name is asked every 10 seconds when nothing else is said, and may stand beside addresses', () => {
  const [upstream] = configOf(endpoints('[127.0.0.1:9001, { dns: orders.internal:8080 }]')).upstreams;
  deepEqual([upstream!.endpoints.length, upstream!.dnsEndpoints[0]!.refreshMs], [1, 10_000]);
});

test('a health check gets its defaults', () => {
  deepEqual(configOf(withUpstream('healthCheck: { path: /healthz?full=1 }')).upstreams[0]!.healthCheck, {
    path: '/healthz?full=1',
    intervalMs: 5000,
    timeoutMs: 1000,
    healthyAfter: 2,
    unhealthyAfter: 3,
    expectedStatus: undefined,
  });
});

/** What is written, and every fault it gives. */
const rows: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'an endpoint without address and name',
    endpoints('[{ weight: 2 }]'),
    [
      '5:17 upstreams.orders.endpoints[0]: has neither address nor dns (for example { address: 127.0.0.1:9001, weight: 2 })',
    ],
  ],
  [
    'an endpoint with both',
    endpoints('[{ address: 127.0.0.1:1, dns: a.internal:1 }]'),
    ['5:41 upstreams.orders.endpoints[0].dns: stands beside an address (remove one of the two)'],
  ],
  [
    'an address for a name',
    endpoints("[{ dns: '127.0.0.1:80' }]"),
    ['5:24 upstreams.orders.endpoints[0].dns: is an address, not a name (write { address: 127.0.0.1:80 })'],
  ],
  [
    'a name without a port',
    endpoints('[{ dns: orders.internal }]'),
    ['5:24 upstreams.orders.endpoints[0].dns: has no port (write orders.internal:9001)'],
  ],
  [
    'a refresh of an address',
    endpoints('[{ address: 127.0.0.1:1, refresh: 5s }]'),
    ['5:41 upstreams.orders.endpoints[0].refresh: belongs to `dns` (an address is never asked for)'],
  ],
  [
    'a refresh that asks too often',
    endpoints('[{ dns: orders.internal:80, refresh: 100ms }]'),
    ['5:53 upstreams.orders.endpoints[0].refresh: is too short (from 1s to 1h)'],
  ],
  [
    'a name that is there twice',
    endpoints('[{ dns: a.internal:80 }, { dns: a.internal:80 }]'),
    [
      '5:41 upstreams.orders.endpoints[1]: a.internal:80 is endpoints[0] too (for a larger share write { address, weight })',
    ],
  ],
  [
    'a domain that is no name',
    endpoints('[{ address: 127.0.0.1:1, domain: eu 1 }]'),
    [
      '5:49 upstreams.orders.endpoints[0].domain: is not a name (letters, digits, `.`, `_` and `-`, at most 63, beginning with a letter or digit)',
    ],
  ],
  [
    'a health check without a path',
    withUpstream('healthCheck: { interval: 1s }'),
    [
      '6:18 upstreams.orders.healthCheck.path: is missing (What is asked for, with GET: a path, and a query if need be.)',
    ],
  ],
  [
    'a URL for the path of a health check',
    withUpstream("healthCheck: { path: 'http://a/healthz' }"),
    ['6:26 upstreams.orders.healthCheck.path: does not begin with / (write only the path)'],
  ],
  [
    'a path of a health check with a space',
    withUpstream("healthCheck: { path: '/a b' }"),
    [
      '6:26 upstreams.orders.healthCheck.path: holds a character that no request can carry (percent-encode spaces, quotes and everything outside ASCII; leave out #)',
    ],
  ],
  [
    'a health check that cannot end before the next',
    withUpstream('healthCheck: { path: /, interval: 1s, timeout: 2s }'),
    [
      '6:52 upstreams.orders.healthCheck.timeout: timeout 2s is longer than interval 1s (an endpoint is asked one question at a time: lower the timeout, or raise the interval)',
    ],
  ],
  [
    'a health check without a limit',
    withUpstream('healthCheck: { path: /, timeout: 0s }'),
    ['6:38 upstreams.orders.healthCheck.timeout: cannot be switched off (give it at least 1ms)'],
  ],
  [
    'a count of no checks',
    withUpstream('healthCheck: { path: /, healthyAfter: 0 }'),
    [
      '6:43 upstreams.orders.healthCheck.healthyAfter: must be at least 1 (Checks in a row that must succeed before an unhealthy endpoint is used again.)',
    ],
  ],
  [
    'a status that is not one',
    withUpstream('healthCheck: { path: /, expectedStatus: [99] }'),
    ['6:46 upstreams.orders.healthCheck.expectedStatus[0]: must be at least 200 (A response status, 200 to 599.)'],
  ],
  [
    'a misspelt setting of a health check',
    withUpstream('healthCheck: { path: /, intervall: 1s }'),
    ['6:29 upstreams.orders.healthCheck.intervall: is not a known setting (did you mean `interval`?)'],
  ],
];

for (const [name, text, expected] of rows)
  test(`${name} is told with its place`, () => deepEqual(faultsOf(text), expected));
