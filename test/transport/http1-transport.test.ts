import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { bytesBody } from '../../src/transport/body/bytes-body.ts';
import { createReplayBody } from '../../src/transport/body/replay-body.ts';
import { createReplayMemory } from '../../src/transport/body/replay-memory.ts';
import { refusedAddress } from '../support/addresses.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { startOrigin, type Behaviour } from '../support/scripted-origin.ts';
import { endpointOf, send, testTransport, type SentAttempt } from './attempt-recorder.ts';

failOnLeaks();

const mixture: readonly Behaviour[] = [
  { do: 'respond', body: 'fine' },
  { do: 'reset' },
  { do: 'respond', body: 'closing', headers: [['Connection', 'close']], then: 'close' },
  { do: 'close' },
  { do: 'respond', body: 'x'.repeat(50_000), framing: 'chunked', chunkBytes: 999 },
  { do: 'raw', bytes: 'garbage\r\n\r\n' },
  { do: 'respond', body: 'then gone', then: 'reset' },
  { do: 'respond', body: 'cut short', cut: { bodyBytes: 4 }, then: 'reset' },
  { do: 'respond', at: 'head', status: 413, then: 'destroy' },
  { do: 'respond', status: 204 },
];

test('after a hundred and fifty mixed requests, a third of them aborted, each ended once and nothing is left open', async (t) => {
  const origin = await startOrigin((request) => mixture[request.number % mixture.length] as Behaviour, { t });
  const refused = await refusedAddress({ t });
  const transport = testTransport(t, { maxConnections: 5 });
  const memory = createReplayMemory(1 << 20);
  const bodies: { destroy(): void }[] = [];
  const attempts: { sent: SentAttempt; aborted: boolean }[] = [];
  for (let n = 0; n < 150; n += 1) {
    const body = createReplayBody({
      source: {
        start(sink) {
          sink.chunk(Buffer.alloc(n * 100, 'b'));
          sink.end([]);
        },
        pause() {},
        resume() {},
      },
      contentLength: n % 2 === 0 ? n * 100 : undefined,
      capBytes: 10_000,
      memory,
    });
    bodies.push(body);
    const aborted = n % 3 === 2;
    const abort = (): boolean => {
      sent.attempt.abort();
      return true;
    };
    const sent: SentAttempt = send(transport, endpointOf(n % 10 === 9 ? refused : origin), {
      ...(n % 3 === 0 ? {} : { method: 'PUT', body }),
      ...(aborted && n % 4 === 0 ? { onConnected: () => void abort() } : {}),
      ...(aborted && n % 4 === 1 ? { onHead: abort } : {}),
      ...(aborted && n % 4 === 2 ? { onData: abort } : {}),
    });
    if (aborted && n % 4 === 3) setImmediate(abort);
    attempts.push({ sent, aborted });
    if (n % 7 === 0) sent.attempt.abort();
    else if (n % 5 === 0 && !aborted) await sent.ended();
  }
  for (const [n, { sent, aborted }] of attempts.entries()) if (!aborted && n % 7 !== 0) await sent.ended();
  for (const { sent } of attempts) sent.attempt.abort();
  for (const body of bodies) body.destroy();
  for (const { sent } of attempts) {
    const ends = sent.calls.filter((call) => call === 'complete' || call.startsWith('failure'));
    assert.ok(ends.length <= 1, sent.calls.join(', '));
    if (ends.length === 1) assert.equal(sent.calls.at(-1), ends[0]);
  }
  await transport.dispose();
  await origin.waitForNoConnection();
  assert.equal(transport.socketCount, 0);
  assert.equal(memory.usedBytes, 0);
  assert.deepEqual(transport.stats(endpointOf(origin)), { open: 0, idle: 0, waiting: 0 });
});

test('limits that cannot work are refused when the transport is made', (t) => {
  assert.throws(() => testTransport(t, { maxConnections: 0 }), /maxConnections is 0; give 1 or more/);
  assert.throws(() => testTransport(t, { idleMs: Number.NaN }), RangeError);
});

