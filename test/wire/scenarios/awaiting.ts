import type { Scenario } from '../scenario.ts';
import { answering, server } from '../scenario.ts';

const again = { status: 200, text: 'second', sends: [1, 1], reason: 'success' } as const;
const notAgain = { status: 502, sends: [1, 0], reason: 'not-idempotent' } as const;

/** Until the head of the answer is whole. */
export const awaiting: readonly Scenario[] = [
  ...(
    [
      ['half a status line', 'HTTP/1.1 20'],
      ['half a head', 'HTTP/1.1 200 OK\r\nContent-Le'],
      ['a head without its empty line', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n'],
    ] as const
  ).flatMap(([what, bytes]) =>
    (['close', 'reset'] as const).map((then): Scenario => ({
      id: `S22 ${what}, ${then}`,
      title: `${what}, then ${then === 'close' ? 'a FIN' : 'a reset'}`,
      rule: 'The server worked on it: again only where that is harmless and the policy says so, else 502.',
      origins: [server({ do: 'raw', bytes, then }), answering('second')],
      backs: ['1.1'],
      expect: ({ repeatable }) => (repeatable ? again : notAgain),
    })),
  ),
  ...(['close', 'reset', 'destroy'] as const).map((how): Scenario => ({
    id: `S22 no byte, ${how}`,
    title: `a fresh connection ends by ${how} with no byte of an answer`,
    rule: 'The request was sent, and nobody knows what became of it: ambiguous, not stale.',
    origins: [server({ do: how }), answering('second')],
    expect: ({ repeatable }) => (repeatable ? again : notAgain),
  })),
  {
    id: 'S22 default',
    title: 'a fresh connection is reset with no byte of an answer, under the default policy',
    rule: 'Ambiguous failures are retried by nobody who has not asked for it.',
    origins: [server({ do: 'reset' }), answering('second')],
    route: {},
    expect: { status: 502, sends: [1, 0], reason: 'not-retryable' },
  },
  {
    id: 'S23',
    title: 'the server never answers, with a limit on each attempt',
    rule: 'The attempt is given up; again where that is harmless, else 504.',
    origins: [server({ do: 'hang' }), answering('second')],
    route: {
      timeouts: { backendRequest: '2s' },
      retry: { attempts: 1, on: ['timeout'], backoff: '10ms', jitter: 'none' },
    },
    expect: ({ repeatable }) =>
      repeatable
        ? { ...again, tookMs: [2000, 2010], attempts: ['http_response_timeout/ambiguous', 200] }
        : { status: 504, sends: [1, 0], reason: 'not-idempotent', tookMs: [2000, 2000], flags: ['UT'] },
  },
  {
    id: 'S23 deadline',
    title: 'the server never answers',
    rule: 'At the deadline of the request (15 s by default) 504, the origin sees the close.',
    origins: [server({ do: 'hang' })],
    expect: {
      status: 504,
      sends: [1],
      reason: 'deadline',
      flags: ['UT'],
      tookMs: [15_000, 15_000],
      closedAtOrigin: true,
    },
  },
  {
    id: 'S23 all',
    title: 'no attempt is answered in time',
    rule: 'Every attempt timed out: 504.',
    origins: [server({ do: 'hang' }), server({ do: 'hang' })],
    route: {
      timeouts: { backendRequest: '1s' },
      retry: { attempts: 1, on: ['timeout'], backoff: '10ms', jitter: 'none' },
    },
    expect: ({ repeatable }) =>
      repeatable
        ? { status: 504, sends: [1, 1], reason: 'attempts-exhausted', flags: ['UT', 'URX'], tookMs: [2000, 2020] }
        : { status: 504, sends: [1, 0], reason: 'not-idempotent', flags: ['UT'] },
  },
  {
    id: 'S24',
    title: 'the head of the answer drips, ten bytes each 3 s',
    rule: 'The limit (10 s) is on the whole head, not on each read.',
    origins: [
      server({
        do: 'respond',
        headers: { 'X-Long': 'x'.repeat(500) },
        drip: { part: 'head', pieceBytes: 10, everyMs: 3000 },
      }),
    ],
    backs: ['1.1'],
    route: {},
    expect: { status: 504, sends: [1], tookMs: [10_000, 10_000], attempts: ['http_response_timeout/ambiguous'] },
  },
  ...[500, 502, 503, 504, 429].map((status): Scenario => ({
    id: `S31 ${String(status)}`,
    title: `the first endpoint answers ${String(status)}, which the policy names`,
    rule: 'Again at another endpoint where that is harmless; else the answer itself, with its body.',
    origins: [server({ do: 'respond', status, body: 'not now', headers: { 'X-From': 'first' } }), answering('second')],
    expect: ({ repeatable }) =>
      repeatable
        ? { ...again, fields: { 'x-from': undefined }, attempts: [status, 200] }
        : { status, text: 'not now', sends: [1, 0], reason: 'not-idempotent', fields: { 'x-from': 'first' } },
  })),
  {
    id: 'S31 unnamed',
    title: 'the server answers 503, and the policy names no codes',
    rule: 'The answer itself.',
    origins: [
      server({ do: 'respond', status: 503, body: 'busy', headers: { 'Retry-After': '7' } }),
      answering('second'),
    ],
    route: {},
    expect: {
      status: 503,
      text: 'busy',
      sends: [1, 0],
      reason: 'not-retryable',
      fields: { 'retry-after': '7' },
    },
  },
  {
    id: 'S31 all',
    title: 'every attempt is answered 503',
    rule: 'The last real answer, never an empty one of ours.',
    origins: [
      server({ do: 'respond', status: 503, body: 'first' }),
      server({ do: 'respond', status: 503, body: 'second', headers: { 'X-From': 'second' } }),
    ],
    route: { retry: { attempts: 1, codes: [503], backoff: '10ms' } },
    expect: ({ repeatable }) =>
      repeatable
        ? { status: 503, text: 'second', sends: [1, 1], reason: 'attempts-exhausted', flags: ['URX'] }
        : { status: 503, text: 'first', sends: [1, 0], reason: 'not-idempotent' },
  },
  {
    id: 'S31 wait',
    title: 'the server answers 503 with Retry-After: 2',
    rule: 'The retry comes no earlier than asked.',
    origins: [
      server([
        { do: 'respond', status: 503, headers: { 'Retry-After': '2' } },
        { do: 'respond', body: 'second' },
      ]),
    ],
    expect: ({ repeatable }) =>
      repeatable
        ? { ...again, sends: [2], tookMs: [2000, 3000] }
        : { status: 503, sends: [1], reason: 'not-idempotent', fields: { 'retry-after': '2' }, tookMs: [0, 0] },
  },
  {
    id: 'S31 long',
    title: 'the server answers 503 with Retry-After: 3600',
    rule: 'Longer than anybody waits: the answer at once, with its Retry-After.',
    origins: [
      server({ do: 'respond', status: 503, body: 'later', headers: { 'Retry-After': '3600' } }),
      answering('second'),
    ],
    expect: ({ repeatable }) => ({
      status: 503,
      text: 'later',
      sends: [1, 0],
      reason: repeatable ? 'retry-after-too-long' : 'not-idempotent',
      fields: { 'retry-after': '3600' },
      tookMs: [0, 0],
    }),
  },
  ...[421, 425].map((status): Scenario => ({
    id: `W6 ${String(status)}`,
    title: `the server answers ${String(status)}`,
    rule: 'It says that it has not processed the request: again on a new connection, whatever the method.',
    origins: [
      server([
        { do: 'respond', status },
        { do: 'respond', body: 'second' },
      ]),
    ],
    route: {},
    expect: { ...again, sends: [2] },
  })),
  {
    id: 'W7',
    title: 'the server answers 404',
    rule: 'An answer like any other.',
    origins: [server({ do: 'respond', status: 404, body: 'not here' }), answering('second')],
    expect: { status: 404, text: 'not here', sends: [1, 0], reason: 'not-retryable' },
  },
  {
    id: 'W8',
    title: 'the error body of a failed attempt never ends',
    rule: 'It holds nothing up: at most 64 KiB or 100 ms of it are read.',
    origins: [server({ do: 'endless', status: 503 }), answering('second')],
    asks: ['GET', 'PUT', 'keyed POST'],
    expect: { ...again, tookMs: [0, 200] },
  },
  {
    id: 'W9',
    title: 'the error body of a failed attempt stalls',
    rule: 'It holds nothing up either.',
    origins: [
      server({ do: 'respond', status: 503, body: 'abc', cut: { bodyBytes: 1 }, then: 'hang' }),
      answering('second'),
    ],
    asks: ['GET', 'PUT', 'keyed POST'],
    expect: { ...again, tookMs: [0, 200] },
  },
];
