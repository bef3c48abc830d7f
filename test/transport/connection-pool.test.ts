import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesBody } from '../../src/transport/body/bytes-body.ts';
import { blackHoleAddress } from '../support/addresses.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { endpointOf, send, testTransport } from './attempt-recorder.ts';

failOnLeaks();

test('requests that do not overlap share one connection', async (t) => {
  const origin = await startOrigin({}, { t });
  const transport = testTransport(t);
  const reused: boolean[] = [];
  for (let n = 0; n < 5; n += 1) reused.push((await send(transport, endpointOf(origin)).ended()).attempt.reused);
  assert.deepEqual(reused, [false, true, true, true, true]);
  assert.equal(origin.journal.connections.length, 1);
  assert.deepEqual(transport.stats(endpointOf(origin)), { open: 1, idle: 1, waiting: 0 });
});

test('a request sent from inside the end of another one takes over its connection', async (t) => {
  const origin = await startOrigin({}, { t });
  const transport = testTransport(t);
  const first = send(transport, endpointOf(origin));
  await first.ended();
  const second = send(transport, endpointOf(origin));
  assert.equal(second.calls.length, 0, 'no handler is called before send returned');
  await second.ended();
  assert.equal(origin.journal.connections.length, 1);
});

test('the connection used last is taken first', async (t) => {
  const origin = await startOrigin(() => ({ do: 'respond', gate: 'both' }), { t });
  const transport = testTransport(t);
  const first = send(transport, endpointOf(origin));
  const second = send(transport, endpointOf(origin));
  await origin.waitForRequest(2);
  origin.open('both');
  const order: number[] = [];
  void first.ended().then(() => order.push(first.connections[0]?.localPort ?? 0));
  void second.ended().then(() => order.push(second.connections[0]?.localPort ?? 0));
  await first.ended();
  await second.ended();
  const third = await send(transport, endpointOf(origin)).ended();
  assert.equal(third.connections[0]?.localPort, order.at(-1));
});

test('a fresh connection is made on demand although one is idle', async (t) => {
  const origin = await startOrigin({}, { t });
  const transport = testTransport(t);
  await send(transport, endpointOf(origin)).ended();
  const fresh = await send(transport, endpointOf(origin), { fresh: true }).ended();
  assert.equal(fresh.attempt.reused, false);
  assert.equal(origin.journal.connections.length, 2);
});

for (const ending of ['close', 'reset'] as const) {
  test(`an idle connection that its server ended (${ending}) is never used, for any method`, async (t) => {
    const origin = await startOrigin({ do: 'respond', then: ending }, { t });
    const transport = testTransport(t);
    const endpoint = endpointOf(origin);
    for (let n = 1; n <= 5; n += 1) {
      const sent = await send(transport, endpoint, { method: 'POST', body: bytesBody('x') }).ended();
      assert.equal(sent.head?.status, 200);
      assert.equal(sent.attempt.reused, false);
      await origin.waitForNoConnection();
      assert.equal(origin.requestCount(), n);
    }
  });
}

