import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { startRig } from '../support/running-gateway.ts';

failOnLeaks();

const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';

for (const method of ['DELETE', 'OPTIONS', 'GET', 'POST', 'PUT', 'PATCH']) {
  for (const text of ['hello', smuggled]) {
    test(`a ${method} with a chunked body of ${text.length} bytes reaches the origin as one request with that body`, async (t) => {
      const { origin, client } = await startRig(t, {});
      assert.equal((await client.request({ method, target: '/d', body: [Buffer.from(text)] })).status, 200);
      assert.equal((await client.request({ target: '/next' })).status, 200);
      assert.deepEqual(
        origin.journal.requests.map((request) => [request.target, request.fault]),
        [
          ['/d', undefined],
          ['/next', undefined],
        ],
      );
      assert.equal(origin.request().body.toString(), text);
    });
  }
}

test('a DELETE without a body has no framing field, a POST without one has length 0', async (t) => {
  const { origin, client } = await startRig(t, {});
  await client.request({ method: 'DELETE' });
  await client.request({ method: 'POST', headers: { 'Content-Length': '0' } });
  assert.deepEqual(
    [origin.request(1).values('content-length'), origin.request(1).values('transfer-encoding')],
    [[], []],
  );
  assert.deepEqual(
    [origin.request(2).values('content-length'), origin.request(2).values('transfer-encoding')],
    [['0'], []],
  );
});

test('a body of chunks with extensions and trailers reaches the origin with the same content', async (t) => {
  const { origin, client } = await startRig(t, {});
  await client.send(
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5;a=b\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n',
    ['POST'],
  );
  assert.equal((await client.response()).status, 200);
  const request = origin.request();
  assert.deepEqual([request.body.toString(), request.fault, request.complete], ['hello', undefined, true]);
  // Forwarded, or dropped together with its announcement: never announced and missing.
  assert.deepEqual(
    request.trailers.length > 0 ? request.trailers : request.values('trailer'),
    request.trailers.length > 0 ? ['X-Sum', 'abc'] : [],
  );
});

test('a request with both lengths is refused and reaches no origin', async (t) => {
  const { origin, client } = await startRig(t, {});
  await client.send(
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n',
    ['POST'],
  );
  assert.equal((await client.response()).status, 400);
  assert.equal(await client.waitForEnd(), 'fin');
  assert.equal(origin.requestCount(), 0);
});

test('HEAD keeps the length of the origin and gets no chunked framing', async (t) => {
  const { client } = await startRig(t, { do: 'respond', framing: 'none', headers: { 'Content-Length': '1234' } });
  const response = await client.request({ method: 'HEAD' });
  assert.deepEqual([response.value('content-length'), response.values('transfer-encoding')], ['1234', []]);
});

test('a 204 with a content coding stays a 204 without body or framing', async (t) => {
  const { client } = await startRig(t, { do: 'respond', status: 204, headers: { 'Content-Encoding': 'gzip' } });
  const response = await client.request({});
  assert.deepEqual([response.status, response.fault, response.body.length], [204, undefined, 0]);
});

test('an HTTP/1.0 client gets a chunked answer delimited by the close', async (t) => {
  const { client } = await startRig(t, { do: 'respond', framing: 'chunked', body: 'hello' });
  const response = await client.request({ version: 'HTTP/1.0', headers: { Host: 'a' } });
  assert.deepEqual(
    [response.text, response.values('transfer-encoding'), response.fault, response.complete],
    ['hello', [], undefined, true],
  );
  assert.equal(await client.waitForEnd(), 'fin');
});

test('a pipelined pair of requests is answered in order, bodiless answers included', async (t) => {
  const { origin, client } = await startRig(t, [
    { do: 'respond', status: 204, delayMs: 20 },
    { do: 'respond', body: 'second' },
  ]);
  await client.send('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n', ['GET', 'GET']);
  assert.equal((await client.response()).status, 204);
  assert.equal((await client.response()).text, 'second');
  // The gateway itself never pipelines: a reset would leave more than one request in doubt.
  assert.equal(
    origin.journal.requests.some((request) => request.pipelined),
    false,
  );
});

