import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { malformedChunkedBodies, malformedRequests, malformedResponseHeads } from '../support/malformed.ts';
import { requestRaw } from '../support/raw-client.ts';
import { startRig } from '../support/running-gateway.ts';

failOnLeaks();

const bold = { retry: { attempts: 3, on: ['unsent', 'stale', 'reset', 'timeout'], backoff: '1ms' } };

test('a response that is not one unambiguous HTTP message ends in 502 and a closed connection', async (t) => {
  const { origin, gateway } = await startRig(t, {});
  for (const { name, bytes } of malformedResponseHeads) {
    await t.test(name, async () => {
      origin.setScript({ do: 'raw', bytes });
      const before = origin.requestCount();
      const response = await requestRaw(gateway.port, { target: `/bad` });
      assert.deepEqual([response.status, response.complete, origin.requestCount() - before], [502, true, 1]);
      await origin.waitForNoConnection();
    });
  }
  origin.setScript({});
  assert.equal((await requestRaw(gateway.port)).status, 200);
});

test('a chunked body that breaks its framing is visibly cut and its connection is closed', async (t) => {
  const { origin, gateway } = await startRig(t, {}, { route: bold });
  for (const { name, bytes } of malformedChunkedBodies) {
    await t.test(name, async () => {
      origin.setScript({ do: 'raw', bytes: `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${bytes}` });
      const before = origin.requestCount();
      const response = await requestRaw(gateway.port);
      // Never a close without a byte: a browser would take that for a stale connection and send the request again.
      assert.ok(
        response.status === 502 || (response.status === 200 && !response.complete),
        `status ${response.status}`,
      );
      assert.equal(origin.requestCount() - before, 1);
      await origin.waitForNoConnection();
    });
  }
});

