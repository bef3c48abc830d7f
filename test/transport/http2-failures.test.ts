import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Failure } from '../../src/core/failure.ts';
import { classifyFailure } from '../../src/core/safety.ts';
import { bytesBody } from '../../src/transport/body/bytes-body.ts';
import { createTransport } from '../../src/transport/create-transport.ts';
import type { ComposedTransport, TransportOptions } from '../../src/transport/create-transport.ts';
import { createSystemClock } from '../../src/transport/system-time.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { frame, frameTypes, number32 } from '../support/http2-frames.ts';
import { startHttp2Origin } from '../support/http2-origin.ts';
import type { OriginStream } from '../support/http2-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { endpointOf, hasFailed, send } from './attempt-recorder.ts';

failOnLeaks();

function http2Transport(t: TestContext, options: Partial<TransportOptions> = {}): ComposedTransport {
  const transport = createTransport({ clock: createSystemClock(), protocol: 'http2', ...options });
  t.after(() => transport.dispose());
  return transport;
}

const post = () => ({ method: 'POST', body: bytesBody('work') });

const rows: readonly (readonly [
  what: string,
  reply: (stream: OriginStream) => void,
  kind: Failure['kind'],
  safety: ReturnType<typeof classifyFailure>,
])[] = [
  ['REFUSED_STREAM', (stream) => stream.reset(7), 'request_rejected', 'rejected'],
  ['a GOAWAY that names no stream', (stream) => stream.goaway(0, 0), 'request_rejected', 'rejected'],
  ['a GOAWAY with an error below the stream', (stream) => stream.goaway(2, 0), 'request_rejected', 'rejected'],
  ['a GOAWAY with an error that may concern it', (stream) => stream.goaway(2, 1), 'http_protocol_error', 'ambiguous'],
  // The code is that of a refused stream, but the stream may have been processed all the same.
  ['a GOAWAY that says REFUSED_STREAM', (stream) => stream.goaway(7, 1), 'http_protocol_error', 'ambiguous'],
  ['ENHANCE_YOUR_CALM', (stream) => stream.reset(11), 'overloaded', 'ambiguous'],
  ['a GOAWAY with ENHANCE_YOUR_CALM', (stream) => stream.goaway(11, 1), 'overloaded', 'ambiguous'],
  ['a GOAWAY with ENHANCE_YOUR_CALM below it', (stream) => stream.goaway(11, 0), 'overloaded', 'rejected'],
  ['HTTP_1_1_REQUIRED', (stream) => stream.reset(13), 'http_1_1_required', 'ambiguous'],
  ['INTERNAL_ERROR', (stream) => stream.reset(2), 'http_protocol_error', 'ambiguous'],
  ['CANCEL', (stream) => stream.reset(8), 'http_protocol_error', 'ambiguous'],
  ['NO_ERROR without an answer', (stream) => stream.reset(0), 'http_protocol_error', 'ambiguous'],
  ['a FIN', (stream) => stream.end(), 'connection_terminated', 'ambiguous'],
  ['a dead connection', (stream) => stream.destroy(), 'connection_terminated', 'ambiguous'],
  [
    'bytes that are no frames',
    (stream) => stream.raw(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')),
    'http_protocol_error',
    'ambiguous',
  ],
  [
    'a refusal after an interim response',
    (stream) => (stream.head(103), stream.reset(7)),
    'http_protocol_error',
    'ambiguous',
  ],
  ['a status that is none', (stream) => stream.head(777, [], true), 'http_protocol_error', 'ambiguous'],
  ['an unasked 101', (stream) => stream.head(101), 'http_protocol_error', 'ambiguous'],
  [
    'a field of a connection',
    (stream) => stream.head(200, [['connection', 'close']]),
    'http_protocol_error',
    'ambiguous',
  ],
  [
    'two lengths',
    (stream) =>
      stream.head(200, [
        ['content-length', '1'],
        ['content-length', '2'],
      ]),
    'http_protocol_error',
    'ambiguous',
  ],
  ['an odd length', (stream) => stream.head(200, [['content-length', '010']]), 'http_protocol_error', 'ambiguous'],
];

for (const [what, reply, kind, safety] of rows) {
  test(`${what} in place of an answer is ${kind}, ${safety}`, async (t) => {
    const origin = await startHttp2Origin(t, reply);
    const sent = await send(http2Transport(t), endpointOf(origin), post()).ended();
    assert.deepEqual(
      [sent.failure?.kind, sent.failure && classifyFailure(sent.failure)],
      [kind, safety],
      JSON.stringify(sent.failure),
    );
    assert.equal(sent.failure?.source, 'upstream');
    assert.equal(sent.failure.reused, false);
    assert.ok(sent.failure.bytesSent > 0);
    assert.equal(origin.streams.length, 1, 'nothing is sent again below the engine');
  });
}

for (const [what, reply] of [
  ['NO_ERROR', (stream) => stream.reset(0)],
  ['CANCEL', (stream) => stream.reset(8)],
  ['REFUSED_STREAM', (stream) => stream.reset(7)],
  ['a FIN', (stream) => stream.end()],
  ['a dead connection', (stream) => stream.destroy()],
  ['a GOAWAY with an error', (stream) => stream.goaway(2, 0)],
] satisfies readonly (readonly [string, (stream: OriginStream) => void])[]) {
  test(`a body that ends with ${what} was cut, never complete`, async (t) => {
    const origin = await startHttp2Origin(t, (stream) => {
      stream.head(200);
      stream.data('half');
    });
    const sent = send(http2Transport(t), endpointOf(origin));
    await sent.until(() => sent.body === 'half');
    reply(origin.streams[0]!);
    await sent.ended();
    assert.equal(sent.failure?.kind, 'http_response_incomplete');
    assert.equal(classifyFailure(sent.failure), 'answered');
  });
}

test('a body shorter than its length was cut', async (t) => {
  const origin = await startHttp2Origin(t, (stream) => {
    stream.head(200, [['content-length', '9']]);
    stream.data('half', true);
  });
  const sent = await send(http2Transport(t), endpointOf(origin)).ended();
  assert.equal(sent.failure?.kind, 'http_response_incomplete');
});

test('a head over the limit is refused as such', async (t) => {
  const origin = await startHttp2Origin(t, (stream) => stream.head(200, [['x', 'y'.repeat(5000)]]));
  const sent = await send(http2Transport(t, { limits: { headBytes: 4096 } }), endpointOf(origin)).ended();
  assert.equal(sent.failure?.kind, 'http_response_header_section_size');
});

test('interim responses without end are cut off', async (t) => {
  const origin = await startHttp2Origin(t, (stream) => {
    for (let n = 0; n < 40; n += 1) stream.head(103);
  });
  const sent = await send(http2Transport(t), endpointOf(origin)).ended();
  assert.equal(sent.failure?.kind, 'http_protocol_error');
  assert.equal(sent.calls.filter((call) => call === '1xx:103').length, 32);
});

test('a peer that speaks HTTP/1.1 is found out with nothing sent', async (t) => {
  const origin = await startOrigin({ connections: { send: 'HTTP/1.1 400 Bad Request\r\n\r\n' } }, { t });
  const sent = await send(http2Transport(t), endpointOf(origin), post()).ended();
  assert.equal(sent.failure?.bytesSent, 0);
  assert.equal(classifyFailure(sent.failure), 'unsent');
});

test('a peer that never sends its SETTINGS runs into the connect limit with nothing sent', async (t) => {
  const clock = createManualClock();
  const origin = await startHttp2Origin(t, () => {}, { greeting: Buffer.alloc(0) });
  const transport = http2Transport(t, { clock });
  const sent = send(transport, endpointOf(origin), { timeouts: { connectMs: 300 } });
  await origin.until(() => origin.connectionCount === 1, 'the connection');
  clock.advance(300);
  await sent.ended();
  assert.deepEqual([sent.failure?.kind, sent.failure?.bytesSent], ['connection_timeout', 0]);
  assert.match(sent.failure?.context ?? '', /^(HTTP\/2 handshake with|connect to) /);
  assert.equal(origin.streams.length, 0);
});

test('an abort resets the stream with CANCEL, and the connection carries the next request', async (t) => {
  const origin = await startHttp2Origin(t, (stream) => {
    if (stream.number === 2) stream.head(204, [], true);
  });
  const transport = http2Transport(t);
  const sent = send(transport, endpointOf(origin), post());
  await origin.until(() => origin.streams.length === 1, 'the request');
  sent.attempt.abort();
  await origin.until(() => origin.resets.length === 1, 'the reset');
  assert.deepEqual(origin.resets, [8]);
  assert.deepEqual(sent.calls, ['connected']);
  const next = await send(transport, endpointOf(origin)).ended();
  assert.deepEqual([next.head?.status, origin.connectionCount], [204, 1]);
});

test('streams that a GOAWAY names end well, and the next request takes another connection', async (t) => {
  const origin = await startHttp2Origin(t, (stream) => {
    if (stream.number === 1) {
      stream.goaway(0, 1);
      return stream.head(103);
    }
    stream.head(204, [], true);
  });
  const transport = http2Transport(t);
  const first = send(transport, endpointOf(origin));
  await first.until(() => first.calls.includes('1xx:103'), 'what was said behind the GOAWAY');
  const second = await send(transport, endpointOf(origin)).ended();
  assert.equal(second.head?.status, 204);
  assert.equal(origin.connectionCount, 2);
  origin.streams[0]!.head(200, [], true);
  assert.equal((await first.ended()).head?.status, 200);
});

test('what a peer allows at the same time is kept, and more connections are made', async (t) => {
  const origin = await startHttp2Origin(t, () => {}, { maxStreams: 2 });
  const transport = http2Transport(t, { maxConnections: 2 });
  const all = [1, 2, 3, 4, 5].map(() => send(transport, endpointOf(origin)));
  await origin.until(() => origin.streams.length === 4, 'four streams');
  assert.equal(origin.connectionCount, 2);
  assert.equal(transport.stats(endpointOf(origin)).waiting, 1);
  origin.streams[0]!.head(200, [], true);
  await origin.until(() => origin.streams.length === 5, 'the fifth');
  assert.equal(origin.connectionCount, 2);
  for (const stream of origin.streams.slice(1)) stream.head(200, [], true);
  for (const sent of all) assert.equal((await sent.ended()).head?.status, 200);
});

test('a peer that allows no stream is waited for, on one connection, for no longer than a connection may take', async (t) => {
  const clock = createManualClock();
  const origin = await startHttp2Origin(t, () => {}, { maxStreams: 0 });
  const transport = http2Transport(t, { clock, maxWaiting: 1 });
  const sent = send(transport, endpointOf(origin), { timeouts: { connectMs: 300 } });
  await origin.until(() => transport.stats(endpointOf(origin)).idle === 1, 'the connection');
  const refused = await send(transport, endpointOf(origin)).ended();
  assert.deepEqual([refused.failure?.kind, refused.failure?.source], ['connection_limit_reached', 'internal']);
  clock.advance(299);
  assert.equal(hasFailed(sent), false);
  clock.advance(1);
  await sent.ended();
  assert.deepEqual([sent.failure?.kind, sent.failure?.source], ['connection_limit_reached', 'internal']);
  assert.equal(origin.connectionCount, 1);
});

test('a peer that answers no PING is given up, and what waits there may have been processed', async (t) => {
  const clock = createManualClock();
  const origin = await startHttp2Origin(
    t,
    (stream) => {
      if (stream.number === 1) stream.head(204, [], true);
    },
    { answersPings: false },
  );
  const transport = http2Transport(t, { clock, pingAfterMs: 1000, pingTimeoutMs: 500 });
  await send(transport, endpointOf(origin)).ended();
  const sent = send(transport, endpointOf(origin));
  await origin.until(() => origin.streams.length === 2, 'the request');
  clock.advance(1000);
  assert.equal(hasFailed(sent), false);
  clock.advance(500);
  await sent.ended();
  assert.equal(sent.failure?.kind, 'connection_terminated');
  assert.equal(classifyFailure(sent.failure), 'stale');
  assert.match(JSON.stringify(sent.failure.cause), /no answer to a PING within 500 ms/);
});

test('a peer that breaks the rules behind its GOAWAY is given up after the time for a PING, not after that of the request', async (t) => {
  const origin = await startHttp2Origin(t, (stream) => {
    // GOAWAY that lets the stream end, DATA on stream 0, and no more.
    const goaway = frame(frameTypes.goaway, 0, 0, Buffer.concat([number32(1), number32(0)]));
    stream.raw(Buffer.concat([goaway, frame(frameTypes.data, 0, 0, Buffer.from('x'))]));
    stream.end();
  });
  const transport = http2Transport(t, { pingAfterMs: 60_000, pingTimeoutMs: 50 });
  const sent = await send(transport, endpointOf(origin)).ended();
  assert.equal(sent.failure?.kind, 'connection_terminated');
});

test('a peer that answers PINGs may take its time', async (t) => {
  const clock = createManualClock();
  const origin = await startHttp2Origin(t, () => {});
  const transport = http2Transport(t, { clock, pingAfterMs: 1000, pingTimeoutMs: 500 });
  const sent = send(transport, endpointOf(origin));
  await origin.until(() => origin.streams.length === 1, 'the request');
  for (let n = 1; n <= 3; n += 1) {
    clock.advance(1000);
    await origin.until(() => origin.pingCount === n, 'a PING');
    // Comes behind the answer to the PING.
    origin.streams[0]!.head(103);
    await sent.until(() => sent.calls.filter((call) => call === '1xx:103').length === n);
  }
  origin.streams[0]!.head(200, [], true);
  assert.equal((await sent.ended()).head?.status, 200);
});

test('whoever is refused for ever makes one connection a try and no storm', async (t) => {
  const origin = await startHttp2Origin(t, (stream) => stream.reset(7));
  const transport = http2Transport(t);
  const first = await Promise.all([1, 2, 3, 4].map(() => send(transport, endpointOf(origin)).ended()));
  const again = await Promise.all([1, 2, 3, 4].map(() => send(transport, endpointOf(origin), { fresh: true }).ended()));
  for (const sent of [...first, ...again]) assert.equal(sent.failure?.kind, 'request_rejected');
  assert.equal(origin.streams.length, 8);
  assert.equal(origin.connectionCount, 2);
});

test('after HTTP_1_1_REQUIRED the endpoint is spoken to in HTTP/1.1', async (t) => {
  const origin = await startHttp2Origin(t, (stream) => stream.reset(13));
  const transport = http2Transport(t);
  const sent = await send(transport, endpointOf(origin)).ended();
  assert.equal(sent.failure?.kind, 'http_1_1_required');
  const next = send(transport, endpointOf(origin));
  await origin.until(() => origin.connectionCount === 2, 'the second connection');
  next.attempt.abort();
  assert.equal(origin.streams.length, 1);
});

test('trailers-only answers and trailers come through', async (t) => {
  const origin = await startHttp2Origin(t, (stream) => {
    if (stream.number === 1) return stream.head(200, [['grpc-status', '14']], true);
    stream.head(200);
    stream.data('message');
    stream.trailers([['grpc-status', '0']]);
  });
  const transport = http2Transport(t);
  const only = await send(transport, endpointOf(origin), post()).ended();
  assert.deepEqual(
    [only.head?.fields, only.head?.bodyKind, only.head?.contentLength],
    [['grpc-status', '14'], 'length', 0],
  );
  const whole = await send(transport, endpointOf(origin), post()).ended();
  assert.deepEqual([whole.body, whole.trailers], ['message', ['grpc-status', '0']]);
});

test('a peer that greets and says goodbye in one breath costs one connection, and proves that nothing was done', async (t) => {
  const greeting = Buffer.concat([frame(frameTypes.settings, 0, 0), frame(frameTypes.goaway, 0, 0, Buffer.alloc(8))]);
  const origin = await startHttp2Origin(t, () => {}, { greeting });
  const sent = await send(http2Transport(t), endpointOf(origin), post()).ended();
  assert.equal(sent.failure?.bytesSent, 0);
  assert.equal(['unsent', 'rejected'].includes(classifyFailure(sent.failure)), true, JSON.stringify(sent.failure));
  assert.deepEqual([origin.streams.length, origin.connectionCount], [0, 1]);
});

test('a request head that HTTP/2 cannot carry is our own fault, not the refusal that Node makes of it', async (t) => {
  const origin = await startHttp2Origin(t, () => {});
  const fields = ['Host', 'h', 'X-Long', 'y'.repeat(70_000)];
  const sent = await send(http2Transport(t), endpointOf(origin), { fields }).ended();
  assert.deepEqual([sent.failure?.kind, sent.failure?.source], ['http_request_error', 'internal']);
  assert.equal(origin.streams.length, 0);
});