test('a write that the system refuses at once is evidence that nothing was sent', async (t) => {
  // The clock stands still, so that a pooled connection is never suspicious and is written to without a second look.
  const origin = await startOrigin({ do: 'respond', then: 'reset' }, { t });
  const transport = testTransport(t, { clock: createManualClock() });
  for (let n = 0; n < 10; n += 1) {
    const requestsBefore = origin.requestCount();
    const sent = await send(transport, endpointOf(origin)).ended();
    if (sent.failure === undefined) {
      assert.equal(origin.requestCount(), requestsBefore + 1);
    } else {
      assert.deepEqual([sent.failure.kind, sent.failure.reused], ['connection_terminated', true]);
      assert.equal(sent.failure.bytesSent === 0, sent.failure.cause?.message.startsWith('write'));
      assert.equal(origin.requestCount(), requestsBefore);
    }
    await origin.waitForNoConnection();
  }
});

test('a request on a reused connection that is closed without an answer is sent once, and says so', async (t) => {
  const origin = await startOrigin([{ do: 'respond' }, { do: 'close' }], { t });
  const transport = testTransport(t);
  await send(transport, endpointOf(origin)).ended();
  const sent = await send(transport, endpointOf(origin), { method: 'POST', body: bytesBody('once') }).ended();
  assert.equal(sent.failure?.kind, 'connection_terminated');
  assert.equal(sent.failure.reused, true);
  assert.equal(sent.failure.bytesReceived, 0);
  assert.ok(sent.failure.bytesSent > 0);
  assert.equal(origin.requestCount({ method: 'POST' }), 1);
  assert.equal(origin.request(1, { method: 'POST' }).body.toString(), 'once');
});

test('a peer that does not speak TLS is a failure in phase tls with nothing sent', async (t) => {
  const origin = await startOrigin({ connections: { send: 'HTTP/1.1 400 Bad Request\r\n\r\n' } }, { t });
  const transport = testTransport(t, { connect: ({ host, port }) => connectTls({ host, port }) });
  const sent = await send(transport, endpointOf(origin)).ended();
  assert.equal(sent.failure?.kind, 'tls_protocol_error');
  assert.equal(sent.failure.phase, 'tls');
  assert.equal(sent.failure.bytesSent, 0);
  assert.match(sent.failure.context ?? '', /^TLS handshake with /);
});

test('a handshake that does not end runs into the connect limit', async (t) => {
  const clock = createManualClock();
  const origin = await startOrigin({ connections: 'hang' }, { t });
  const transport = testTransport(t, { clock, connect: ({ host, port }) => connectTls({ host, port }) });
  const sent = send(transport, endpointOf(origin), { timeouts: { connectMs: 300 } });
  await origin.waitFor((journal) => (journal.connections[0]?.bytesReceived ?? 0) > 0);
  clock.advance(300);
  await sent.ended();
  assert.equal(sent.failure?.kind, 'connection_timeout');
  assert.equal(sent.failure.phase, 'tls');
  await origin.waitForNoConnection();
});

test('an idle connection does not keep the process alive', async (t) => {
  const origin = await startOrigin({}, { t });
  const { spawn } = await import('node:child_process');
  const moduleOf = (name: string): string =>
    JSON.stringify(new URL(`../../src/transport/${name}.ts`, import.meta.url).href);
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { createHttp1Transport } from ${moduleOf('http1/http1-transport')};
       import { createSystemClock } from ${moduleOf('system-time')};
       const transport = createHttp1Transport({ clock: createSystemClock() });
       const nothing = () => {};
       transport.send(
         { host: '127.0.0.1', port: ${String(origin.port)}, key: 'origin' },
         { method: 'GET', target: '/', fields: ['Host', 'h'], body: undefined, expectContinueMs: 0 },
         { onConnected: nothing, onInformational: nothing, onHead: nothing, onData: () => true, onComplete: () => console.log('done'), onFailure: (failure) => console.log(failure) },
         { timeouts: { connectMs: 5000, attemptMs: 60000, headMs: 60000, idleMs: 60000 }, freshConnection: false },
       );`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  child.stdout.on('data', (data) => {
    output += String(data);
  });
  const status = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(status, 0);
  assert.equal(output, 'done\n');
});