for (const [name, status, method] of [
  ['a 204', 204, 'GET'],
  ['a 304', 304, 'GET'],
  ['an answer to HEAD', 200, 'HEAD'],
] as const) {
  test(`${name} with body bytes has none at the client, and the connection is not used again`, async (t) => {
    const script = [
      {
        do: 'respond',
        status,
        forceBody: true,
        framing: 'none',
        body: 'HTTP/1.1 200 OK\r\nX-Evil: 1\r\nContent-Length: 0\r\n\r\n',
      },
      { do: 'respond', body: 'clean' },
    ] as const;
    const { origin, client } = await startRig(t, script);
    const response = await client.request({ method });
    assert.deepEqual([response.status, response.body.length, response.fault], [status, 0, undefined]);
    const next = await client.request({});
    assert.deepEqual([next.text, next.values('x-evil')], ['clean', []]);
    assert.notEqual(origin.request(2).connection, origin.request(1).connection);
  });
}

test('an HTTP/1.0 answer delimited by the close is relayed in chunks, and the connection is not used again', async (t) => {
  const { origin, client } = await startRig(t, {
    do: 'respond',
    version: 'HTTP/1.0',
    framing: 'until-close',
    body: 'old style',
  });
  for (let i = 0; i < 2; i++) {
    const response = await client.request({});
    assert.deepEqual([response.text, response.framing, response.complete], ['old style', 'chunked', true]);
  }
  assert.equal(origin.journal.connections.length, 2);
});

test('an answer nobody asked for closes the idle connection and never reaches the next request', async (t) => {
  const { origin, client } = await startRig(t, [
    { do: 'respond', body: 'asked', extra: 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nunasked' },
    { do: 'respond', body: 'clean' },
  ]);
  assert.equal((await client.request({})).text, 'asked');
  assert.equal((await client.request({})).text, 'clean');
  assert.notEqual(origin.request(2).connection, origin.request(1).connection);
});

test('bytes that arrive later on an idle connection close it', async (t) => {
  const { origin, client } = await startRig(t, {
    do: 'steps',
    steps: [
      { step: 'until', point: 'complete' },
      { step: 'send', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok' },
      { step: 'gate', name: 'later' },
      { step: 'send', bytes: 'HTTP/1.1 408 Timeout\r\n\r\n' },
    ],
  });
  assert.equal((await client.request({})).status, 200);
  origin.open('later');
  await origin.waitForNoConnection();
  assert.equal((await client.request({})).status, 200);
});

test('a length of more bytes than come is a cut answer; of fewer, the rest belongs to nobody', async (t) => {
  const { client } = await startRig(t, [
    { do: 'respond', body: 'abcdef', declaredBytes: 3 },
    { do: 'respond', body: 'next' },
    { do: 'respond', body: 'abc', declaredBytes: 6, then: 'close' },
  ]);
  assert.equal((await client.request({})).text, 'abc');
  assert.equal((await client.request({})).text, 'next');
  assert.equal((await client.request({})).complete, false);
});

test('a request that was answered early is closed or drained: its body is never read as a request', async (t) => {
  const { origin, client } = await startRig(t, {
    do: 'respond',
    at: 'head',
    status: 413,
    headers: { Connection: 'close' },
    then: 'close',
  });
  await client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${smuggled.length}\r\n\r\n`, ['POST']);
  assert.equal((await client.response()).status, 413);
  await client.send(smuggled);
  const ending = await client.waitFor(() => client.ending ?? (client.responses.length > 1 && 'answered'));
  assert.notEqual(ending, 'answered');
  assert.equal(origin.requestCount({ target: '/smuggled' }), 0);
});
