import type { ClientStep, Expected, Scenario } from '../scenario.ts';
import { answering, server, withBody } from '../scenario.ts';

const gone: Expected = {
  status: 0,
  sends: [1, 0],
  recorded: 499,
  reason: 'downstream-gone',
  flags: ['DC'],
  closedAtOrigin: true,
  tookMs: [0, 0],
};
const ways = ['close', 'reset'] as const;
const leaves = (how: 'close' | 'reset'): readonly ClientStep[] => [{ do: 'quiet' }, { do: 'leave', how }];
const rule = 'Nothing is sent any more, the origin sees the close at once, and it is nobody’s failure: 499, DC.';

/** Clients that leave, are slow, or say nothing. */
export const leaving: readonly Scenario[] = [
  ...ways.flatMap((how): Scenario[] => [
    {
      id: `S43 waiting, ${how}`,
      title: `the client leaves (${how}) while the server works`,
      rule,
      origins: [server({ do: 'hang' }), answering('second')],
      client: [{ do: 'ask' }, ...leaves(how)],
      expect: gone,
    },
    {
      id: `S43 uploading, ${how}`,
      title: `the client leaves (${how}) in the middle of its body`,
      rule,
      origins: [answering('never'), answering('second')],
      asks: withBody,
      bodyBytes: 1000,
      client: [{ do: 'ask', bodyBytes: 500 }, ...leaves(how)],
      expect: gone,
    },
    {
      id: `S43 backing off, ${how}`,
      title: `the client leaves (${how}) during the wait before a retry`,
      rule: 'There is no further attempt, and the wait ends at once.',
      origins: [server({ do: 'respond', status: 503, headers: { 'Retry-After': '5' } })],
      asks: ['GET', 'PUT', 'keyed POST'],
      client: [{ do: 'ask' }, ...leaves(how)],
      expect: { status: 0, sends: [1], recorded: 499, reason: 'downstream-gone', flags: ['DC'], tookMs: [0, 0] },
    },
    {
      id: `S43 receiving, ${how}`,
      title: `the client leaves (${how}) in the middle of the answer`,
      rule: 'The origin sees the close at once; the record says truncated.',
      origins: [server({ do: 'respond', body: 'abcdef', cut: { bodyBytes: 3 }, then: 'hang' }), answering('second')],
      client: [{ do: 'ask' }, ...leaves(how)],
      expect: {
        status: 200,
        ending: 'cut',
        sends: [1, 0],
        recorded: 200,
        truncated: true,
        flags: ['DC'],
        closedAtOrigin: true,
        tookMs: [0, 0],
      },
    },
    {
      id: `S43 connecting, ${how}`,
      title: `the client leaves (${how}) while the connection to the server is being made`,
      rule: 'Nothing is sent to anybody.',
      origins: [{ kind: 'black-hole' }, answering('second')],
      client: [{ do: 'ask' }, ...leaves(how)],
      expect: { status: 0, sends: [0, 0], recorded: 499, reason: 'downstream-gone', flags: ['DC'], tookMs: [0, 0] },
    },
  ]),
  {
    id: 'S43 head',
    title: 'the client leaves in the middle of its head',
    rule: 'No origin is asked; it is no request.',
    origins: [answering('never')],
    asks: ['GET'],
    fronts: ['1.1'],
    client: [{ do: 'raw', bytes: 'GET / HTTP/1.1\r\nHost: a\r\nX-Half' }, ...leaves('reset')],
    expect: { status: 0, sends: [0], unrecorded: true },
  },
  {
    id: 'S44',
    title: 'the client half-closes right after its request',
    rule: 'It said its last word and still listens: it is answered.',
    origins: [answering('taken')],
    fronts: ['1.1'],
    client: [{ do: 'ask' }, { do: 'half-close' }],
    expect: { status: 200, text: 'taken', sends: [1], reason: 'success' },
  },
  {
    id: 'S45',
    title: 'the client reads nothing of an endless answer',
    rule: 'The origin is held back, memory stays bounded, and after a while without progress the client is cut off.',
    origins: [server({ do: 'endless' })],
    asks: ['GET'],
    client: [{ do: 'ask' }, { do: 'await-head' }, { do: 'stop-reading' }, { do: 'await-record' }, { do: 'read-on' }],
    expect: { status: 200, ending: 'cut', sends: [1], recorded: 200, truncated: true, closedAtOrigin: true },
  },
  {
    id: 'S46 head',
    title: 'the client never ends its head',
    rule: '408 and a close after the header timeout (10 s by default); no origin is asked.',
    origins: [answering('never')],
    asks: ['GET'],
    fronts: ['1.1'],
    client: [{ do: 'raw', bytes: 'GET / HTTP/1.1\r\nHost: a\r\nX-Half' }],
    expect: { status: 408, sends: [0], unrecorded: true },
  },
  {
    id: 'S46 body',
    title: 'the client falls silent in the middle of its body',
    rule: '408 after the idle time of bodies (30 s by default); the origin sees the close and no whole request.',
    origins: [answering('never'), answering('second')],
    asks: withBody,
    bodyBytes: 1000,
    route: { timeouts: { request: '5m' }, retry: { attempts: 3, on: ['reset', 'timeout', 'stale', 'unsent'] } },
    client: [{ do: 'ask', bodyBytes: 500 }],
    expect: { status: 408, sends: [1, 0], flags: ['DPE'], tookMs: [30_000, 30_000], closedAtOrigin: true },
  },
];
