import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf, smallest, withRoute, withUpstream } from './support.ts';

/** Each row: what is written, and every fault it gives. Routes' settings begin at line 8, upstreams' at line 6. */
const rows: readonly (readonly [string, string, readonly string[]])[] = [
  // durations and sizes
  [
    'a duration without unit',
    withRoute('timeouts: { idle: 0 }'),
    ['8:23 routes[0].timeouts.idle: 0 is not a duration: it has no unit (write 0s)'],
  ],
  [
    'a duration of two units',
    withRoute('timeouts: { idle: 1m30s }'),
    ['8:23 routes[0].timeouts.idle: a duration has one unit (write it in one: for example 90s for 1m30s)'],
  ],
  [
    'a negative duration',
    withRoute('timeouts: { idle: -1s }'),
    ['8:23 routes[0].timeouts.idle: a duration cannot be negative (for example 250ms, 3s, 1m; 0s switches off)'],
  ],
  [
    'a duration that a timer cannot hold',
    withRoute('timeouts: { idle: 600h }'),
    ['8:23 routes[0].timeouts.idle: is too long (at most 596h, about 24 days)'],
  ],
  [
    'a duration below a millisecond',
    withRoute('timeouts: { idle: 0.5ms }'),
    ['8:23 routes[0].timeouts.idle: is below one millisecond (the shortest duration is 1ms)'],
  ],
  [
    'a limit that cannot be off',
    smallest.replace('127.0.0.1:0', '127.0.0.1:0\n    limits: { headerTimeout: 0s }'),
    ['3:30 listeners[0].limits.headerTimeout: cannot be switched off (give it at least 1ms)'],
  ],
  [
    'a size without unit',
    withRoute('replayBuffer: 65536'),
    ['8:19 routes[0].replayBuffer: 65536 is not a size: it has no unit (add a unit: 65536B or 65536KiB)'],
  ],
  [
    'a decimal size',
    withRoute('replayBuffer: 64kB'),
    ['8:19 routes[0].replayBuffer: "64kB" is not a size (sizes are binary: write 64KiB)'],
  ],
  [
    'a size above the limit',
    withRoute('replayBuffer: 2GiB'),
    ['8:19 routes[0].replayBuffer: is too large (at most 1GiB)'],
  ],
  // addresses
  [
    'an address without port',
    withUpstream('protocol: http1').replace('[127.0.0.1:9001]', '[localhost]'),
    ['5:17 upstreams.orders.endpoints[0]: has no port (write localhost:9001)'],
  ],
  [
    'port 0 at an endpoint',
    smallest.replace(':9001', ':0'),
    ['5:17 upstreams.orders.endpoints[0]: port 0 does not exist at an endpoint (name the port the server listens on)'],
  ],
  [
    'a port above 65535',
    smallest.replace(':9001', ':65536'),
    ['5:17 upstreams.orders.endpoints[0]: port 65536 does not exist (ports go from 1 to 65535)'],
  ],
  [
    'a URL for an address',
    smallest.replace('127.0.0.1:9001', 'http://127.0.0.1:9001'),
    [
      '5:17 upstreams.orders.endpoints[0]: must be host:port, not a URL (write only the host and the port: 127.0.0.1:9001)',
    ],
  ],
  [
    'an IPv4 address out of range',
    smallest.replace('127.0.0.1:9001', '127.0.0.256:9001'),
    [
      '5:17 upstreams.orders.endpoints[0]: "127.0.0.256" is neither an IP address nor a host name (for example 127.0.0.1:9001)',
    ],
  ],
  [
    'an IPv6 address without brackets',
    smallest.replace('127.0.0.1:0', "'::1:8080'"),
    ["2:14 listeners[0].address: has no port, and an IPv6 address needs brackets (write '[::1:8080]:8080')"],
  ],
  [
    'an IPv6 address without quotes',
    smallest.replace('127.0.0.1:0', '[::1]:8080'),
    ["2:19 Unexpected scalar at node end (an IPv6 address needs quotes: '[::1]:8080')"],
  ],
  [
    'a port alone',
    smallest.replace('127.0.0.1:0', '8080'),
    ['2:14 listeners[0].address: must be host:port, not a number (for example 127.0.0.1:8080)'],
  ],
  [
    'two listeners at one address',
    smallest.replace('127.0.0.1:0', '127.0.0.1:80\n  - address: 127.0.0.1:80'),
    ['3:14 listeners[1].address: is the address of listeners[0] too (remove one of the two)'],
  ],
  [
    'one endpoint twice',
    smallest.replace('9001]', '9001, {address: 127.0.0.1:9001}]'),
    [
      '5:33 upstreams.orders.endpoints[1]: 127.0.0.1:9001 is endpoints[0] too (for a larger share write { address, weight })',
    ],
  ],
  // contradictions
  [
    'an attempt that outlasts its request',
    withRoute('timeouts: { request: 2s, backendRequest: 3s }'),
    [
      '8:46 routes[0].timeouts.backendRequest: 3s is longer than request 2s (one attempt cannot outlast the whole request: lower it, or raise `request` (0s disables it))',
    ],
  ],
  [
    'an attempt that outlasts the default request',
    withRoute('timeouts: { backendRequest: 16s }'),
    [
      '8:33 routes[0].timeouts.backendRequest: 16s is longer than the default request timeout 15s (one attempt cannot outlast the whole request: lower it, or raise `request` (0s disables it))',
    ],
  ],
  [
    'a last wait shorter than the first',
    withRoute('retry: { backoff: 100ms, maxBackoff: 50ms }'),
    [
      '8:42 routes[0].retry.maxBackoff: 50ms is shorter than backoff 100ms (the longest wait cannot be shorter than the first)',
    ],
  ],
  [
    'retries that can never happen',
    withRoute('retry: { attempts: 2, on: [] }'),
    [
      '8:31 routes[0].retry.on: allows 2 retries that can never happen: no failure and no code is named (name failures or `codes`, or write attempts: 0 to switch retries off)',
    ],
  ],
  [
    'a code twice',
    withRoute('retry: { codes: [503, 503] }'),
    ['8:27 routes[0].retry.codes[1]: 503 is there twice (remove one of the two)'],
  ],
  [
    'a code that is no error',
    withRoute('retry: { codes: [200] }'),
    ['8:22 routes[0].retry.codes[0]: must be at least 400 (A response status, 400 to 599.)'],
  ],
  [
    'more retries than allowed',
    withRoute('retry: { attempts: 101 }'),
    [
      '8:24 routes[0].retry.attempts: must be at most 100 (Retries: sends beyond the first. 0 switches every retry off.)',
    ],
  ],
  [
    'a percent above 100',
    withUpstream('retryBudget: { percent: 120 }'),
    ['6:29 upstreams.orders.retryBudget.percent: must be at most 100 (a whole number from 0 to 100, without a % sign)'],
  ],
  [
    'a percent sign',
    withUpstream('retryBudget: { percent: 20% }'),
    [
      '6:29 upstreams.orders.retryBudget.percent: must be a number, not "20%" (a whole number from 0 to 100, without a % sign)',
    ],
  ],
  [
    'a setting of another kind of budget',
    withUpstream('retryBudget: { kind: none, percent: 20 }'),
    [
      '6:32 upstreams.orders.retryBudget.percent: does not belong to a budget of kind none (remove it, or choose another kind)',
    ],
  ],
  [
    'a mode written as a number',
    withUpstream('circuitBreaker: { onOverflow: 503 }'),
    ["6:35 upstreams.orders.circuitBreaker.onOverflow: 503 is a number here (put it in quotes: '503')"],
  ],
  [
    'an unknown trigger',
    withRoute('retry: { on: [timeouts] }'),
    ['8:19 routes[0].retry.on[0]: must be one of unsent, rejected, stale, reset, timeout (did you mean `timeout`?)'],
  ],
  [
    'no route',
    smallest.replace(/routes:[^]*/, 'routes: []\n'),
    ['6:9 routes: is empty (a list: [{ upstream: orders }])'],
  ],
  [
    'two routes of one name',
    withRoute('name: a\nmatch: { path: { exact: /a } }') + '  - { name: a, upstream: orders }\n',
    [
      '10:13 routes[1].name: "a" is the name of routes[0] too (give each route a name of its own: records tell them apart by it)',
    ],
  ],
  // matches
  [
    'a path written as text',
    withRoute('match: { path: /orders }'),
    ['8:20 routes[0].match.path: must be a mapping, not "/orders" (write { prefix: /orders } or { exact: /orders })'],
  ],
  [
    'a path of both kinds',
    withRoute('match: { path: { prefix: /a, exact: /b } }'),
    ['8:20 routes[0].match.path: has both prefix and exact (write { prefix: /orders } or { exact: /orders })'],
  ],
  [
    'a path that no request can have',
    withRoute('match: { path: { prefix: /a/../b } }'),
    [
      '8:30 routes[0].match.path.prefix: can never match: the path holds a dot-segment (requests are matched on their canonical path)',
    ],
  ],
  [
    'a path that is not canonical',
    withRoute('match: { path: { prefix: //a%7Eb } }'),
    ['8:30 routes[0].match.path.prefix: can never match: it is not in canonical form (write /a~b)'],
  ],
  [
    'a host with a port',
    withRoute('match: { hosts: [shop.example:80] }'),
    ['8:22 routes[0].match.hosts[0]: has a port (hosts are compared without their port: remove it)'],
  ],
  [
    'a wildcard in the middle',
    withRoute("match: { hosts: ['shop.*.example'] }"),
    [
      '8:22 routes[0].match.hosts[0]: has a wildcard in the wrong place (only a whole first label can be one: *.shop.example)',
    ],
  ],
  [
    'a method in small letters',
    withRoute('match: { methods: [get] }'),
    ['8:24 routes[0].match.methods[0]: is not a method (methods are case-sensitive: write GET)'],
  ],
  [
    'an empty setting',
    withRoute('timeouts:'),
    ['8:14 routes[0].timeouts: is empty (give it a value or remove the key)'],
  ],
  [
    'a name with a space',
    withRoute('name: a b'),
    [
      '8:11 routes[0].name: is not a name (letters, digits, `.`, `_` and `-`, at most 63, beginning with a letter or digit)',
    ],
  ],
  // warnings
  [
    'a route behind one that takes everything',
    smallest + '  - { name: b, upstream: orders, match: { path: { prefix: /b } } }\n',
    [
      '8:5 warning: routes[1]: gets no request: routes[0] comes first and takes everything it matches (move it up, or make the earlier route narrower)',
    ],
  ],
  [
    'settings of retries that are off',
    withRoute('retry: { attempts: 0, codes: [503] }'),
    ['8:27 warning: routes[0].retry.codes: has no effect: attempts is 0 (nothing is retried on this route)'],
  ],
];

for (const [name, text, expected] of rows)
  test(`${name} is told with its place`, () => deepEqual(faultsOf(text), expected));

const planned: readonly (readonly [string, string])[] = [['store.kind', `${smallest}store: { kind: redis }\n`]];

for (const [path, text] of planned) {
  test(`${path} is refused as not supported yet, never ignored`, () => {
    const found = faultsOf(text).filter((line) => !line.includes('warning'));
    deepEqual(
      found.map((line) => [line.includes(` ${path}: `), line.includes('not supported yet')]),
      [[true, true]],
      found.join('\n'),
    );
  });
}

test('workers other than one are refused', () => {
  deepEqual(faultsOf(`${smallest}workers: auto\n`), ['8:10 workers: must be 1 (only one process is supported yet)']);
});
