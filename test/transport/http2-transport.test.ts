import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesBody } from '../../src/transport/body/bytes-body.ts';
import { createTransport } from '../../src/transport/create-transport.ts';
import { createSystemClock } from '../../src/transport/system-time.ts';
import { startHttp2Origin } from '../support/http2-origin.ts';
import type { OriginStream } from '../support/http2-origin.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { endpointOf, send } from './attempt-recorder.ts';
import type { SentAttempt } from './attempt-recorder.ts';

failOnLeaks();

const mixture: readonly ((stream: OriginStream) => void)[] = [
  (stream) => stream.head(204, [], true),
  (stream) => stream.reset(7),
  (stream) => {
    stream.head(200);
    stream.data('whole', true);
  },
  (stream) => {
    stream.head(200);
    stream.data('cut');
    stream.reset(2);
  },
  (stream) => stream.goaway(0, Math.max(0, stream.id - 2)),
  (stream) => {
    stream.head(103);
    stream.head(413, [], true);
  },
  (stream) => stream.destroy(),
  (stream) => {
    stream.head(200);
    stream.trailers([['x-end', '1']]);
  },
];

test('after a hundred and fifty mixed requests, a third of them aborted, each ended once and nothing is left open', async (t) => {
  const origin = await startHttp2Origin(t, (stream) => mixture[stream.number % mixture.length]!(stream), {
    maxStreams: 3,
  });
  const transport = createTransport({ clock: createSystemClock(), protocol: 'http2', maxConnections: 4 });
  const attempts: { sent: SentAttempt; aborted: boolean }[] = [];
  for (let n = 0; n < 150; n += 1) {
    const aborted = n % 3 === 2;
    const abort = (): boolean => {
      sent.attempt.abort();
      return true;
    };
    const sent: SentAttempt = send(transport, endpointOf(origin), {
      ...(n % 2 === 0 ? {} : { method: 'POST', body: bytesBody('x'.repeat(n * 500)) }),
      fresh: n % 11 === 0,
      ...(aborted && n % 4 === 0 ? { onConnected: () => void abort() } : {}),
      ...(aborted && n % 4 === 1 ? { onHead: abort } : {}),
      ...(aborted && n % 4 === 2 ? { onData: abort } : {}),
    });
    if (aborted && n % 4 === 3) setImmediate(abort);
    if (n % 7 === 0) sent.attempt.abort();
    else if (n % 5 === 0 && !aborted) await sent.ended();
    attempts.push({ sent, aborted: aborted || n % 7 === 0 });
  }
  for (const { sent, aborted } of attempts) if (!aborted) await sent.ended();
  for (const { sent } of attempts) sent.attempt.abort();
  for (const { sent } of attempts) {
    const ends = sent.calls.filter((call) => call === 'complete' || call.startsWith('failure'));
    assert.ok(ends.length <= 1, sent.calls.join(', '));
    if (ends.length === 1) assert.equal(sent.calls.at(-1), ends[0]);
  }
  await transport.dispose();
  assert.equal(transport.socketCount, 0);
  assert.deepEqual(transport.stats(endpointOf(origin)), { open: 0, idle: 0, waiting: 0 });
});

test('an idle session does not keep the process alive', async (t) => {
  const origin = await startHttp2Origin(t, (stream) => stream.head(204, [], true));
  const { spawn } = await import('node:child_process');
  const moduleOf = (name: string): string =>
    JSON.stringify(new URL(`../../src/transport/${name}.ts`, import.meta.url).href);
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { createTransport } from ${moduleOf('create-transport')};
       import { createSystemClock } from ${moduleOf('system-time')};
       const transport = createTransport({ clock: createSystemClock(), protocol: 'http2' });
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
  child.stdout.on('data', (data) => (output += String(data)));
  const status = await new Promise((resolve) => child.once('close', resolve));
  assert.deepEqual([status, output], [0, 'done\n']);
});

test('answers reach two hundred uploads that wait on one connection, whose bodies are more than node:http2 lets wait by itself', async (t) => {
  const origin = await startHttp2Origin(t, () => {});
  const transport = createTransport({ clock: createSystemClock(), protocol: 'http2', maxConnections: 1 });
  const body = 'x'.repeat(200_000);
  const sent = Array.from({ length: 200 }, () =>
    send(transport, endpointOf(origin), { method: 'POST', body: bytesBody(body) }),
  );
  await origin.until(() => origin.streams.length === 200, 'two hundred requests');
  for (const stream of origin.streams) stream.head(413, [], true);
  for (const { ended } of sent) await ended();
  assert.deepEqual([...new Set(sent.map(({ calls }) => calls.at(-1)))], ['complete']);
  assert.equal(origin.connectionCount, 1);
  await transport.dispose();
});
