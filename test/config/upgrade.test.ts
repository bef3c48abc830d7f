import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, faultsOf, smallest, withRoute } from './support.ts';

test('no protocol is switched to unless the route names it', () => {
  equal(configOf(smallest).routes[0]?.upgrade, undefined);
  deepEqual(configOf(withRoute('upgrade: [WebSocket, IRC/6.9]')).routes[0]?.upgrade, ['websocket', 'irc/6.9']);
});

test('CONNECT is refused unless the route allows it', () => {
  equal(configOf(smallest).routes[0]?.connect, false);
  equal(configOf(withRoute('connect: true')).routes[0]?.connect, true);
});

const faults: readonly (readonly [string, string, string])[] = [
  ['nothing to switch to', 'upgrade: []', '8:14 routes[0].upgrade: '],
  ['a word in place of a list', 'upgrade: websocket', '8:14 routes[0].upgrade: '],
  [
    'a value that is no token',
    'upgrade: [web socket]',
    '8:15 routes[0].upgrade[0]: is not a protocol (for example websocket)',
  ],
  [
    'HTTP/2 below the routes',
    'upgrade: [h2c]',
    '8:15 routes[0].upgrade[0]: would carry requests past every route and limit (only protocols other than HTTP and TLS, such as websocket)',
  ],
  ['TLS below the routes', 'upgrade: [TLS/1.3]', '8:15 routes[0].upgrade[0]: would carry requests past'],
  ['the same protocol twice', 'upgrade: [websocket, WebSocket]', '8:26 routes[0].upgrade[1]: '],
];

for (const [what, text, expected] of faults) {
  test(`${what} is a fault with its place`, () => {
    const found = faultsOf(withRoute(text));
    deepEqual(found.length, 1, found.join('\n'));
    deepEqual(found[0]!.slice(0, expected.length), expected);
  });
}

test('an upstream that speaks HTTP/2 alone has no tunnels, and the file says so', () => {
  const file = withRoute('upgrade: [websocket]\nconnect: true').replace(
    'endpoints:',
    'protocol: http2\n    endpoints:',
  );
  deepEqual(faultsOf(file), [
    '9:5 routes[0].upgrade: has no effect: upstream orders speaks HTTP/2, where a connection cannot become a tunnel (give it `protocol: http1` or `auto`)',
    '10:5 routes[0].connect: has no effect: upstream orders speaks HTTP/2, where a connection cannot become a tunnel (give it `protocol: http1` or `auto`)',
  ]);
});
