import type { Scenario } from '../scenario.ts';
import { answering, server } from '../scenario.ts';

const ask =
  'GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const agreed = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const route = {
  upgrade: ['websocket'],
  retry: { attempts: 3, codes: [503], on: ['unsent', 'stale', 'reset', 'timeout'], backoff: '10ms', jitter: 'none' },
};
const common = { asks: ['GET'], fronts: ['1.1'], backs: ['1.1'], route, client: [{ do: 'raw', bytes: ask }] } as const;

/** Upgrades: requests like others until the 101, and never again after it. */
export const switching: readonly Scenario[] = [
  {
    ...common,
    id: 'W19',
    title: 'the handshake is refused with 403',
    rule: 'An answer like any other, with its body.',
    origins: [server({ do: 'respond', status: 403, body: 'nope' }), answering('second')],
    expect: { status: 403, text: 'nope', sends: [1, 0], reason: 'not-retryable' },
  },
  {
    ...common,
    id: 'W20',
    title: 'the first endpoint answers the handshake with 503',
    rule: 'Until the 101 it is retried like any GET.',
    origins: [
      server({ do: 'respond', status: 503, body: 'busy' }),
      server({ do: 'raw', bytes: agreed, then: 'close' }),
    ],
    client: [...common.client, { do: 'await-head' }, { do: 'half-close' }],
    expect: { status: 101, sends: [1, 1] },
  },
  {
    ...common,
    id: 'W21',
    title: 'the first endpoint refuses the connection of a handshake',
    rule: 'The next one is asked.',
    origins: [{ kind: 'refused' }, server({ do: 'raw', bytes: agreed, then: 'close' })],
    client: [...common.client, { do: 'await-head' }, { do: 'half-close' }],
    expect: { status: 101, sends: [0, 1] },
  },
  {
    ...common,
    id: 'W22',
    title: 'the tunnel breaks after the 101',
    rule: 'Both sides are closed; there is no second handshake.',
    origins: [server({ do: 'raw', bytes: agreed, then: 'reset' }), answering('second')],
    expect: { status: 101, sends: [1, 0], truncated: true, flags: ['UC'], reason: 'committed' },
  },
  {
    ...common,
    id: 'W23',
    title: 'a handshake is never answered',
    rule: 'The timeouts of requests hold until the 101.',
    origins: [server({ do: 'hang' })],
    expect: { status: 504, sends: [1], reason: 'deadline', tookMs: [15_000, 15_000], closedAtOrigin: true },
  },
  {
    ...common,
    id: 'W24',
    title: 'the route names no protocol to switch to',
    rule: 'The Upgrade is not passed on: an ordinary request.',
    origins: [server({ do: 'respond', body: 'plain' })],
    backs: ['1.1', '2'],
    route: {},
    expect: { status: 200, text: 'plain', sends: [1], reason: 'success' },
  },
  {
    ...common,
    id: 'W25',
    title: 'CONNECT comes to a route that does not say that it may',
    rule: '405: this is no open proxy.',
    origins: [answering('never')],
    client: [{ do: 'raw', bytes: 'CONNECT test.example:443 HTTP/1.1\r\nHost: test.example:443\r\n\r\n' }],
    expect: { status: 405, sends: [0] },
  },
];
