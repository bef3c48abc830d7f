import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { connectRaw, requestRaw } from '../support/raw-client.ts';
import type { OriginScript, ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';

const one = (method: string, path: string, fields = '', body = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n${body}`;

/** `/local` is answered by a filter at once, everything else by the origin. */
async function stage(
  t: TestContext,
  script: OriginScript,
): Promise<{ port: number; origin: ScriptedOrigin; records: AccessRecord[] }> {
  const origin = await startOrigin(script, { t });
  const records: AccessRecord[] = [];
  const proxy = createProxy(
    {
      requestFilter: ({ request }) => (request.path === '/local' ? { status: 404 } : undefined),
      selectUpstream: () => origin.address,
    },
    { onRecord: (record) => void records.push(record) },
  );
  t.after(() => proxy.close());
  const { address } = await proxy.listen('127.0.0.1:0');
  return { port: address.port, origin, records };
}

describe('requests that are answered at once, many on one connection', () => {
  test('are all answered, while another client is served in between', async (t) => {
    const { port, records } = await stage(t, { do: 'respond', body: 'mine' });
    const flood = await connectRaw(port, { t });
    const count = 6000;
    await flood.send(
      one('GET', '/local').repeat(count),
      Array.from({ length: count }, () => 'GET'),
    );
    assert.equal((await requestRaw(port)).text, 'mine');
    await flood.waitFor(() => flood.responses.length === count, 'all answers', 60_000);
    assert.equal(records.length, count + 1);
  });

  test('behind one that the origin answers keep their order', async (t) => {
    const { port } = await stage(t, { do: 'respond', status: 201, delayMs: 20 });
    const client = await connectRaw(port, { t });
    await client.send(
      one('GET', '/slow') + one('GET', '/local').repeat(40),
      Array.from({ length: 41 }, () => 'GET'),
    );
    await client.waitFor(() => client.responses.length === 41);
    assert.deepEqual(
      client.responses.map(({ status }) => status),
      [201, ...Array.from({ length: 40 }, () => 404)],
    );
  });
});

describe('what follows the last answer of a connection', () => {
  test('is no request: a POST behind "Connection: close" never reaches the origin', async (t) => {
    const { port, origin } = await stage(t, { do: 'respond' });
    await requestRaw(port);
    const client = await connectRaw(port, { t });
    await client.send(
      one('GET', '/local', 'Connection: close\r\n') + one('POST', '/order', 'Content-Length: 1\r\n', 'x'),
      ['GET', 'POST'],
    );
    assert.equal((await client.response()).status, 404);
    await client.waitForEnd();
    assert.equal(client.responses.length, 1);
    assert.equal(origin.requestCount({ method: 'POST' }), 0);
  });

  test('is no request behind an HTTP/1.0 one either', async (t) => {
    const { port, origin } = await stage(t, { do: 'respond' });
    const client = await connectRaw(port, { t });
    await client.send(`GET /local HTTP/1.0\r\n\r\n${one('POST', '/order', 'Content-Length: 1\r\n', 'x')}`, [
      'GET',
      'POST',
    ]);
    assert.equal((await client.response()).status, 404);
    await client.waitForEnd();
    assert.equal(origin.requestCount(), 0);
  });
});

test('a client that takes none of its answers gets no further ones made', async (t) => {
  const { port, origin } = await stage(t, { do: 'respond', body: 'x'.repeat(200_000) });
  const client = await connectRaw(port, { t });
  client.pauseReading();
  await client.send(
    one('GET', '/big').repeat(500),
    Array.from({ length: 500 }, () => 'GET'),
  );
  await origin.waitForRequest(1);
  // Another client's request goes the whole way meanwhile; by then the first one is stuck in its own buffers.
  for (let i = 0; i < 20; i += 1) assert.equal((await requestRaw(port, { target: '/other' })).status, 200);
  assert.ok(origin.requestCount({ target: '/big' }) < 100, String(origin.requestCount({ target: '/big' })));
});

describe('what a key must be to make a POST safe', () => {
  for (const [name, fields] of [
    ['empty', 'Idempotency-Key:\r\n'],
    ['blank', 'Idempotency-Key:   \r\n'],
    ['an empty string', 'Idempotency-Key: ""\r\n'],
    ['given twice', 'Idempotency-Key: a\r\nIdempotency-Key: b\r\n'],
  ] as const) {
    test(`${name}: the POST is sent once`, async (t) => {
      const { port, origin, records } = await stage(t, [{ do: 'respond' }, { do: 'reset' }, { do: 'respond' }]);
      await requestRaw(port);
      const client = await connectRaw(port, { t });
      await client.send(one('POST', '/order', `${fields}Content-Length: 1\r\n`, 'x'), ['POST']);
      assert.equal((await client.response()).status, 502);
      assert.equal(origin.requestCount({ method: 'POST' }), 1);
      assert.equal(records.at(-1)?.attempts.length, 1);
    });
  }
});

test('an absolute target of an HTTP/1.0 client without Host gives the upstream its Host', async (t) => {
  const { port, origin } = await stage(t, { do: 'respond' });
  const client = await connectRaw(port, { t });
  await client.send('GET http://shop.example/x HTTP/1.0\r\n\r\n');
  assert.equal((await client.response()).status, 200);
  const { fields } = origin.request();
  assert.equal(fields[fields.findIndex((field) => field.toLowerCase() === 'host') + 1], 'shop.example');
});

test('trailers that this hop writes itself or decides by are not passed on', async (t) => {
  const { port, origin } = await stage(t, { do: 'respond' });
  const client = await connectRaw(port, { t });
  const trailers = 'X-Sum: 1\r\nX-Forwarded-For: 6.6.6.6\r\nIdempotency-Key: k\r\nX_Forwarded_For: 6.6.6.6\r\n';
  await client.send(one('PUT', '/', 'Transfer-Encoding: chunked\r\n', `1\r\nx\r\n0\r\n${trailers}\r\n`), ['PUT']);
  assert.equal((await client.response()).status, 200);
  assert.deepEqual(origin.request().trailers, ['X-Sum', '1']);
});

test('a request that is cut when the process ends is answered 503 and recorded as cut', async (t) => {
  const origin = await startOrigin({ do: 'hang' }, { t });
  const records: AccessRecord[] = [];
  const proxy = createProxy(
    { selectUpstream: () => origin.address },
    { onRecord: (record) => void records.push(record) },
  );
  const { address } = await proxy.listen('127.0.0.1:0');
  const client = await connectRaw(address.port, { t });
  await client.sendRequest({});
  await origin.waitForRequest(1);
  await proxy.close();
  assert.equal((await client.response()).status, 503);
  assert.match(records[0]?.error ?? '', /the process ended before the request did/);
  assert.deepEqual(records[0]?.flags, []);
});

test('a pipelined request whose end never comes is given up with the FIN that came behind it', async (t) => {
  const { port, origin, records } = await stage(t, { do: 'respond', gate: 'first' });
  const client = await connectRaw(port, { t });
  // All of it is here, the FIN too, before the first one is answered.
  await client.send(one('GET', '/first') + one('POST', '/half', 'Content-Length: 5\r\n', 'hel'), ['GET', 'POST']);
  client.halfClose();
  await origin.waitForRequest(1);
  origin.open('first');
  assert.equal((await client.response()).status, 200);
  await client.waitForEnd();
  await origin.waitForNoConnection();
  assert.equal(records.find(({ method }) => method === 'POST')?.status, 499);
  assert.equal(records.length, 2);
  assert.equal(origin.requestCount({ complete: true, method: 'POST' }), 0);
});