test('bytes that nobody asked for close an idle connection', async (t) => {
  const origin = await startOrigin(
    {
      do: 'steps',
      steps: [
        { step: 'send', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n' },
        { step: 'gate', name: 'later' },
        { step: 'send', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil' },
        { step: 'keep-alive' },
      ],
    },
    { t },
  );
  const transport = testTransport(t);
  await send(transport, endpointOf(origin)).ended();
  assert.equal(transport.stats(endpointOf(origin)).idle, 1);
  origin.open('later');
  await origin.waitForNoConnection();
  assert.equal(transport.stats(endpointOf(origin)).open, 0);
  origin.setScript({ do: 'respond', body: 'good' });
  const next = await send(transport, endpointOf(origin)).ended();
  assert.equal(next.body, 'good');
});

test('bytes behind the end of a response close its connection, and the response stands', async (t) => {
  const origin = await startOrigin(
    [
      { do: 'respond', body: 'one', extra: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil' },
      { do: 'respond', body: 'two' },
    ],
    { t },
  );
  const transport = testTransport(t);
  const first = await send(transport, endpointOf(origin)).ended();
  assert.equal(first.body, 'one');
  const second = await send(transport, endpointOf(origin)).ended();
  assert.equal(second.body, 'two');
  assert.equal(second.attempt.reused, false);
});

for (const [what, behaviour] of [
  ['says close', { do: 'respond', headers: [['Connection', 'close']] }],
  ['speaks HTTP/1.0', { do: 'respond', version: 'HTTP/1.0' }],
] as const) {
  test(`the connection of a server that ${what} is not used again`, async (t) => {
    const origin = await startOrigin(behaviour, { t });
    const transport = testTransport(t);
    await send(transport, endpointOf(origin)).ended();
    assert.equal(transport.stats(endpointOf(origin)).open, 0);
    await origin.waitForNoConnection();
  });
}

test('an idle connection is closed after its time', async (t) => {
  const clock = createManualClock();
  const origin = await startOrigin({}, { t });
  const transport = testTransport(t, { clock, idleMs: 500 });
  await send(transport, endpointOf(origin)).ended();
  clock.advance(499);
  assert.equal(transport.stats(endpointOf(origin)).idle, 1);
  clock.advance(1);
  assert.equal(transport.stats(endpointOf(origin)).open, 0);
  await origin.waitForNoConnection();
});

test('each use gives an idle connection its whole time again', async (t) => {
  const clock = createManualClock();
  const origin = await startOrigin({}, { t });
  const transport = testTransport(t, { clock, idleMs: 500 });
  for (let n = 0; n < 4; n += 1) {
    assert.equal((await send(transport, endpointOf(origin)).ended()).attempt.reused, n > 0);
    clock.advance(499);
  }
  assert.equal(transport.stats(endpointOf(origin)).idle, 1);
});

for (const [seconds, usableMs] of [
  [5, 4000],
  [60, 50_000],
  [20, 18_000],
  [2, 1000],
] as const) {
  test(`a server that closes after ${String(seconds)} s is left ${String(usableMs)} ms after its last answer`, async (t) => {
    const clock = createManualClock();
    const origin = await startOrigin({ do: 'respond', headers: [['Keep-Alive', `timeout=${String(seconds)}`]] }, { t });
    const transport = testTransport(t, { clock });
    await send(transport, endpointOf(origin)).ended();
    clock.advance(usableMs - 1);
    assert.equal(transport.stats(endpointOf(origin)).idle, 1);
    clock.advance(1);
    assert.equal(transport.stats(endpointOf(origin)).idle, 0);
  });
}

test('a server that closes within a second gets no second request on a connection', async (t) => {
  const origin = await startOrigin({ do: 'respond', headers: [['Keep-Alive', 'timeout=1']] }, { t });
  const transport = testTransport(t);
  await send(transport, endpointOf(origin)).ended();
  assert.equal(transport.stats(endpointOf(origin)).open, 0);
});

test('a timer that comes late does not let an old connection be used', async (t) => {
  const clock = createManualClock();
  let lateMs = 0;
  const origin = await startOrigin({}, { t });
  const transport = testTransport(t, {
    clock: { ...clock, nowMs: () => clock.nowMs() + lateMs, setTimer: clock.setTimer },
    idleMs: 500,
  });
  await send(transport, endpointOf(origin)).ended();
  lateMs = 500;
  const next = await send(transport, endpointOf(origin)).ended();
  assert.equal(next.attempt.reused, false);
  assert.equal(origin.journal.connections.length, 2);
});

test('a connection is closed after its last allowed request', async (t) => {
  const origin = await startOrigin({}, { t });
  const transport = testTransport(t, { maxRequestsPerConnection: 2 });
  const reused: boolean[] = [];
  for (let n = 0; n < 5; n += 1) reused.push((await send(transport, endpointOf(origin)).ended()).attempt.reused);
  assert.deepEqual(reused, [false, true, false, true, false]);
});

test('at the limit of connections requests wait their turn, first come, first served', async (t) => {
  const origin = await startOrigin((request) => ({ do: 'respond', gate: request.target }), { t });
  const transport = testTransport(t, { maxConnections: 1 });
  const targets = ['/1', '/2', '/3'];
  const all = targets.map((target) => send(transport, endpointOf(origin), { target }));
  await origin.waitForRequest(1);
  assert.deepEqual(transport.stats(endpointOf(origin)), { open: 1, idle: 0, waiting: 2 });
  for (const target of targets) {
    await origin.waitForRequest(1, { target });
    origin.open(target);
  }
  for (const sent of all) assert.equal((await sent.ended()).head?.status, 200);
  assert.deepEqual(
    origin.journal.requests.map(({ target }) => target),
    targets,
  );
  assert.equal(origin.journal.connections.length, 1);
});

test('a request that waited too long for a connection fails with nothing sent, and is not the upstream’s fault', async (t) => {
  const clock = createManualClock();
  const origin = await startOrigin({ do: 'hang' }, { t });
  const transport = testTransport(t, { clock, maxConnections: 1 });
  const busy = send(transport, endpointOf(origin));
  await origin.waitForRequest();
  const waiting = send(transport, endpointOf(origin), { timeouts: { connectMs: 300 } });
  clock.advance(300);
  assert.deepEqual(waiting.calls, ['failure:connection_limit_reached']);
  assert.equal(waiting.failure?.phase, 'select');
  assert.equal(waiting.failure?.source, 'internal');
  assert.equal(waiting.failure?.bytesSent, 0);
  busy.attempt.abort();
  await origin.waitForNoConnection();
  assert.equal(origin.requestCount(), 1);
});

test('a queue that is full refuses at once', async (t) => {
  const origin = await startOrigin({ do: 'hang' }, { t });
  const transport = testTransport(t, { maxConnections: 1, maxWaiting: 0 });
  const busy = send(transport, endpointOf(origin));
  const refused = await send(transport, endpointOf(origin)).ended();
  assert.equal(refused.failure?.kind, 'connection_limit_reached');
  assert.match(refused.failure.cause?.message ?? '', /maxConnections/);
  busy.attempt.abort();
});

test('a connection that dies makes room for the next in the queue, one that is aborted in the queue leaves it', async (t) => {
  const origin = await startOrigin((request) => (request.target === '/dies' ? { do: 'reset' } : { do: 'respond' }), {
    t,
  });
  const transport = testTransport(t, { maxConnections: 1 });
  const dies = send(transport, endpointOf(origin), { target: '/dies' });
  const leaves = send(transport, endpointOf(origin), { target: '/leaves' });
  const waits = send(transport, endpointOf(origin), { target: '/waits' });
  leaves.attempt.abort();
  await dies.ended();
  await waits.ended();
  assert.equal(waits.head?.status, 200);
  assert.deepEqual(leaves.calls, []);
  assert.equal(origin.requestCount({ target: '/leaves' }), 0);
});

test('a fresh connection at the limit takes the place of the one idle for longest', async (t) => {
  const origin = await startOrigin({}, { t });
  const transport = testTransport(t, { maxConnections: 1 });
  await send(transport, endpointOf(origin)).ended();
  const fresh = await send(transport, endpointOf(origin), { fresh: true }).ended();
  assert.equal(fresh.attempt.reused, false);
  assert.equal(transport.stats(endpointOf(origin)).open, 1);
});

test('endpoints do not share connections or limits', async (t) => {
  const hole = await blackHoleAddress({ t });
  const origin = await startOrigin({}, { t });
  const transport = testTransport(t, { maxConnections: 1 });
  const stuck = send(transport, endpointOf(hole));
  assert.equal((await send(transport, endpointOf(origin)).ended()).head?.status, 200);
  stuck.attempt.abort();
});

test('close ends idle connections now and busy ones after their exchange, and later requests still get an answer', async (t) => {
  const origin = await startOrigin(
    (request) => ({ do: 'respond', ...(request.target === '/slow' ? { gate: 'slow' } : {}) }),
    { t },
  );
  const transport = testTransport(t);
  const slow = send(transport, endpointOf(origin), { target: '/slow' });
  await origin.waitForRequest();
  await send(transport, endpointOf(origin)).ended();
  assert.deepEqual(transport.stats(endpointOf(origin)), { open: 2, idle: 1, waiting: 0 });
  transport.close();
  assert.deepEqual(transport.stats(endpointOf(origin)), { open: 1, idle: 0, waiting: 0 });
  assert.equal((await send(transport, endpointOf(origin)).ended()).head?.status, 200);
  origin.open('slow');
  assert.equal((await slow.ended()).head?.status, 200);
  await transport.dispose();
  assert.equal(transport.socketCount, 0);
  await origin.waitForNoConnection();
});
