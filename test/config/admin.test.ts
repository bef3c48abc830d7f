import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { isLoopback } from '../../src/config/loopback.ts';
import { configOf, faultsOf, smallest } from './support.ts';

const withAdmin = (admin: string): string => `${smallest}admin: ${admin}\n`;

test('without an admin section there is no admin interface; an empty one listens on loopback, read-only', () => {
  equal(configOf(smallest).admin, undefined);
  deepEqual(configOf(withAdmin('{}')).admin, {
    address: { host: '127.0.0.1', port: 9901, key: '127.0.0.1:9901' },
    write: false,
    hosts: [],
    token: undefined,
  });
});

test('names, token and the time before listeners close are read', () => {
  const { admin, drainDelayMs } = configOf(
    withAdmin(`{ hosts: [admin.internal], write: true, token: { env: ADMIN_TOKEN } }\nshutdown: { delay: 3s }`),
  );
  deepEqual([admin?.hosts, admin?.write, admin?.token], [['admin.internal'], true, { env: 'ADMIN_TOKEN' }]);
  equal(drainDelayMs, 3000);
  equal(configOf(smallest).drainDelayMs, 0);
  deepEqual(configOf(withAdmin('{ token: { file: /run/t } }')).admin?.token, { file: '/run/t' });
});

const rows: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'an address that other machines reach',
    '{ address: 0.0.0.0:9901 }',
    [
      '8:19 admin.address: can be reached from other machines (listen on 127.0.0.1:9901, or say that you mean it: public: true)',
    ],
  ],
  [
    'a public address that anybody may write to',
    '{ address: 0.0.0.0:9901, public: true, write: true }',
    [
      '8:54 admin.write: lets everybody who reaches the public address change things (add token: { file: PATH }, or remove `write`)',
    ],
  ],
  [
    'a public address without a token',
    '{ address: 0.0.0.0:9901, public: true }',
    [
      '8:41 warning: admin.public: everybody who reaches the address may read the configuration and the events (add token: { file: PATH })',
    ],
  ],
  [
    'a token of two sources',
    '{ token: { file: a, env: B } }',
    ['8:17 admin.token: has two sources (keep `file` or `env`)'],
  ],
  ['a token of no source', '{ token: {} }', ['8:17 admin.token: is empty (write { file: PATH } or { env: NAME })']],
  [
    'a variable that cannot be one',
    "{ token: { env: 'a b' } }",
    [
      '8:24 admin.token.env: is not the name of an environment variable (for example MULLIGAN_ADMIN_TOKEN; the token itself never stands in this file)',
    ],
  ],
  [
    'a name with a port',
    "{ hosts: ['a.example:80'] }",
    ['8:18 admin.hosts[0]: is not a host name (for example admin.internal, in lower case, without port)'],
  ],
  [
    'a name that is there twice',
    '{ hosts: [a, b, a] }',
    ['8:24 admin.hosts[2]: is there twice (remove one of the two)'],
  ],
];

for (const [name, admin, expected] of rows)
  test(`${name} is told with its place`, () => deepEqual(faultsOf(withAdmin(admin)), expected));

test('the address of a listener is not the address of the admin interface', () => {
  const text = withAdmin('{ address: 127.0.0.1:8080 }').replace('127.0.0.1:0', '127.0.0.1:8080');
  deepEqual(faultsOf(text), [
    '8:19 admin.address: 127.0.0.1:8080 is the address of listeners[0] too (give it a port of its own: clients must not reach it)',
  ]);
});

test('a token that stands in the file is refused without being repeated', () => {
  const [fault] = faultsOf(withAdmin('{ token: sekrit-sekrit-sekrit }'));
  equal(fault, '8:17 admin.token: must be a mapping, not text (write { file: PATH } or { env: NAME })');
});

test('loopback is this machine alone, in all its spellings', () => {
  for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '127.255.0.9', '::1', '::ffff:127.0.0.1'])
    ok(isLoopback(host), host);
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.example', '127.0.0.1.example', 'localhost.example', ''])
    ok(!isLoopback(host), host);
});
