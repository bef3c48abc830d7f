import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { patternBytes } from './fields.ts';
import { failOnLeaks } from './leak-check.ts';
import type { Behaviour, OriginScript } from './origin-script.ts';
import { connectRaw, requestRaw, type RawClient } from './raw-client.ts';
import { startOrigin, type ScriptedOrigin } from './scripted-origin.ts';

failOnLeaks();

async function setUp(t: TestContext, script: OriginScript): Promise<{ origin: ScriptedOrigin; client: RawClient }> {
  const origin = await startOrigin(script, { t });
  return { origin, client: await connectRaw(origin.port, { t }) };
}

test('an origin without a script answers 200 and journals the request', async (t) => {
  const { origin, client } = await setUp(t, {});
  const body = patternBytes(1000);
  const response = await client.request({
    method: 'PUT',
    target: '/a?b',
    headers: [
      ['X-One', '1'],
      ['x-one', '2'],
    ],
    body,
  });
  assert.equal(response.status, 200);
  assert.equal(response.text, 'ok');
  const request = origin.request();
  assert.deepEqual([request.number, request.connection, request.requestOnConnection], [1, 1, 1]);
  assert.deepEqual([request.method, request.target, request.version], ['PUT', '/a?b', 'HTTP/1.1']);
  assert.deepEqual(request.fields, ['Host', 'test.example', 'X-One', '1', 'x-one', '2', 'Content-Length', '1000']);
  assert.equal(request.bodyBytes, 1000);
  assert.equal(request.bodySha256, createHash('sha256').update(body).digest('hex'));
  assert.deepEqual([request.complete, request.fault, request.pipelined], [true, undefined, false]);
});

test('a list is used by request number and its last behaviour repeats', async (t) => {
  const { origin, client } = await setUp(t, [
    { do: 'respond', status: 503 },
    { do: 'respond', status: 200 },
  ]);
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await client.request({})).status);
  assert.deepEqual(statuses, [503, 200, 200]);
  assert.equal(origin.requestCount(), 3);
  assert.equal(origin.journal.connections.length, 1);
});

test('rules choose by method and target before the list does', async (t) => {
  const { client } = await setUp(t, {
    rules: [{ when: { method: 'POST', target: /^\/slow/ }, behave: { do: 'respond', status: 504 } }],
    requests: { do: 'respond', status: 204 },
  });
  assert.equal((await client.request({ method: 'POST', target: '/slow/1', body: 'x' })).status, 504);
  assert.equal((await client.request({ target: '/slow/1' })).status, 204);
});

test('behaviours by request on the connection start anew on each connection', async (t) => {
  const { origin, client } = await setUp(t, { onConnection: [{ do: 'respond' }, { do: 'reset' }] });
  assert.equal((await client.request({})).status, 200);
  assert.deepEqual([(await client.request({})).status, client.ending], [0, 'reset']);
  assert.equal((await requestRaw(origin.port)).status, 200);
});

test('the script can be replaced between two requests', async (t) => {
  const { origin, client } = await setUp(t, { do: 'respond', status: 500 });
  assert.equal((await client.request({})).status, 500);
  origin.setScript({ do: 'respond', status: 201 });
  assert.equal((await client.request({})).status, 201);
});

test('a connection that is accepted and then closed carries no byte', async (t) => {
  const { origin, client } = await setUp(t, { connections: ['close', 'serve'] });
  assert.equal(await client.waitForEnd(), 'fin');
  assert.equal(client.receivedBytes, 0);
  assert.equal((await requestRaw(origin.port)).status, 200);
});

test('a connection that is accepted and then reset fails with ECONNRESET', async (t) => {
  const origin = await startOrigin({ connections: ['reset', 'serve'] }, { t });
  const [error] = await once(connect(origin.port, '127.0.0.1').resume(), 'error');
  assert.equal((error as NodeJS.ErrnoException).code, 'ECONNRESET');
  assert.equal((await requestRaw(origin.port)).status, 200);
});

test('a reset after some bytes of the request leaves an incomplete request in the journal', async (t) => {
  const { origin, client } = await setUp(t, { connections: { afterBytes: 5, then: 'reset' } });
  await client.send('POST /half HT');
  assert.equal(await client.waitForEnd(), 'reset');
  assert.equal(origin.requestCount(), 1);
  assert.deepEqual(
    [origin.request().complete, origin.request().headComplete, origin.request().method],
    [false, false, ''],
  );
});

test('a body cut by the client stays incomplete and counts what came', async (t) => {
  const { origin, client } = await setUp(t, {});
  await client.send('PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n1234');
  client.reset();
  const request = await origin.waitFor((journal) =>
    journal.requests.find((one) => one.closedByClientAtMs !== undefined),
  );
  assert.deepEqual([request.complete, request.bodyBytes], [false, 4]);
  assert.notEqual(origin.journal.connections[0]!.resetByClientAtMs, undefined);
});

