import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { patternBytes } from '../support/fields.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { requestRaw } from '../support/raw-client.ts';
import { startRig, startRigOf } from '../support/running-gateway.ts';

failOnLeaks();

const bold = { retry: { attempts: 3, codes: [503], on: ['unsent', 'stale', 'reset'], backoff: '1ms' } };

test('an early 200 does not stop the upload: both directions go on at once', async (t) => {
  const { origin, client } = await startRig(t, {
    do: 'steps',
    steps: [
      { step: 'until', point: { bodyBytes: 5 } },
      { step: 'send', bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nearly\r\n' },
      { step: 'until', point: 'complete' },
      { step: 'send', bytes: '4\r\nlate\r\n0\r\n\r\n' },
      { step: 'answered' },
    ],
  });
  await client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345', ['POST']);
  assert.equal((await client.head()).status, 200);
  await client.send('67890');
  const response = await client.response();
  assert.deepEqual([response.text, response.complete], ['earlylate', true]);
  assert.equal(origin.request().body.toString(), '1234567890');
});

test('a large upload and a large download pass at once, byte for byte', async (t) => {
  const body = patternBytes(6 * 1024 * 1024, 7);
  const down = patternBytes(6 * 1024 * 1024, 9);
  const { origin, client } = await startRig(t, {
    do: 'steps',
    steps: [
      { step: 'until', point: { bodyBytes: 1 } },
      { step: 'send', bytes: `HTTP/1.1 200 OK\r\nContent-Length: ${down.length}\r\n\r\n` },
      { step: 'send', bytes: down.subarray(0, -1) },
      // The answer must not end first: what is left of the upload would rightly be given up.
      { step: 'until', point: 'complete' },
      { step: 'send', bytes: down.subarray(-1) },
      { step: 'answered' },
    ],
  });
  const response = await client.request({ method: 'PUT', body });
  assert.equal(response.body.equals(down), true);
  assert.equal(origin.request().bodySha256, createHash('sha256').update(body).digest('hex'));
});

for (const size of [65_535, 65_536, 65_537]) {
  test(`a body of ${size} bytes is sent again exactly when it fits the replay buffer of 64 KiB`, async (t) => {
    const body = patternBytes(size);
    const { origins, client } = await startRigOf(t, [{ do: 'reset' }, {}], { route: bold });
    const response = await client.request({ method: 'PUT', body });
    if (size <= 65_536) {
      assert.equal(response.status, 200);
      assert.equal(origins[1]!.request().body.equals(body), true);
    } else assert.deepEqual([response.status, origins[1]!.requestCount()], [502, 0]);
  });
}

test('trailers of the client are sent with every attempt, or with none', async (t) => {
  const { origins, client } = await startRigOf(t, [{ do: 'respond', status: 503 }, {}], { route: bold });
  const response = await client.request({
    method: 'PUT',
    headers: { Trailer: 'X-Sum' },
    body: [Buffer.from('abc')],
    trailers: { 'X-Sum': 'ok' },
  });
  assert.equal(response.status, 200);
  const [first, second] = origins.map((origin) => origin.request());
  assert.deepEqual(
    [second!.trailers, second!.values('trailer'), second!.body.toString()],
    [first!.trailers, first!.values('trailer'), 'abc'],
  );
});

test('an answer that is kept is delivered when the retry finds nobody', async (t) => {
  const { origins, client, gateway } = await startRigOf(
    t,
    [{ do: 'respond', status: 503, body: 'the last real answer' }, {}],
    { route: bold },
  );
  await origins[1]!.close();
  origins[0]!.setScript([{ do: 'respond', status: 503, body: 'the last real answer' }, { do: 'reset' }]);
  const response = await client.request({});
  assert.deepEqual([response.status, response.text], [503, 'the last real answer']);
  assert.ok((await gateway.record()).attempts.length > 1);
});

test('an answer of a mebibyte that is not retried passes whole', async (t) => {
  const body = patternBytes(1024 * 1024);
  const { client } = await startRig(t, { do: 'respond', status: 500, body }, { route: bold });
  const response = await client.request({});
  assert.deepEqual([response.status, response.body.equals(body)], [500, true]);
});

test('the last of several failing answers passes whole, however large it is', async (t) => {
  const body = patternBytes(1024 * 1024);
  const { origin, client } = await startRig(t, { do: 'respond', status: 503, body }, { route: bold });
  const response = await client.request({});
  assert.deepEqual([response.status, response.body.equals(body), origin.requestCount()], [503, true, 4]);
});

test('the request timeout ends an upload that a slow client does not finish', async (t) => {
  const { origin, client } = await startRig(t, {}, { route: { timeouts: { request: '300ms' } } });
  await client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n123', ['POST']);
  const response = await client.response();
  assert.ok(response.status === 504 || response.status === 408, `status ${response.status}`);
  await client.waitForEnd();
  await origin.waitForNoConnection();
  assert.equal(origin.requestCount({ complete: true }), 0);
});

test('the request timeout bounds the wait for a connection too', async (t) => {
  const routes = [
    { upstream: 'main', match: { path: { exact: '/hold' } } },
    { upstream: 'main', timeouts: { request: '300ms' } },
  ];
  const script = { rules: [{ when: { target: '/hold' }, behave: { do: 'respond', gate: 'go' } }] } as const;
  const { origin, gateway } = await startRig(t, script, {
    upstream: { connect: { maxConnections: 1 } },
    top: { routes },
  });
  const held = requestRaw(gateway.port, { target: '/hold' });
  await origin.waitForRequest();
  const queued = await requestRaw(gateway.port, { target: '/queued' });
  assert.ok(queued.status === 504 || queued.status === 503, `status ${queued.status}`);
  origin.open('go');
  assert.equal((await held).status, 200);
  assert.equal(origin.requestCount({ target: '/queued' }), 0);
});

test('a queued request is sent when a connection becomes free', async (t) => {
  const { origin, gateway } = await startRig(
    t,
    { rules: [{ when: { target: '/hold' }, behave: { do: 'respond', gate: 'go' } }] },
    { upstream: { connect: { maxConnections: 1 } } },
  );
  const held = requestRaw(gateway.port, { target: '/hold' });
  await origin.waitForRequest();
  const queued = requestRaw(gateway.port, { method: 'POST', target: '/queued', body: 'x' });
  origin.open('go');
  assert.deepEqual([(await held).status, (await queued).status], [200, 200]);
  assert.equal(origin.journal.connections.length, 1);
});

test('an HTTP/1.0 client gets no interim response and its connection is closed after the answer', async (t) => {
  const { client } = await startRig(t, { do: 'respond', interim: [{ status: 103 }], body: 'ok' });
  const response = await client.request({ version: 'HTTP/1.0', headers: { Host: 'a' } });
  assert.deepEqual([response.text, response.interim.length], ['ok', 0]);
  assert.equal(await client.waitForEnd(), 'fin');
});

test('an HTTP/1.0 request without a Host is routed', async (t) => {
  const { origin, client } = await startRig(t, {});
  await client.send('GET / HTTP/1.0\r\n\r\n', ['GET']);
  assert.equal((await client.response()).status, 200);
  assert.equal(origin.request().fault, undefined);
  assert.equal(origin.request().values('host').length, 1);
});

test('HEAD with a chunked head from the origin has no body, and the connection goes on', async (t) => {
  const { origin, client } = await startRig(t, [
    { do: 'respond', framing: 'chunked', body: 'abc' },
    { do: 'respond', body: 'next' },
  ]);
  assert.equal((await client.request({ method: 'HEAD' })).fault, undefined);
  assert.equal((await client.request({})).text, 'next');
  assert.equal(origin.requestCount(), 2);
});

test('a HEAD that fails is answered without a body', async (t) => {
  const { client } = await startRig(t, { do: 'reset' });
  const response = await client.request({ method: 'HEAD' });
  assert.deepEqual([response.status, response.body.length, response.fault], [502, 0, undefined]);
  assert.equal((await client.request({ method: 'HEAD' })).status, 502);
});

test('a 304 keeps the length that it declares', async (t) => {
  const { client } = await startRig(t, {
    do: 'respond',
    status: 304,
    headers: { 'Content-Length': '1234', ETag: '"a"' },
  });
  const response = await client.request({});
  assert.deepEqual(
    [response.status, response.value('etag'), response.body.length, response.fault],
    [304, '"a"', 0, undefined],
  );
  assert.ok(['1234', undefined].includes(response.value('content-length')));
});

test('a late answer to an attempt that timed out never reaches the next request', async (t) => {
  const { origin, client } = await startRig(
    t,
    [
      { do: 'respond', body: 'late', delayMs: 300 },
      { do: 'respond', body: 'right' },
    ],
    { route: { timeouts: { backendRequest: '100ms' } } },
  );
  assert.equal((await client.request({})).status, 504);
  await wait(250);
  assert.equal((await client.request({})).text, 'right');
  assert.notEqual(origin.request(1).connection, origin.request(2).connection);
});

test('requests on one connection after errors of every kind are each answered with their own answer', async (t) => {
  const { client } = await startRig(t, (request) => {
    if (request.target.startsWith('/reset')) return { do: 'reset' };
    if (request.target.startsWith('/garbage')) return { do: 'raw', bytes: 'garbage\r\n\r\n' };
    if (request.target.startsWith('/refuse')) return { do: 'respond', status: 503, body: request.target };
    return { do: 'respond', body: request.target };
  });
  for (const kind of ['reset', 'ok', 'garbage', 'refuse', 'ok', 'reset', 'garbage', 'ok']) {
    const response = await client.request({ target: `/${kind}` });
    if (kind === 'ok' || kind === 'refuse') assert.equal(response.text, `/${kind}`);
    else assert.equal(response.status, 502);
  }
});

test('mixed parallel traffic: every client gets the answer to its own request', async (t) => {
  const { gateway } = await startRig(t, (request) => ({
    do: 'respond',
    body: `answer to ${request.target}`,
    ...(request.number % 3 === 0 ? { then: 'close' } : {}),
    ...(request.number % 5 === 0 ? { framing: 'chunked' } : {}),
  }));
  const clients = await Promise.all(Array.from({ length: 10 }, () => gateway.connect()));
  await Promise.all(
    clients.map(async (client, who) => {
      for (let i = 0; i < 30; i++) {
        const target = `/${who}/${i}`;
        const response = await client.request({
          target,
          ...(i % 4 === 0 ? { method: 'PUT', body: patternBytes(i * 100, i) } : {}),
        });
        assert.deepEqual([response.status, response.text], [200, `answer to ${target}`]);
      }
    }),
  );
});
