import type { Scenario } from '../scenario.ts';
import { answering, server, withBody } from '../scenario.ts';

/** While the request is on its way. */
export const sending: readonly Scenario[] = [
  {
    id: 'S10',
    title: 'the server resets in the middle of the upload',
    rule: 'Ambiguous: sent again where that is harmless and the body was kept, else 502.',
    origins: [server({ do: 'reset', at: { bodyBytes: 1000 } }), answering('second')],
    asks: withBody,
    bodyBytes: 20_000,
    expect: ({ repeatable }) =>
      repeatable
        ? { status: 200, text: 'second', sends: [1, 1], reason: 'success' }
        : { status: 502, sends: [1, 0], reason: 'not-idempotent' },
  },
  {
    id: 'S11',
    title: 'the server stops reading a large upload',
    rule: 'The client is held back, memory stays bounded, and after the idle timeout (60 s by default) it is 504.',
    origins: [server({ do: 'stop-reading', at: 'head' })],
    asks: ['PUT'],
    bodyBytes: 16 * 1024 * 1024,
    route: { timeouts: { request: '5m' } },
    expect: {
      status: 504,
      sends: [1],
      tookMs: [60_000, 60_000],
      flags: ['UT'],
      replayLost: 'request-cap',
      attempts: ['connection_write_timeout/ambiguous'],
    },
  },
  {
    id: 'S12',
    title: 'the body is larger than what is kept, and the server resets after it',
    rule: 'It is streamed all the same; what was not kept is not sent again, and the record says so.',
    origins: [server({ do: 'reset' }), answering('second')],
    asks: withBody,
    bodyBytes: 200_000,
    expect: { status: 502, sends: [1, 0], reason: 'body-not-replayable', replayLost: 'request-cap' },
  },
  {
    id: 'S12 unsent',
    title: 'the body is larger than what is kept, and the first endpoint refuses',
    rule: 'Nothing of the body is read before there is a connection: the limit has no say.',
    origins: [{ kind: 'refused' }, answering('second')],
    asks: withBody,
    bodyBytes: 200_000,
    expect: { status: 200, text: 'second', sends: [0, 1], reason: 'success' },
  },
  {
    id: 'S12 whole',
    title: 'the body is larger than what is kept, and the server answers',
    rule: 'It arrives whole.',
    origins: [answering('taken')],
    asks: withBody,
    bodyBytes: 300_000,
    expect: { status: 200, text: 'taken', sends: [1], reason: 'success', replayLost: 'request-cap' },
  },
  {
    id: 'S13',
    title: 'a body of unknown length meets a reset, then an answer',
    rule: 'Kept up to the limit, and sent again with the same bytes.',
    origins: [server({ do: 'reset' }), answering('second')],
    asks: withBody,
    framing: 'chunked',
    bodyBytes: 1000,
    expect: ({ repeatable }) =>
      repeatable
        ? { status: 200, text: 'second', sends: [1, 1], reason: 'success' }
        : { status: 502, sends: [1, 0], reason: 'not-idempotent' },
  },
  {
    id: 'S13 large',
    title: 'a body of unknown length outgrows what is kept, then comes a reset',
    rule: 'As a body of known length.',
    origins: [server({ do: 'reset' }), answering('second')],
    asks: withBody,
    framing: 'chunked',
    bodyBytes: 200_000,
    expect: { status: 502, sends: [1, 0], reason: 'body-not-replayable' },
  },
  {
    id: 'S14',
    title: 'the client sends trailers',
    rule: 'They reach the origin as trailers, and frame nothing.',
    origins: [answering('taken')],
    asks: withBody,
    trailers: { 'X-Sum': 'abc' },
    expect: { status: 200, text: 'taken', sends: [1], reason: 'success' },
  },
  ...[65_535, 65_536, 65_537].map((bodyBytes): Scenario => ({
    id: `W4 ${String(bodyBytes)}`,
    title: `a body of ${String(bodyBytes)} bytes, where 65536 are kept, meets a 503`,
    rule: 'The limit is exact: up to and with it the body is sent again.',
    origins: [server({ do: 'respond', status: 503, body: 'busy' }), answering('second')],
    asks: withBody,
    bodyBytes,
    expect: ({ repeatable }) =>
      repeatable && bodyBytes <= 65_536
        ? { status: 200, text: 'second', sends: [1, 1], reason: 'success' }
        : {
            status: 503,
            text: 'busy',
            sends: [1, 0],
            reason: bodyBytes > 65_536 ? 'body-not-replayable' : 'not-idempotent',
          },
  })),
  {
    id: 'W5',
    title: 'the server answers 503 while a slow client is still sending',
    rule: 'The retry takes what was kept, and what the client still sends; where it may not be, the 503 goes out as it is.',
    origins: [server({ do: 'respond', status: 503, body: 'busy', at: { bodyBytes: 1000 } }), answering('second')],
    asks: withBody,
    bodyBytes: 4000,
    client: [{ do: 'ask', bodyBytes: 2000 }, { do: 'quiet' }, { do: 'send-rest' }],
    expect: ({ repeatable }) =>
      repeatable
        ? { status: 200, text: 'second', sends: [1, 1], reason: 'success' }
        : { status: 503, text: 'busy', sends: [1, 0], reason: 'not-idempotent' },
  },
];
