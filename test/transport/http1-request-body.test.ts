import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Failure } from '../../src/core/failure.ts';
import { bytesBody, emptyBody } from '../../src/transport/body/bytes-body.ts';
import { createReplayBody } from '../../src/transport/body/replay-body.ts';
import { createReplayMemory } from '../../src/transport/body/replay-memory.ts';
import type { BodySink, BodySource, RequestBody } from '../../src/transport/body/request-body.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { endpointOf, hasFailed, send, testTransport } from './attempt-recorder.ts';

failOnLeaks();

interface Upload {
  readonly body: RequestBody;
  readonly sink: () => BodySink;
  readonly isPaused: () => boolean;
  push(text: string | Buffer): void;
}

/** A body whose client is the test. */
function upload(contentLength?: number): Upload {
  let sink: BodySink | undefined;
  let paused = false;
  const source: BodySource = {
    start(given) {
      sink = given;
    },
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
    },
  };
  const body = createReplayBody({ source, contentLength, capBytes: 65_536, memory: createReplayMemory(1 << 20) });
  return {
    body,
    sink: () => {
      assert.ok(sink !== undefined, 'nobody reads the body yet');
      return sink;
    },
    isPaused: () => paused,
    push: (text) => sink?.chunk(Buffer.from(text as string)),
  };
}

test('a body goes out with its length, framed once and byte for byte', async (t) => {
  const origin = await startOrigin({}, { t });
  const sent = await send(testTransport(t), endpointOf(origin), {
    method: 'POST',
    target: '/x?y=1',
    fields: ['Host', 'h', 'Content-Length', '999', 'X-A', '1'],
    body: bytesBody('hello'),
  }).ended();
  assert.equal(sent.head?.status, 200);
  assert.equal(
    origin.journal.connections[0]?.received.toString('latin1'),
    'POST /x?y=1 HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nContent-Length: 5\r\n\r\nhello',
  );
  assert.equal(sent.attempt.bytesSent, origin.journal.connections[0].bytesReceived);
});

test('a body of unknown length goes out chunked, as it arrives, with its trailers', async (t) => {
  const origin = await startOrigin({}, { t });
  const { body, push, sink } = upload();
  const sent = send(testTransport(t), endpointOf(origin), { method: 'PUT', body });
  const request = await origin.waitForRequest();
  push('hello');
  await origin.waitFor(() => request.bodyBytes === 5);
  push('x'.repeat(40_000));
  sink().end(['X-T', 't']);
  await sent.ended();
  assert.equal(request.framing, 'chunked');
  assert.equal(request.body.toString(), `hello${'x'.repeat(40_000)}`);
  assert.deepEqual(request.trailers, ['X-T', 't']);
  assert.equal(sent.attempt.bytesSent, origin.journal.connections[0]?.bytesReceived);
  assert.equal(hasFailed(sent), false);
});

test('an empty body of unknown length is one empty chunk, and of known length none', async (t) => {
  const origin = await startOrigin({}, { t });
  const transport = testTransport(t);
  const { body, sink } = upload();
  const sent = send(transport, endpointOf(origin), { method: 'POST', body });
  await origin.waitForRequest();
  sink().end([]);
  await sent.ended();
  await send(transport, endpointOf(origin), { method: 'PUT', body: emptyBody() }).ended();
  await send(transport, endpointOf(origin), { method: 'GET' }).ended();
  assert.deepEqual(
    origin.journal.requests.map(({ method, framing, bodyBytes, complete }) => [method, framing, bodyBytes, complete]),
    [
      ['POST', 'chunked', 0, true],
      ['PUT', 'length', 0, true],
      ['GET', 'none', 0, true],
    ],
  );
  assert.equal(origin.journal.connections.length, 1);
});

test('a large body streams through with back-pressure and arrives unchanged', async (t) => {
  const origin = await startOrigin({}, { t });
  const whole = Buffer.alloc(8 << 20);
  for (let at = 0; at < whole.length; at += 4) whole.writeUInt32LE(at, at);
  const sent = await send(testTransport(t), endpointOf(origin), { method: 'PUT', body: bytesBody(whole) }).ended();
  assert.equal(sent.head?.status, 200);
  assert.equal(origin.request().bodySha256, createHash('sha256').update(whole).digest('hex'));
});