for (const [name, script] of [
  ['half a status line', { do: 'raw', bytes: 'HTTP/1.1 20', then: 'close' }],
  ['half a head', { do: 'respond', cut: { headBytes: 25 }, then: 'reset' }],
  ['a head without its empty line', { do: 'raw', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n', then: 'close' }],
  ['no byte and a FIN', { do: 'close' }],
  ['no byte and a reset', { do: 'reset' }],
] as const) {
  test(`${name} is retried for a GET under a policy that names resets, and is a 502 for a POST`, async (t) => {
    const { origin, client } = await startRig(t, [script, { do: 'respond' }], { route: bold });
    assert.deepEqual([(await client.request({})).status, origin.requestCount()], [200, 2]);
    const other = await startRig(t, [script, { do: 'respond' }], { route: bold });
    assert.deepEqual(
      [(await other.client.request({ method: 'POST', body: 'x' })).status, other.origin.requestCount()],
      [502, 1],
    );
  });

  test(`${name} is a 502 by default`, async (t) => {
    const { origin, client } = await startRig(t, [script, { do: 'respond' }]);
    assert.deepEqual([(await client.request({})).status, origin.requestCount()], [502, 1]);
  });
}

test('a 101 that nobody asked for ends in 502 and a closed connection', async (t) => {
  const { origin, client } = await startRig(t, {
    do: 'respond',
    status: 101,
    headers: { Connection: 'upgrade', Upgrade: 'x' },
  });
  assert.equal((await client.request({})).status, 502);
  await origin.waitForNoConnection();
  assert.equal(origin.requestCount(), 1);
});

test('a malformed request is answered 400, closed, and reaches no origin', async (t) => {
  const { origin, gateway } = await startRig(t, {});
  for (const { name, bytes, nodeAccepts } of malformedRequests) {
    if (nodeAccepts === true && gateway.server === 'node') continue;
    await t.test(name, async () => {
      const before = origin.requestCount();
      const client = await gateway.connect();
      await client.send(bytes, ['GET']);
      assert.equal((await client.response()).status, 400);
      await client.waitForEnd();
      client.destroy();
      // What the gateway might have forwarded all the same is there before a request that it gets later.
      await requestRaw(gateway.port, { target: '/after' });
      assert.equal(origin.requestCount() - before, 1);
    });
  }
  assert.equal((await requestRaw(gateway.port)).status, 200);
});

test('a request smuggled behind a malformed one is not executed', async (t) => {
  const { origin, client } = await startRig(t, {});
  await client.send(
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
    ['POST'],
  );
  assert.equal((await client.response()).status, 400);
  await client.waitForEnd();
  assert.equal(origin.requestCount(), 0);
});

test('a chunked request that breaks its framing is answered 400, and no whole request reaches the origin', async (t) => {
  const { origin, gateway } = await startRig(t, {});
  for (const { name, bytes } of malformedChunkedBodies) {
    await t.test(name, async () => {
      const client = await gateway.connect();
      await client.send(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${bytes}`, ['POST']);
      const response = await client.response();
      assert.ok(response.status === 400 || response.status === 0, `status ${response.status}`);
      await client.waitForEnd();
      assert.equal(origin.requestCount({ complete: true }), 0);
      client.destroy();
    });
  }
});

for (const [name, status, request] of [
  ['a target of 100 000 bytes', [414, 431], `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['a field of 100 000 bytes', [431], `GET / HTTP/1.1\r\nHost: a\r\nX-Big: ${'a'.repeat(100_000)}\r\n\r\n`],
  ['no version', [400, 505], 'GET /\r\nHost: a\r\n\r\n'],
  ['version 3.0', [400, 505], 'GET / HTTP/3.0\r\nHost: a\r\n\r\n'],
] as const) {
  test(`a request with ${name} is answered ${status.join(' or ')} and reaches no origin`, async (t) => {
    const { origin, client } = await startRig(t, {});
    await client.send(request, ['GET']);
    const response = await client.response();
    assert.ok((status as readonly number[]).includes(response.status), `status ${response.status}`);
    assert.equal(origin.requestCount(), 0);
  });
}

test('CONNECT and h2c upgrades are not tunnels', async (t) => {
  const { origin, gateway } = await startRig(t, {});
  const client = await gateway.connect();
  await client.send('CONNECT test.example:443 HTTP/1.1\r\nHost: test.example:443\r\n\r\n', ['CONNECT']);
  assert.ok((await client.response()).status >= 400);
  assert.equal(origin.requestCount(), 0);
  const plain = await requestRaw(gateway.port, {
    headers: { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAA' },
  });
  assert.equal(plain.status, 200);
  assert.deepEqual([origin.request().values('upgrade'), origin.request().values('http2-settings')], [[], []]);
});

test('one canonical path is matched and forwarded', async (t) => {
  const paths: readonly (readonly [string, string | undefined])[] = [
    ['/a/b?q=1#', undefined],
    ['/a/b?q=%2F..', '/a/b?q=%2F..'],
    ['//a///b', '/a/b'],
    ['/%61/b', '/a/b'],
    ['/a%2fb', '/a%2Fb'],
    ['/a;v=1/b', '/a;v=1/b'],
    ['/a/../b', undefined],
    ['/a/%2e%2e/b', undefined],
    ['/a/..;/b', undefined],
    ['/a/..%2fb', undefined],
    ['/a\\b', undefined],
    ['/a%00b', undefined],
    ['/a%zzb', undefined],
  ];
  const { origin, gateway } = await startRig(t, {});
  for (const [target, forwarded] of paths) {
    await t.test(`${target} is ${forwarded ?? 'refused'}`, async () => {
      const before = origin.requestCount();
      const response = await requestRaw(gateway.port, { target });
      if (forwarded === undefined) assert.deepEqual([response.status, origin.requestCount() - before], [400, 0]);
      else assert.deepEqual([response.status, origin.request(before + 1).target], [200, forwarded]);
    });
  }
});

test('an absolute-form target is forwarded in origin-form', async (t) => {
  const { origin, client } = await startRig(t, {});
  assert.equal(
    (await client.request({ target: 'http://test.example/a?b', headers: { Host: 'test.example' } })).status,
    200,
  );
  assert.deepEqual([origin.request().target, origin.request().values('host')], ['/a?b', ['test.example']]);
});