test('a cut head arrives to its last byte before the reset', async (t) => {
  const { client } = await setUp(t, { do: 'respond', cut: { headBytes: 12 }, then: 'reset' });
  const response = await client.request({});
  assert.deepEqual([response.status, response.ending, client.received.toString()], [0, 'reset', 'HTTP/1.1 200']);
});

test('a cut body is seen as cut by the client', async (t) => {
  const { client } = await setUp(t, { do: 'respond', body: 'hello world', cut: { bodyBytes: 5 }, then: 'close' });
  const response = await client.request({});
  assert.deepEqual([response.status, response.text, response.complete, response.ending], [200, 'hello', false, 'fin']);
});

test('interim responses come before the final one, as often as asked', async (t) => {
  const { client } = await setUp(t, {
    do: 'respond',
    interim: [{ status: 103, headers: { Link: '</a>' }, count: 3 }, { status: 100 }],
  });
  const response = await client.request({});
  assert.deepEqual(
    response.interim.map((head) => head.status),
    [103, 103, 103, 100],
  );
  assert.equal(response.status, 200);
});

test('an origin can die after interim responses', async (t) => {
  const { client } = await setUp(t, {
    do: 'respond',
    interim: [{ status: 103 }],
    cut: { headBytes: 0 },
    then: 'reset',
  });
  const response = await client.request({});
  assert.deepEqual([response.status, client.interim.length, response.ending], [0, 1, 'reset']);
});

test('an early answer leaves at the asked body byte, and reading goes on', async (t) => {
  const { origin, client } = await setUp(t, { do: 'respond', at: { bodyBytes: 3 }, status: 413 });
  await client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc', ['POST']);
  assert.equal((await client.response()).status, 413);
  await client.send('def');
  const request = await origin.waitFor((journal) => journal.requests.find((one) => one.complete));
  assert.equal(request.body.toString(), 'abcdef');
});

test('trailers, chunks and close-delimited bodies are framed as asked', async (t) => {
  const { origin, client } = await setUp(t, [
    { do: 'respond', body: 'abcdef', framing: 'chunked', chunkBytes: 4, trailers: { 'X-Sum': 'abc' } },
    { do: 'respond', body: 'old', framing: 'until-close', version: 'HTTP/1.0' },
  ]);
  const chunked = await client.request({});
  assert.deepEqual([chunked.text, chunked.framing, chunked.trailers], ['abcdef', 'chunked', ['X-Sum', 'abc']]);
  const old = await client.request({});
  assert.deepEqual([old.text, old.framing, old.complete, old.version], ['old', 'until-close', true, 'HTTP/1.0']);
  assert.equal(origin.requestCount(), 2);
});

test('HEAD, 204 and 304 carry no body', async (t) => {
  const { client } = await setUp(t, [
    { do: 'respond', body: '12345' },
    { do: 'respond', status: 204 },
    { do: 'respond', status: 304 },
    { do: 'respond', body: 'next' },
  ]);
  const head = await client.request({ method: 'HEAD' });
  assert.deepEqual([head.value('content-length'), head.body.length], ['5', 0]);
  assert.equal((await client.request({})).status, 204);
  assert.equal((await client.request({})).status, 304);
  assert.equal((await client.request({})).text, 'next');
});

test('a lying Content-Length is sent as told', async (t) => {
  const { client } = await setUp(t, { do: 'respond', body: 'abc', declaredBytes: 5, then: 'close' });
  const response = await client.request({});
  assert.deepEqual([response.value('content-length'), response.text, response.complete], ['5', 'abc', false]);
});

test('a drip sends every byte', async (t) => {
  const { client } = await setUp(t, { do: 'respond', body: 'slow', drip: { part: 'all', pieceBytes: 1, everyMs: 0 } });
  assert.equal((await client.request({})).text, 'slow');
});

test('a gate holds the answer until it is opened', async (t) => {
  const { origin, client } = await setUp(t, { do: 'respond', gate: 'go' });
  const answer = client.request({});
  await origin.waitForRequest();
  assert.equal(client.receivedBytes, 0);
  origin.open('go');
  assert.equal((await answer).status, 200);
});

test('raw bytes go out untouched', async (t) => {
  const { client } = await setUp(t, { do: 'raw', bytes: 'SSH-2.0\r\n\r\n', then: 'close' });
  const response = await client.request({});
  assert.match(response.fault ?? '', /not a status line/);
});