test('an origin that stops reading pauses the uploader, and runs into the write limit', async (t) => {
  const clock = createManualClock();
  const origin = await startOrigin({ do: 'stop-reading', at: 'head' }, { t });
  const { body, push, isPaused } = upload();
  const sent = send(testTransport(t, { clock }), endpointOf(origin), {
    method: 'PUT',
    body,
    timeouts: { idleMs: 300, attemptMs: 100 },
  });
  await origin.waitForRequest();
  // More than any socket buffer holds.
  for (let pushed = 0; pushed < 64 << 20 && !isPaused(); pushed += 65_536) {
    push(Buffer.alloc(65_536));
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(isPaused(), true);
  clock.advance(299);
  assert.equal(hasFailed(sent), false, 'the attempt’s time does not run while the request is not out');
  clock.advance(1);
  assert.equal(sent.failure?.kind, 'connection_write_timeout');
  assert.equal(sent.failure?.phase, 'send');
});

test('a slow uploader does not use up the attempt’s time; it begins when the request is out', async (t) => {
  const clock = createManualClock();
  const origin = await startOrigin({ do: 'hang' }, { t });
  const { body, push, sink } = upload(3);
  const sent = send(testTransport(t, { clock }), endpointOf(origin), {
    method: 'PUT',
    body,
    timeouts: { attemptMs: 500, idleMs: 100 },
  });
  const request = await origin.waitForRequest();
  for (const letter of 'abc') {
    clock.advance(5000);
    push(letter);
    await origin.waitFor(() => request.body.includes(letter));
  }
  sink().end([]);
  assert.equal(hasFailed(sent), false);
  clock.advance(499);
  assert.equal(hasFailed(sent), false);
  clock.advance(1);
  assert.equal(sent.failure?.kind, 'http_response_timeout');
  assert.equal(sent.failure?.phase, 'wait');
});

test('an uploader that leaves ends the attempt at the origin, and is not the origin’s fault', async (t) => {
  const origin = await startOrigin({}, { t });
  const { body, push, sink } = upload(100);
  const sent = send(testTransport(t), endpointOf(origin), { method: 'PUT', body });
  const request = await origin.waitForRequest();
  push('abc');
  await origin.waitFor(() => request.bodyBytes === 3);
  const left: Failure = {
    kind: 'downstream_closed',
    source: 'downstream',
    phase: 'body',
    reused: false,
    bytesSent: 0,
    bytesReceived: 3,
  };
  sink().fail(left);
  await sent.ended();
  assert.equal(sent.failure?.kind, 'downstream_closed');
  assert.equal(sent.failure.source, 'downstream');
  assert.equal(sent.failure.phase, 'send');
  assert.equal(sent.failure.bytesSent, sent.attempt.bytesSent);
  await origin.waitForNoConnection();
  assert.equal(request.complete, false);
});

for (const [what, text, ends] of [
  ['longer', 'abcd', false],
  ['shorter', 'ab', true],
] as const) {
  test(`a body that is ${what} than declared is cut off, never passed on as whole`, async (t) => {
    const origin = await startOrigin({}, { t });
    const { body, push, sink } = upload(3);
    const sent = send(testTransport(t), endpointOf(origin), { method: 'PUT', body });
    await origin.waitForRequest();
    push(text);
    if (ends) sink().end([]);
    await sent.ended();
    assert.equal(sent.failure?.kind, 'proxy_internal_error');
    assert.match(sent.failure.cause?.message ?? '', /declared 3 bytes/);
    await origin.waitForNoConnection();
    assert.equal(origin.request().complete, false);
  });
}

test('a body that a failed attempt read goes out again, whole', async (t) => {
  const origin = await startOrigin([{ do: 'reset' }, { do: 'respond' }], { t });
  const transport = testTransport(t);
  const { body, push, sink } = upload();
  const first = send(transport, endpointOf(origin), { method: 'PUT', body });
  await origin.waitForRequest();
  push('hello');
  sink().end([]);
  await first.ended();
  assert.equal(first.failure?.kind, 'connection_terminated');
  const second = await send(transport, endpointOf(origin), { method: 'PUT', body }).ended();
  assert.equal(second.head?.status, 200);
  assert.equal(origin.request(2).body.toString(), 'hello');
});

test('a body that cannot be opened is a failure, not an exception', async (t) => {
  const origin = await startOrigin({}, { t });
  const body = bytesBody('x');
  body.destroy();
  const sent = await send(testTransport(t), endpointOf(origin), { method: 'PUT', body }).ended();
  assert.equal(sent.failure?.kind, 'proxy_internal_error');
  assert.match(sent.failure.cause?.message ?? '', /destroyed/);
});

test('a held body goes out when the origin says continue', async (t) => {
  const origin = await startOrigin(
    {
      do: 'steps',
      steps: [
        { step: 'until', point: 'head' },
        { step: 'gate', name: 'go' },
        { step: 'send', bytes: 'HTTP/1.1 100 Continue\r\n\r\n' },
        { step: 'until', point: 'complete' },
        { step: 'send', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n' },
        { step: 'keep-alive' },
      ],
    },
    { t },
  );
  const transport = testTransport(t);
  const sent = send(transport, endpointOf(origin), {
    method: 'PUT',
    fields: ['Host', 'h', 'Expect', '100-continue'],
    body: bytesBody('hello'),
    expectContinueMs: 60_000,
  });
  const request = await origin.waitForRequest();
  assert.equal(request.bodyBytes, 0);
  origin.open('go');
  await sent.ended();
  assert.deepEqual(sent.calls, ['connected', '1xx:100', 'head:200', 'complete']);
  assert.equal(request.body.toString(), 'hello');
  assert.equal(transport.stats(endpointOf(origin)).idle, 1);
});

test('a held body goes out without a word from the origin when its time has come', async (t) => {
  const clock = createManualClock();
  const origin = await startOrigin({}, { t });
  const sent = send(testTransport(t, { clock }), endpointOf(origin), {
    method: 'PUT',
    body: bytesBody('hello'),
    expectContinueMs: 1000,
  });
  const request = await origin.waitForRequest();
  clock.advance(999);
  assert.ok(sent.attempt.bytesSent < 100);
  assert.equal(request.bodyBytes, 0);
  clock.advance(1);
  await sent.ended();
  assert.equal(sent.head?.status, 200);
  assert.equal(request.body.toString(), 'hello');
});

test('a final answer to a held body: no body is sent, and the connection is not used again', async (t) => {
  const origin = await startOrigin({ do: 'respond', at: 'head', status: 401, body: 'who?' }, { t });
  const transport = testTransport(t);
  const { body } = upload(5);
  const sent = await send(transport, endpointOf(origin), { method: 'POST', body, expectContinueMs: 60_000 }).ended();
  assert.deepEqual(sent.calls, ['connected', 'head:401', 'data', 'complete']);
  assert.equal(body.bytesReceived, 0);
  assert.equal(body.replayable, true);
  await origin.waitForNoConnection();
  assert.equal(origin.request().bodyBytes, 0);
});

for (const then of ['keep-alive', 'close', 'destroy'] as const) {
  test(`an early refusal (then ${then}) is relayed, the upload stops, the connection is not used again`, async (t) => {
    const origin = await startOrigin(
      { do: 'respond', at: { bodyBytes: 100_000 }, status: 413, body: 'too much', then },
      { t },
    );
    const transport = testTransport(t);
    const sent = await send(transport, endpointOf(origin), {
      method: 'POST',
      body: bytesBody(Buffer.alloc(32 << 20)),
    }).ended();
    assert.deepEqual(sent.calls, ['connected', 'head:413', 'data', 'complete']);
    assert.equal(sent.body, 'too much');
    await origin.waitForNoConnection();
    assert.ok(origin.request().bodyBytes < 32 << 20);
    assert.equal(transport.stats(endpointOf(origin)).open, 0);
  });
}

test('a refusal is read also when our next write fails because of it', async (t) => {
  const origin = await startOrigin(
    { do: 'respond', at: 'head', status: 401, body: 'no', headers: [['Connection', 'close']], then: 'destroy' },
    { t },
  );
  const { body, push } = upload(1000);
  let wrote = 0;
  const sent = send(testTransport(t), endpointOf(origin), { method: 'POST', body });
  await origin.waitForRequest();
  await origin.waitForNoConnection();
  // The answer and the reset may both be in our kernel now, unread: writing meets the reset first.
  for (; wrote < 100 && sent.failure === undefined && sent.trailers === undefined; wrote += 1) push('x');
  await sent.ended();
  assert.deepEqual(sent.calls, ['connected', 'head:401', 'data', 'complete']);
});

test('a success that comes early does not stop the upload: the origin may need the rest for its answer', async (t) => {
  const origin = await startOrigin(
    {
      do: 'steps',
      steps: [
        { step: 'until', point: 'head' },
        { step: 'send', bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n' },
        { step: 'until', point: 'complete' },
        { step: 'send', bytes: '1\r\nb\r\n0\r\n\r\n' },
        { step: 'keep-alive' },
      ],
    },
    { t },
  );
  const transport = testTransport(t);
  const { body, push, sink } = upload(6);
  const sent = send(transport, endpointOf(origin), { method: 'PUT', body });
  await sent.until(() => sent.body === 'a');
  push('abcdef');
  sink().end([]);
  await sent.ended();
  assert.equal(sent.body, 'ab');
  assert.equal(origin.request().body.toString(), 'abcdef');
  assert.equal(transport.stats(endpointOf(origin)).idle, 1);
});

test('a reset in the middle of an upload is a failure in phase send', async (t) => {
  const origin = await startOrigin({ do: 'reset', at: { bodyBytes: 10 } }, { t });
  const { body, push } = upload(100);
  const sent = send(testTransport(t), endpointOf(origin), { method: 'POST', body });
  await origin.waitForRequest();
  push('0123456789');
  await sent.ended();
  assert.equal(sent.failure?.kind, 'connection_terminated');
  assert.equal(sent.failure.phase, 'send');
  assert.ok(sent.failure.bytesSent > 10);
});

test('an abort in the middle of an upload is seen by the origin at once, also when it does not read', async (t) => {
  const origin = await startOrigin({ do: 'stop-reading', at: { bodyBytes: 1 } }, { t });
  const transport = testTransport(t);
  const sent = send(transport, endpointOf(origin), { method: 'POST', body: bytesBody(Buffer.alloc(32 << 20)) });
  await origin.waitForRequest();
  sent.attempt.abort();
  await transport.dispose();
  assert.deepEqual(sent.calls, ['connected']);
  await origin.close();
});
