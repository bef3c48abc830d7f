import type { Expected, Scenario } from '../scenario.ts';
import { answering, server } from '../scenario.ts';

const rule =
  'The client can see that it is not whole (HTTP/1.1: a close without the end; HTTP/2: a reset), nothing is made up, nothing is sent again, and the record says truncated.';
const cutOff: Expected = {
  status: 200,
  ending: 'cut',
  sends: [1, 0],
  reason: 'committed',
  truncated: true,
  flags: ['UC'],
};
const body = 'abcdefghij'.repeat(10);

/** After the head of the answer. */
export const streaming: readonly Scenario[] = [
  ...(['close', 'reset', 'destroy'] as const).map((then): Scenario => ({
    id: then === 'reset' ? 'S27 length' : `S25 ${then}`,
    title: `a body of known length is cut by ${then}`,
    rule,
    origins: [server({ do: 'respond', body, cut: { bodyBytes: 30 }, then }), answering('second')],
    expect: cutOff,
  })),
  ...(['close', 'reset', 'destroy'] as const).map((then): Scenario => ({
    id: then === 'reset' ? 'S27 chunked' : `S26 ${then}`,
    title: `a chunked body is cut by ${then} before its end`,
    rule,
    origins: [
      server({ do: 'respond', body, framing: 'chunked', chunkBytes: 10, cut: { bodyBytes: 40 }, then }),
      answering('second'),
    ],
    expect: cutOff,
  })),
  {
    id: 'S28',
    title: 'a body stalls',
    rule: 'After the idle timeout (60 s by default) as a body that is cut; the origin sees the close.',
    origins: [server({ do: 'respond', body, cut: { bodyBytes: 30 }, then: 'hang' }), answering('second')],
    expect: { ...cutOff, flags: ['UT'], tookMs: [60_000, 60_000], closedAtOrigin: true },
  },
  {
    id: 'S29',
    title: 'a body drips, four bytes each 30 s',
    rule: 'Slow is not dead: it arrives whole, long after the deadline that is for the head alone.',
    origins: [
      server({ do: 'respond', body: 'slow, but alive', drip: { part: 'body', pieceBytes: 4, everyMs: 30_000 } }),
    ],
    expect: { status: 200, text: 'slow, but alive', sends: [1], reason: 'success', tookMs: [90_000, 90_000] },
  },
  {
    id: 'S30',
    title: 'the server answers 413 and closes while the client uploads',
    rule: 'The 413 arrives with its body; it is an answer, no fault.',
    origins: [
      server({ do: 'respond', status: 413, body: 'too large', at: { bodyBytes: 1000 }, then: 'close' }),
      answering('second'),
    ],
    asks: ['PUT', 'POST'],
    bodyBytes: 1024 * 1024,
    expect: { status: 413, text: 'too large', sends: [1, 0], reason: 'not-retryable' },
  },
  {
    id: 'S30 unread',
    title: 'the server answers 413 and reads nothing more, and the client goes on uploading',
    rule: 'As well.',
    origins: [
      server({ do: 'respond', status: 413, body: 'too large', at: { bodyBytes: 1000 }, then: 'stop-reading' }),
      answering('second'),
    ],
    asks: ['PUT'],
    bodyBytes: 8 * 1024 * 1024,
    expect: { status: 413, text: 'too large', sends: [1, 0], reason: 'not-retryable' },
  },
  {
    id: 'S30 early',
    title: 'the server answers 401 with Connection: close right after the head',
    rule: 'The answer arrives, whatever becomes of the body.',
    origins: [
      server({ do: 'respond', status: 401, body: 'who?', at: 'head', headers: { Connection: 'close' }, then: 'close' }),
      answering('second'),
    ],
    asks: ['PUT', 'POST', 'keyed POST'],
    bodyBytes: 100_000,
    expect: { status: 401, text: 'who?', sends: [1, 0], reason: 'not-retryable' },
  },
  {
    id: 'S35 204',
    title: 'a 204 is followed by bytes',
    rule: 'It has no body, and the connection is not used again.',
    origins: [
      server({ do: 'respond', status: 204, forceBody: true, framing: 'none', body: 'HTTP/1.1 200 OK\r\n\r\n' }),
    ],
    backs: ['1.1'],
    expect: { status: 204, text: '', sends: [1], fields: { 'content-length': undefined } },
  },
  {
    id: 'S35 304',
    title: 'a 304 is followed by bytes',
    rule: 'As well.',
    origins: [
      server({ do: 'respond', status: 304, forceBody: true, framing: 'none', body: 'HTTP/1.1 200 OK\r\n\r\n' }),
    ],
    backs: ['1.1'],
    asks: ['GET'],
    expect: { status: 304, text: '', sends: [1] },
  },
  {
    id: 'S35 HEAD',
    title: 'HEAD is answered with a length',
    rule: 'The length is passed on, no body is waited for, one send.',
    origins: [server({ do: 'respond', body: 'x'.repeat(50) }), answering('second')],
    asks: ['HEAD'],
    expect: { status: 200, text: '', sends: [1, 0], reason: 'success', fields: { 'content-length': '50' } },
  },
  {
    id: 'S36',
    title: 'an HTTP/1.0 answer ends with the connection',
    rule: 'It is passed on with an end that the client can see.',
    origins: [server({ do: 'respond', version: 'HTTP/1.0', framing: 'until-close', body: 'old style' })],
    backs: ['1.1'],
    expect: { status: 200, text: 'old style', sends: [1], reason: 'success' },
  },
  {
    id: 'W10',
    title: 'an answer comes with trailers',
    rule: 'They reach the client.',
    origins: [
      server({
        do: 'respond',
        framing: 'chunked',
        body: 'x',
        headers: { Trailer: 'X-Sum' },
        trailers: { 'X-Sum': 'abc' },
      }),
    ],
    fields: [['TE', 'trailers']],
    expect: { status: 200, text: 'x', sends: [1], reason: 'success', trailers: ['x-sum', 'abc'] },
  },
  {
    id: 'W11',
    title: 'the head of an answer comes long before its body',
    rule: 'The client has it at once.',
    origins: [server({ do: 'respond', framing: 'chunked', body: 'event', bodyGate: 'later' })],
    client: [{ do: 'ask' }, { do: 'await-head' }, { do: 'open-gate', gate: 'later' }],
    expect: { status: 200, text: 'event', sends: [1], reason: 'success', tookMs: [0, 0] },
  },
  {
    id: 'W12',
    title: 'two cookies are set',
    rule: 'They stay two.',
    origins: [
      server({
        do: 'respond',
        headers: [
          ['Set-Cookie', 'a=1'],
          ['Set-Cookie', 'b=2'],
        ],
      }),
    ],
    expect: { status: 200, sends: [1], lists: { 'set-cookie': ['a=1', 'b=2'] } },
  },
  {
    id: 'W13',
    title: 'the answer of a failed attempt has fields, a cookie and a body',
    rule: 'Nothing of it is on the wire when another attempt is answered.',
    origins: [
      server({ do: 'respond', status: 500, body: 'first', headers: { 'X-From': 'first', 'Set-Cookie': 'a=1' } }),
      answering('second'),
    ],
    asks: ['GET', 'PUT', 'keyed POST'],
    expect: {
      status: 200,
      text: 'second',
      sends: [1, 1],
      reason: 'success',
      fields: { 'x-from': undefined, 'set-cookie': undefined },
    },
  },
];