test('an answer nobody asked for follows on the idle connection', async (t) => {
  const { client } = await setUp(t, { do: 'respond', extra: 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx' });
  await client.request({});
  await client.waitFor(() => client.responses.length === 2);
  assert.equal(client.responses[1]!.text, 'x');
});

for (const endless of [{ do: 'endless' }, { do: 'endless', part: 'head' }] as const satisfies readonly Behaviour[]) {
  test(`an endless ${'part' in endless ? endless.part : 'body'} stops when the client leaves`, async (t) => {
    const { origin, client } = await setUp(t, endless);
    void client.sendRequest({});
    await client.waitForBytes(200_000);
    client.destroy();
    await origin.waitForNoConnection();
  });
}

test('an origin that never answers sees when the client leaves', async (t) => {
  const { origin, client } = await setUp(t, { do: 'hang' });
  await client.sendRequest({});
  await origin.waitForRequest();
  client.destroy();
  await origin.waitFor((journal) => journal.requests[0]!.closedByClientAtMs !== undefined);
  await origin.waitForNoConnection();
});

test('a half-closed client still gets its answer', async (t) => {
  const { client } = await setUp(t, { do: 'respond', delayMs: 5 });
  await client.sendRequest({});
  client.halfClose();
  assert.equal((await client.response()).status, 200);
});

test('an origin that stops reading takes only what fits the windows', async (t) => {
  const { origin, client } = await setUp(t, { connections: 'stop-reading' });
  const sent = client.send(Buffer.alloc(64 * 1024 * 1024));
  const winner = await Promise.race([
    sent.then(() => 'sent'),
    origin.waitFor((journal) => journal.connections.length === 1),
  ]);
  assert.notEqual(winner, 'sent');
  assert.equal(origin.journal.connections[0]!.bytesReceived, 0);
});

test('what is written after the origin closed is still recorded', async (t) => {
  const { origin, client } = await setUp(t, { do: 'respond', then: 'close' });
  await client.request({});
  await client.waitForEnd();
  await client.sendRequest({ method: 'POST', body: 'late' });
  const late = await origin.waitForRequest(2);
  assert.equal(late.method, 'POST');
});

test('pipelined requests are answered in order and marked', async (t) => {
  const { origin, client } = await setUp(t, [
    { do: 'respond', body: 'first', delayMs: 5 },
    { do: 'respond', body: 'second' },
  ]);
  await client.send('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n', ['GET', 'GET']);
  assert.equal((await client.response()).text, 'first');
  assert.equal((await client.response()).text, 'second');
  assert.deepEqual(
    origin.journal.requests.map((request) => request.pipelined),
    [false, true],
  );
});

for (const [what, head] of [
  ['both lengths', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n'],
  ['two lengths', 'Content-Length: 3\r\nContent-Length: 3\r\n'],
  ['a name with a space', 'X Bad: 1\r\n'],
] as const) {
  test(`a request with ${what} has a fault in the journal`, async (t) => {
    const { origin, client } = await setUp(t, { do: 'hang' });
    await client.send(`POST / HTTP/1.1\r\nHost: a\r\n${head}\r\n`);
    const request = await origin.waitFor((journal) => journal.requests.find((one) => one.fault !== undefined));
    assert.notEqual(request.fault, undefined);
  });
}

test('the retry page fails so often and then succeeds, per uuid', async (t) => {
  const { client } = await setUp(t, { do: 'retry-echo' });
  const statuses = [];
  for (let i = 0; i < 3; i++)
    statuses.push((await client.request({ target: '/retry/?uuid=a&succeedAfter=2&responseCode=503' })).status);
  statuses.push((await client.request({ target: '/retry/?uuid=b&succeedAfter=1&responseCode=500' })).status);
  assert.deepEqual(statuses, [503, 503, 200, 500]);
});

test('the retry page resets when no code is given', async (t) => {
  const { client } = await setUp(t, { do: 'retry-echo' });
  assert.equal((await client.request({ target: '/retry/?uuid=c&succeedAfter=1' })).ending, 'reset');
});

test('a 101 hands the connection over', async (t) => {
  const { client } = await setUp(t, {
    do: 'respond',
    status: 101,
    headers: { Connection: 'upgrade', Upgrade: 'echo' },
    extra: 'raw',
  });
  assert.equal((await client.request({})).status, 101);
  await client.waitFor(() => client.received.toString().endsWith('raw'));
});

test('waiting in vain fails with the journal', async (t) => {
  const { origin, client } = await setUp(t, { do: 'respond', status: 503 });
  await client.request({ target: '/seen' });
  await assert.rejects(
    origin.waitFor((journal) => journal.requests.length === 2, 'a second request', 1),
    /a second request; instead:\n1 connections[^]*GET \/seen complete/,
  );
});

test('after stopListening connections are refused and the open one goes on', async (t) => {
  const { origin, client } = await setUp(t, {});
  await client.request({});
  await origin.stopListening();
  await assert.rejects(connectRaw(origin.port), { code: 'ECONNREFUSED' });
  assert.equal((await client.request({})).status, 200);
});
