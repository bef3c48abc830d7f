import type { Expected, Scenario } from '../scenario.ts';
import { answering, server } from '../scenario.ts';

const onHttp2 = { backs: ['2'] } as const;
const second: Expected = { status: 200, text: 'second', sends: [1, 1], reason: 'success' };
const rejected = 'The server says that it did not process the request: again elsewhere, whatever the method.';
const ambiguous = 'The server may have processed it: again only where that is harmless.';

const resets: readonly (readonly [name: string, code: number])[] = [
  ['NO_ERROR', 0],
  ['PROTOCOL_ERROR', 1],
  ['INTERNAL_ERROR', 2],
  ['FLOW_CONTROL_ERROR', 3],
  ['STREAM_CLOSED', 5],
  ['CANCEL', 8],
  ['CONNECT_ERROR', 10],
];

/** What only HTTP/2 upstreams can say. */
export const http2: readonly Scenario[] = [
  {
    ...onHttp2,
    id: 'S37 below',
    title: 'GOAWAY (NO_ERROR) names a last stream below that of the request',
    rule: rejected,
    origins: [server({ do: 'goaway', code: 0, last: 'below' }), answering('second')],
    route: {},
    expect: { ...second, attempts: ['request_rejected/rejected', 200], tookMs: [0, 0] },
  },
  {
    ...onHttp2,
    id: 'S37 alone',
    title: 'GOAWAY names a last stream below that of the request, at the only endpoint',
    rule: 'Again on a new connection.',
    origins: [
      server([
        { do: 'goaway', code: 0, last: 'below' },
        { do: 'respond', body: 'second' },
      ]),
    ],
    route: {},
    expect: { ...second, sends: [2] },
  },
  {
    ...onHttp2,
    id: 'S37 error below',
    title: 'GOAWAY (INTERNAL_ERROR) names a last stream below that of the request',
    rule: rejected,
    origins: [server({ do: 'goaway', code: 2, last: 'below' }), answering('second')],
    route: {},
    expect: second,
  },
  {
    ...onHttp2,
    id: 'S37 named',
    title: 'GOAWAY (INTERNAL_ERROR) names the stream of the request as its last one',
    rule: ambiguous,
    origins: [server({ do: 'goaway', code: 2, last: 'this' }), answering('second')],
    expect: ({ repeatable }) => (repeatable ? second : { status: 502, sends: [1, 0], reason: 'not-idempotent' }),
  },
  {
    ...onHttp2,
    id: 'S38',
    title: 'the stream is refused (REFUSED_STREAM)',
    rule: `${rejected} Once, by default.`,
    origins: [server({ do: 'rst', code: 7 }), answering('second')],
    route: {},
    expect: { ...second, attempts: ['request_rejected/rejected', 200], tookMs: [0, 0] },
  },
  {
    ...onHttp2,
    id: 'S38 for ever',
    title: 'every stream is refused',
    rule: 'Two sends by default, no storm.',
    origins: [server({ do: 'rst', code: 7 })],
    route: {},
    expect: { status: 502, sends: [2], reason: 'attempts-exhausted' },
  },
  ...resets.map(([name, code]): Scenario => ({
    backs: ['2'],
    id: `S39 ${name}`,
    title: `the stream is reset with ${name} before an answer`,
    rule: ambiguous,
    origins: [server({ do: 'rst', code }), answering('second')],
    expect: ({ repeatable }) => (repeatable ? second : { status: 502, sends: [1, 0], reason: 'not-idempotent' }),
  })),
  {
    ...onHttp2,
    id: 'S39 body',
    title: 'the stream is reset in the middle of the body',
    rule: 'The client can see that the answer is not whole; nothing is sent again.',
    origins: [server({ do: 'respond', body: 'abcdefghij', cut: { bodyBytes: 3 } }), answering('second')],
    expect: { status: 200, ending: 'cut', sends: [1, 0], reason: 'committed', truncated: true },
  },
  {
    ...onHttp2,
    id: 'S40',
    title: 'the server allows no stream at all',
    rule: 'The request waits for no longer than a connection may take, then 503: a limit, not a fault of the server.',
    origins: [server({ do: 'respond' }, { maxStreams: 0 })],
    route: { retry: { attempts: 0 } },
    expect: { status: 503, sends: [0], flags: ['UO', 'URX'], tookMs: [1000, 1000] },
  },
  {
    ...onHttp2,
    id: 'S41',
    title: 'the server falls silent and answers no PING',
    rule: 'The connection is given up long before the deadline; its streams are those of a lost connection.',
    origins: [{ kind: 'mute' }, answering('second')],
    warm: 1,
    route: { timeouts: { request: '5m' } },
    expect: ({ repeatable }) =>
      repeatable
        ? { ...second, attempts: ['connection_terminated/stale', 200] }
        : { status: 502, sends: [1, 0], reason: 'not-idempotent' },
  },
  {
    ...onHttp2,
    id: 'S42',
    title: 'the server wants calm (ENHANCE_YOUR_CALM)',
    rule: 'It is overloaded: again only after a wait, charged to the budget, and where that is harmless.',
    origins: [
      server([
        { do: 'rst', code: 11 },
        { do: 'respond', body: 'second' },
      ]),
    ],
    route: { retry: { attempts: 1, on: ['rejected', 'reset'], backoff: '100ms', jitter: 'none' } },
    expect: ({ repeatable }) =>
      repeatable
        ? { ...second, sends: [2], attempts: ['overloaded/ambiguous', 200], tookMs: [100, 100] }
        : { status: 503, sends: [1], reason: 'not-idempotent' },
  },
  {
    ...onHttp2,
    id: 'W14',
    title: 'a stream is refused after an interim response',
    rule: 'Who has begun to answer cannot say that nothing was done.',
    origins: [server({ do: 'rst', code: 7, after: 103 }), answering('second')],
    expect: ({ repeatable }) =>
      repeatable
        ? { ...second, interim: [103] }
        : { status: 502, sends: [1, 0], reason: 'not-idempotent', interim: [103] },
  },
];
