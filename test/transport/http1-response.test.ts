import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { failOnLeaks } from '../support/leak-check.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import type { Behaviour } from '../support/scripted-origin.ts';
import { endpointOf, hasFailed, send, testTransport } from './attempt-recorder.ts';

failOnLeaks();

test('a response comes as head, data and end, with its trailers', async (t) => {
  const origin = await startOrigin(
    {
      do: 'respond',
      headers: [['X-A', '1']],
      body: 'hello',
      framing: 'chunked',
      chunkBytes: 2,
      trailers: [['X-T', 't']],
    },
    { t },
  );
  const sent = await send(testTransport(t), endpointOf(origin)).ended();
  assert.deepEqual(sent.calls, ['connected', 'head:200', 'data', 'complete']);
  assert.equal(sent.body, 'hello');
  assert.deepEqual(sent.trailers, ['X-T', 't']);
  assert.equal(sent.attempt.bytesSent, origin.journal.connections[0]?.bytesReceived);
});

test('interim responses come before the final head and do not end anything', async (t) => {
  const origin = await startOrigin(
    { do: 'respond', interim: [{ status: 102 }, { status: 103, count: 2 }], body: 'x' },
    { t },
  );
  const sent = await send(testTransport(t), endpointOf(origin)).ended();
  assert.deepEqual(sent.calls, ['connected', '1xx:102', '1xx:103', '1xx:103', 'head:200', 'data', 'complete']);
});

test('a body that only the close delimits is complete at the FIN, and its connection is not used again', async (t) => {
  const origin = await startOrigin({ do: 'respond', body: 'all', framing: 'until-close' }, { t });
  const transport = testTransport(t);
  const sent = await send(transport, endpointOf(origin)).ended();
  assert.deepEqual(sent.calls, ['connected', 'head:200', 'data', 'complete']);
  assert.equal(transport.stats(endpointOf(origin)).open, 0);
});

test('a body that only the close delimits is incomplete when a reset ends it', async (t) => {
  const origin = await startOrigin(
    { do: 'respond', body: 'all', framing: 'until-close', then: 'reset', bodyGate: 'body' },
    { t },
  );
  const sent = send(testTransport(t), endpointOf(origin));
  await sent.until(() => sent.head !== undefined);
  origin.open('body');
  await sent.ended();
  assert.equal(sent.failure?.kind, 'http_response_incomplete');
  assert.equal(sent.failure.phase, 'body');
});

