import type { ClientStep, Scenario } from '../scenario.ts';
import { server, withBody } from '../scenario.ts';

const expecting = [['Expect', '100-continue']] as const;
const askThenSend: readonly ClientStep[] = [{ do: 'ask', bodyBytes: 0 }, { do: 'await-word' }, { do: 'send-rest' }];

/** 100-continue and other interim responses. */
export const continuing: readonly Scenario[] = [
  {
    id: 'S15',
    title: 'the client expects a 100, and the server says it',
    rule: 'One 100 reaches the client, the body goes out once.',
    origins: [server({ do: 'continue', body: 'taken' })],
    asks: withBody,
    fields: expecting,
    client: askThenSend,
    expect: { status: 200, text: 'taken', interim: [100], sends: [1], reason: 'success', tookMs: [0, 0] },
  },
  {
    id: 'S16',
    title: 'the client expects a 100, and the server refuses with 401',
    rule: 'The 401 reaches the client without a 100, and the body is never asked for.',
    origins: [server({ do: 'respond', at: 'head', status: 401, body: 'who?' })],
    asks: withBody,
    fields: expecting,
    client: [{ do: 'ask', bodyBytes: 0 }],
    expect: { status: 401, text: 'who?', interim: [], sends: [1], tookMs: [0, 0] },
  },
  {
    id: 'S16 retry',
    title: 'the client expects a 100, and the first endpoint refuses with 503',
    rule: 'A retry needs no copy of a body that was never sent.',
    origins: [
      server({ do: 'respond', at: 'head', status: 503, body: 'busy' }),
      server({ do: 'respond', body: 'second' }),
    ],
    asks: withBody,
    fields: expecting,
    route: { replayBuffer: '0B', retry: { attempts: 1, codes: [503], backoff: '1ms' } },
    client: askThenSend,
    expect: ({ repeatable }) =>
      repeatable
        ? { status: 200, text: 'second', sends: [1, 1], reason: 'success' }
        : { status: 503, text: 'busy', sends: [1, 0], reason: 'not-idempotent' },
  },
  {
    id: 'S17',
    title: 'the client expects a 100, and the server never says it',
    rule: 'After 1 s the body goes out all the same.',
    origins: [server({ do: 'respond', body: 'taken' })],
    asks: withBody,
    fields: expecting,
    client: askThenSend,
    expect: { status: 200, text: 'taken', interim: [100], sends: [1], tookMs: [1000, 1000] },
  },
  {
    id: 'S18',
    title: 'the client expects something unknown',
    rule: '417, and no origin is asked.',
    origins: [server({ do: 'respond' })],
    fields: [['Expect', 'the-unexpected']],
    expect: { status: 417, sends: [0], reason: null },
  },
  {
    id: 'S19',
    title: 'the server says 103 a thousand times',
    rule: 'Cut off after 32 with 502: junk is not asked for again.',
    origins: [server({ do: 'respond', interim: [{ status: 103, count: 1000 }] })],
    expect: {
      status: 502,
      sends: [1],
      attempts: ['http_protocol_error/ambiguous'],
      interim: Array.from({ length: 32 }, () => 103),
    },
  },
  {
    id: 'S20',
    title: 'the server says 103, then answers',
    rule: 'Both are passed on.',
    origins: [
      server({ do: 'respond', interim: [{ status: 103, headers: { Link: '</a.css>; rel=preload' } }], body: 'done' }),
    ],
    expect: { status: 200, text: 'done', interim: [103], sends: [1], reason: 'success' },
  },
  {
    id: 'S20 dies',
    title: 'the server says 103, then resets',
    rule: 'An interim response commits nothing: sent again where that is harmless.',
    origins: [
      server({ do: 'respond', interim: [{ status: 103 }], cut: { headBytes: 0 }, then: 'reset' }),
      server({ do: 'respond', body: 'second' }),
    ],
    expect: ({ repeatable }) =>
      repeatable
        ? { status: 200, text: 'second', interim: [103], sends: [1, 1], reason: 'success' }
        : { status: 502, interim: [103], sends: [1, 0], reason: 'not-idempotent' },
  },
  {
    id: 'S21',
    title: 'the server switches protocols unasked',
    rule: '502, and the connection is gone.',
    origins: [
      server({ do: 'raw', bytes: 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n' }),
    ],
    backs: ['1.1'],
    route: {},
    expect: { status: 502, sends: [1], attempts: ['http_protocol_error/ambiguous'] },
  },
];
