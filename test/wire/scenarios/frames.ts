import { malformedChunkedBodies, malformedRequests, malformedResponseHeads } from '../../support/malformed.ts';
import type { Expected, Scenario } from '../scenario.ts';
import { answering, server } from '../scenario.ts';

const junk: Scenario['rule'] =
  'An answer that is not one unambiguous message is no answer: 502, the connection is gone, and what anybody can force cheaply is not asked for again.';

/** The policy that a careful operator has: what is ambiguous is not named. */
const route = {};

const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const refusedRequest: Expected = { status: 400, sends: [0], reason: null };

/** Messages that are not one unambiguous message, from both sides. */
export const framing: readonly Scenario[] = [
  ...malformedResponseHeads.map(({ name, bytes }): Scenario => ({
    id: `S33 ${name}`,
    title: `the server’s answer has ${name}`,
    rule: junk,
    family: 'S33: the head of the answer is malformed',
    origins: [server({ do: 'raw', bytes }), answering('second')],
    asks: ['GET', 'POST'],
    backs: ['1.1'],
    route,
    expect: { status: 502, sends: [1, 0], reason: 'not-retryable' },
  })),
  ...malformedChunkedBodies.map(({ name, bytes }): Scenario => ({
    id: `S33 body ${name}`,
    title: `the chunked body of the answer has ${name}`,
    rule: 'What came before the fault may be out already: then the answer is visibly cut, else it is 502. Never a second send.',
    family: 'S33: the chunked body of the answer is malformed',
    origins: [
      server({ do: 'raw', bytes: `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${bytes}` }),
      answering('second'),
    ],
    asks: ['GET'],
    backs: ['1.1'],
    route,
    expect: { status: 'any', ending: 'cut-or-own', sends: [1, 0] },
  })),
  ...malformedRequests
    .filter(({ nodeAccepts }) => nodeAccepts !== true)
    .map(({ name, bytes }): Scenario => ({
      id: `W15 ${name}`,
      title: `the request has ${name}`,
      rule: '400 and a close: no origin ever sees it, and nothing behind it is read as a request.',
      family: 'W15: the request is malformed',
      origins: [answering('never')],
      asks: ['GET'],
      fronts: ['1.1'],
      backs: ['1.1'],
      client: [{ do: 'raw', bytes }],
      expect: { ...refusedRequest, unrecorded: true },
    })),
  ...malformedChunkedBodies.map(({ name, bytes }): Scenario => ({
    id: `W16 ${name}`,
    title: `the chunked body of the request has ${name}`,
    rule: '400 and a close; an origin that has seen the head sees the request break off, never a whole one.',
    family: 'W16: the chunked body of the request is malformed',
    origins: [answering('never')],
    asks: ['POST'],
    fronts: ['1.1'],
    backs: ['1.1'],
    client: [{ do: 'raw', bytes: `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${bytes}` }],
    expect: { status: 400, sends: 'none whole' },
  })),
  ...(['DELETE', 'OPTIONS', 'GET', 'PATCH'] as const).map((method): Scenario => ({
    id: `W17 ${method}`,
    title: `a ${method} comes with a chunked body that spells another request`,
    rule: 'It reaches the origin as the body of one request.',
    family: 'W17: a method that seldom has a body has one',
    origins: [answering('taken')],
    asks: ['GET'],
    fronts: ['1.1'],
    client: [
      {
        do: 'raw',
        bytes: `${method} /d HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
      },
    ],
    expect: { status: 200, text: 'taken', sends: [1], reason: 'success' },
  })),
  {
    id: 'W18',
    title: 'an HTTP/1.0 client is answered in chunks',
    rule: 'It gets the body as it is, delimited by the close.',
    origins: [server({ do: 'respond', framing: 'chunked', body: 'hello' })],
    asks: ['GET'],
    fronts: ['1.1'],
    client: [{ do: 'raw', bytes: 'GET / HTTP/1.0\r\nHost: a\r\n\r\n' }],
    expect: { status: 200, text: 'hello', sends: [1], fields: { 'transfer-encoding': undefined } },
  },
  ...(
    [
      ['X-Bad: a\x01b', 'a control character in a field'],
      [`X-Big: ${'b'.repeat(1024 * 1024)}`, 'a head of a megabyte'],
      [Array.from({ length: 5000 }, (_, n) => `X-${String(n)}: 1`).join('\r\n'), 'thousands of fields'],
    ] as const
  ).map(([fields, what]): Scenario => ({
    id: `S32 ${what}`,
    title: `the server’s answer has ${what}`,
    rule: 'It would be the same again: 502, one send.',
    origins: [server({ do: 'raw', bytes: `HTTP/1.1 200 OK\r\nContent-Length: 0\r\n${fields}\r\n\r\n` })],
    asks: ['GET', 'POST'],
    backs: ['1.1'],
    route,
    expect: { status: 502, sends: [1] },
  })),
];