const deaths: readonly [what: string, behaviour: Behaviour, kind: string, phase: string, bytes: 'none' | 'some'][] = [
  ['resets without a word', { do: 'reset' }, 'connection_terminated', 'wait', 'none'],
  ['closes without a word', { do: 'close' }, 'connection_terminated', 'wait', 'none'],
  [
    'cuts the status line and closes',
    { do: 'respond', cut: { headBytes: 7 }, then: 'close' },
    'http_response_incomplete',
    'head',
    'some',
  ],
  [
    'cuts the head and resets',
    { do: 'respond', headers: [['X-A', '1']], cut: { headBytes: 25 }, then: 'close' },
    'http_response_incomplete',
    'head',
    'some',
  ],
  [
    'dies after an interim response',
    { do: 'raw', bytes: 'HTTP/1.1 103 Early Hints\r\n\r\n', then: 'close' },
    'connection_terminated',
    'wait',
    'some',
  ],
  [
    'cuts a body with a length',
    { do: 'respond', body: '1234567890', cut: { bodyBytes: 4 }, then: 'close' },
    'http_response_incomplete',
    'body',
    'some',
  ],
  [
    'promises more than it sends',
    { do: 'respond', body: 'short', declaredBytes: 100, then: 'close' },
    'http_response_incomplete',
    'body',
    'some',
  ],
  [
    'ends a chunked body without its last chunk',
    { do: 'respond', body: '1234567890', framing: 'chunked', cut: { bodyBytes: 13 }, then: 'close' },
    'http_response_incomplete',
    'body',
    'some',
  ],
  [
    'answers with garbage',
    { do: 'raw', bytes: 'SSH-2.0-OpenSSH_9.2\r\n', then: 'keep-alive' },
    'http_protocol_error',
    'wait',
    'some',
  ],
  [
    'declares two lengths',
    { do: 'raw', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab' },
    'http_protocol_error',
    'head',
    'some',
  ],
  [
    'declares length and chunks',
    { do: 'raw', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n' },
    'http_protocol_error',
    'head',
    'some',
  ],
  [
    'uses an unknown transfer coding',
    { do: 'raw', bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nab' },
    'http_response_transfer_coding',
    'head',
    'some',
  ],
  [
    'answers status 99',
    { do: 'raw', bytes: 'HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n' },
    'http_protocol_error',
    'head',
    'some',
  ],
  [
    'breaks a chunk',
    { do: 'raw', bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n' },
    'http_protocol_error',
    'body',
    'some',
  ],
  [
    'switches protocols unasked',
    { do: 'raw', bytes: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n' },
    'http_protocol_error',
    'head',
    'some',
  ],
  [
    'floods with interim responses',
    { do: 'respond', interim: [{ status: 103, count: 100 }] },
    'http_protocol_error',
    'head',
    'some',
  ],
  ['never ends its head', { do: 'endless', part: 'head' }, 'http_response_header_section_size', 'head', 'some'],
];

for (const [what, behaviour, kind, phase, bytes] of deaths) {
  test(`an origin that ${what}: one failure, ${kind} in phase ${phase}, and the connection is gone`, async (t) => {
    const origin = await startOrigin(behaviour, { t });
    const transport = testTransport(t);
    const sent = await send(transport, endpointOf(origin)).ended();
    assert.equal(sent.failure?.kind, kind);
    assert.equal(sent.failure.phase, phase);
    assert.equal(sent.failure.source, 'upstream');
    assert.equal(sent.failure.bytesReceived > 0, bytes === 'some');
    assert.ok(sent.failure.bytesSent > 0);
    assert.equal(sent.calls.filter((call) => call.startsWith('failure')).length, 1);
    assert.equal(sent.calls.at(-1), `failure:${kind}`);
    await origin.waitForNoConnection();
    assert.equal(transport.stats(endpointOf(origin)).open, 0);
    assert.equal(origin.requestCount(), 1);
  });
}

for (const [what, method, behaviour] of [
  ['a 204', 'GET', { do: 'respond', status: 204 }],
  ['a 304 with a length', 'GET', { do: 'respond', status: 304, declaredBytes: 50 }],
  ['the answer to HEAD with a length', 'HEAD', { do: 'respond', declaredBytes: 50 }],
] as const) {
  test(`${what} has no body and keeps its connection`, async (t) => {
    const origin = await startOrigin(behaviour, { t });
    const transport = testTransport(t);
    const sent = await send(transport, endpointOf(origin), { method }).ended();
    assert.deepEqual(sent.calls, ['connected', `head:${String(sent.head?.status)}`, 'complete']);
    assert.equal(transport.stats(endpointOf(origin)).idle, 1);
  });

  test(`${what} that has body bytes all the same costs its connection and nothing else`, async (t) => {
    const origin = await startOrigin(
      [
        { ...behaviour, body: 'surprise', forceBody: true },
        { do: 'respond', body: 'clean' },
      ],
      { t },
    );
    const transport = testTransport(t);
    const sent = await send(transport, endpointOf(origin), { method }).ended();
    assert.equal(sent.calls.at(-1), 'complete');
    await origin.waitForNoConnection();
    const next = await send(transport, endpointOf(origin)).ended();
    assert.equal(next.body, 'clean');
    assert.equal(next.attempt.reused, false);
  });
}

test('a slow reader pauses the origin and still gets every byte', async (t) => {
  const whole = Buffer.alloc(3 << 20, 'abcdefg');
  const origin = await startOrigin({ do: 'respond', body: whole }, { t });
  let open = false;
  const sent = send(testTransport(t), endpointOf(origin), { onData: () => open });
  await sent.until(() => sent.calls.includes('data'));
  const stoppedAt = sent.bodyBytes;
  // The origin cannot have sent everything: what neither socket buffer holds is still there.
  assert.ok(stoppedAt < whole.length);
  open = true;
  sent.attempt.resume();
  await sent.ended();
  assert.equal(sent.bodyBytes, whole.length);
});

test('a response that was received whole survives the reset behind it, also with a slow reader', async (t) => {
  const origin = await startOrigin({ do: 'respond', body: 'x'.repeat(30_000), bodyGate: 'body', then: 'reset' }, { t });
  const sent = send(testTransport(t), endpointOf(origin), { onData: () => false });
  await sent.until(() => sent.head !== undefined);
  origin.open('body');
  await sent.ended();
  if (sent.failure !== undefined) {
    // The kernel may drop what it had not given us when the reset came; then it must be visible.
    assert.equal(sent.failure.kind, 'http_response_incomplete');
    assert.ok(sent.bodyBytes < 30_000);
  } else {
    assert.equal(sent.bodyBytes, 30_000);
  }
});

test('nothing reaches the handler after it aborted, whatever the read still held', async (t) => {
  const origin = await startOrigin({ do: 'respond', body: 'hello', framing: 'chunked', chunkBytes: 1 }, { t });
  const transport = testTransport(t);
  const sent = send(transport, endpointOf(origin), { onHead: (_head, attempt) => attempt.abort() });
  await sent.until(() => sent.head !== undefined);
  await transport.dispose();
  assert.deepEqual(sent.calls, ['connected', 'head:200']);
});

test('an abort while the origin thinks, or while it answers, closes the connection', async (t) => {
  const origin = await startOrigin([{ do: 'hang' }, { do: 'endless' }], { t });
  const transport = testTransport(t);
  const thinking = send(transport, endpointOf(origin));
  await origin.waitForRequest(1, { complete: true });
  thinking.attempt.abort();
  await origin.waitForNoConnection();
  const answering = send(transport, endpointOf(origin));
  await answering.until(() => answering.bodyBytes > 0);
  answering.attempt.abort();
  await origin.waitForNoConnection();
  assert.deepEqual(thinking.calls, ['connected']);
  assert.ok(!answering.calls.some((call) => call.startsWith('failure')));
});

test('no answer in time ends the attempt in phase wait', async (t) => {
  const clock = createManualClock();
  const origin = await startOrigin({ do: 'hang' }, { t });
  const sent = send(testTransport(t, { clock }), endpointOf(origin), { timeouts: { attemptMs: 500 } });
  await origin.waitForRequest(1, { complete: true });
  clock.advance(499);
  assert.equal(hasFailed(sent), false);
  clock.advance(1);
  assert.equal(sent.failure?.kind, 'http_response_timeout');
  assert.equal(sent.failure?.phase, 'wait');
  await origin.waitForNoConnection();
});

test('interim responses do not give the origin more time', async (t) => {
  const clock = createManualClock();
  const origin = await startOrigin(
    { do: 'steps', steps: [{ step: 'send', bytes: 'HTTP/1.1 102 Processing\r\n\r\n' }, { step: 'hang' }] },
    { t },
  );
  const sent = send(testTransport(t, { clock }), endpointOf(origin), { timeouts: { attemptMs: 500, headMs: 10_000 } });
  await sent.until(() => sent.calls.includes('1xx:102'));
  clock.advance(500);
  assert.equal(sent.failure?.kind, 'http_response_timeout');
  assert.equal(sent.failure?.phase, 'wait');
});

test('a head that comes drop by drop has its own limit, for the whole of it', async (t) => {
  const clock = createManualClock();
  const origin = await startOrigin(
    {
      do: 'steps',
      steps: [
        { step: 'send', bytes: 'HTTP/1.1 200 OK\r\n' },
        { step: 'gate', name: 'more' },
        { step: 'send', bytes: 'X-A: 1\r\n' },
        { step: 'hang' },
      ],
    },
    { t },
  );
  const sent = send(testTransport(t, { clock }), endpointOf(origin), { timeouts: { attemptMs: 100, headMs: 400 } });
  await received(sent, 17);
  clock.advance(300);
  assert.equal(hasFailed(sent), false, 'the first byte stopped the attempt’s time');
  origin.open('more');
  await received(sent, 18);
  clock.advance(100);
  assert.equal(sent.failure?.kind, 'http_response_timeout');
  assert.equal(sent.failure?.phase, 'head');
});

test('a body that falls silent ends the attempt; one that drips does not', async (t) => {
  const clock = createManualClock();
  const origin = await startOrigin(
    {
      do: 'steps',
      steps: [
        { step: 'send', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\na' },
        { step: 'gate', name: 'b' },
        { step: 'send', bytes: 'b' },
        { step: 'hang' },
      ],
    },
    { t },
  );
  const sent = send(testTransport(t, { clock }), endpointOf(origin), { timeouts: { attemptMs: 100, idleMs: 300 } });
  await sent.until(() => sent.bodyBytes === 1);
  clock.advance(299);
  origin.open('b');
  await sent.until(() => sent.bodyBytes === 2);
  clock.advance(299);
  assert.equal(hasFailed(sent), false);
  clock.advance(1);
  assert.equal(sent.failure?.kind, 'connection_read_timeout');
  assert.equal(sent.failure?.phase, 'body');
});

test('a reader that takes its time is not the origin’s silence', async (t) => {
  const clock = createManualClock();
  const origin = await startOrigin({ do: 'respond', body: Buffer.alloc(1 << 20) }, { t });
  let open = false;
  const sent = send(testTransport(t, { clock }), endpointOf(origin), { timeouts: { idleMs: 300 }, onData: () => open });
  await sent.until(() => sent.bodyBytes > 0);
  clock.advance(10_000);
  assert.equal(hasFailed(sent), false);
  open = true;
  sent.attempt.resume();
  await sent.ended();
  assert.equal(sent.bodyBytes, 1 << 20);
});

/** No handler call tells of half a head: the event loop is turned until the bytes are there. */
async function received(sent: { attempt: { bytesReceived: number } }, bytes: number): Promise<void> {
  for (let turn = 0; turn < 100_000 && sent.attempt.bytesReceived < bytes; turn += 1) await nextTurn();
  assert.ok(sent.attempt.bytesReceived >= bytes);
}
