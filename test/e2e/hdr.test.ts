import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutField } from '../support/fields.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { requestRaw } from '../support/raw-client.ts';
import { startRig } from '../support/running-gateway.ts';

failOnLeaks();

test('no hop-by-hop field of the client reaches the origin, nominated ones included', async (t) => {
  const { origin, client } = await startRig(t, {});
  await client.request({
    headers: {
      Connection: 'keep-alive, X-Named',
      'X-Named': '1',
      'Keep-Alive': 'timeout=5',
      TE: 'gzip',
      'Proxy-Authorization': 'Basic x',
      'Proxy-Connection': 'keep-alive',
      Upgrade: 'h2c',
      'X-Kept': '1',
    },
  });
  const request = origin.request();
  for (const name of ['x-named', 'keep-alive', 'te', 'proxy-authorization', 'proxy-connection', 'upgrade'])
    assert.deepEqual(request.values(name), [], name);
  assert.deepEqual(
    request.values('connection').filter((value) => !/^(close|keep-alive)$/i.test(value)),
    [],
  );
  assert.deepEqual(request.values('x-kept'), ['1']);
});

test('no hop-by-hop field of the origin reaches the client', async (t) => {
  const { client } = await startRig(t, {
    do: 'respond',
    headers: { Connection: 'X-Named', 'X-Named': '1', 'Proxy-Authenticate': 'Basic', 'X-Kept': '1' },
  });
  const response = await client.request({});
  for (const name of ['x-named', 'proxy-authenticate']) assert.deepEqual(response.values(name), [], name);
  assert.deepEqual(response.values('x-kept'), ['1']);
});

test('a client cannot make the next hop lose an end-to-end field by nominating it', async (t) => {
  const { origin, client } = await startRig(t, {});
  const response = await client.request({ headers: { Connection: 'close, Authorization', Authorization: 'secret' } });
  if (response.status === 200) assert.deepEqual(origin.request().values('authorization'), ['secret']);
  else assert.deepEqual([response.status, origin.requestCount()], [400, 0]);
});

test('Connection: upgrade without an Upgrade field is an ordinary request', async (t) => {
  const { client } = await startRig(t, {});
  assert.equal((await client.request({ headers: { Connection: 'upgrade' } })).status, 200);
});

test('two cookies stay two lines, in order', async (t) => {
  const { client } = await startRig(t, {
    do: 'respond',
    headers: [
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
    ],
  });
  assert.deepEqual((await client.request({})).values('set-cookie'), ['a=1', 'b=2']);
});

test('repeated request fields keep their number, order and bytes', async (t) => {
  const { origin, client } = await startRig(t, {});
  await client.request({
    headers: [
      ['X-List', 'a'],
      ['x-list', 'b, c'],
      ['X-Bytes', 'caf\xe9'],
    ],
  });
  assert.deepEqual(
    [origin.request().values('x-list'), origin.request().values('x-bytes')],
    [['a', 'b, c'], ['caf\xe9']],
  );
});

test('forwarding fields are one line each, hold no value of an untrusted client, and do not grow with retries', async (t) => {
  const { origin, client } = await startRig(
    t,
    [{ do: 'respond', status: 503 }, { do: 'respond', status: 503 }, { do: 'respond' }],
    { route: { retry: { codes: [503], attempts: 2, backoff: '1ms' } } },
  );
  await client.request({
    headers: { 'X-Forwarded-For': '10.0.0.1', Forwarded: 'for=10.0.0.1', X_Forwarded_For: '10.0.0.2' },
  });
  assert.equal(origin.requestCount(), 3);
  for (const request of origin.journal.requests) {
    assert.deepEqual(request.values('x-forwarded-for'), ['127.0.0.1']);
    assert.equal(request.values('forwarded').length, 1);
    assert.doesNotMatch(request.fields.join('\n'), /10\.0\.0\.[12]/);
    assert.equal(request.values('via').length, 1);
    assert.deepEqual(withoutField(request.fields, 'request-attempt'), origin.request().fields);
  }
});

test('the Host of the client reaches every endpoint unchanged, once', async (t) => {
  const { origin, client } = await startRig(t, {});
  await client.request({ headers: { Host: 'shop.example:8080' } });
  assert.deepEqual(origin.request().values('host'), ['shop.example:8080']);
});

test('a trailer of the origin arrives, or its announcement is removed too', async (t) => {
  const { client } = await startRig(t, {
    do: 'respond',
    framing: 'chunked',
    body: 'x',
    headers: { Trailer: 'X-Sum' },
    trailers: { 'X-Sum': 'abc' },
  });
  const response = await client.request({ headers: { TE: 'trailers' } });
  assert.deepEqual(
    response.trailers.length > 0 ? response.trailers : response.values('trailer'),
    response.trailers.length > 0 ? ['X-Sum', 'abc'] : [],
  );
  assert.equal(response.fault, undefined);
});

test('an invalid byte in a field of the origin is passed on or ends in 502, once, and the gateway goes on', async (t) => {
  const { origin, client, gateway } = await startRig(
    t,
    [{ do: 'respond', headers: { 'X-Bad': 'a\x01b' } }, { do: 'respond' }],
    { route: { retry: { attempts: 5, on: ['reset'], backoff: '1ms' } } },
  );
  const response = await client.request({});
  assert.ok(response.status === 502 || response.value('x-bad') === 'a\x01b', `status ${response.status}`);
  assert.equal(origin.requestCount(), 1);
  assert.equal((await requestRaw(gateway.port)).status, 200);
});

test('a byte outside ASCII in a cookie of the origin arrives as it is', async (t) => {
  const { client } = await startRig(t, { do: 'respond', headers: { 'Set-Cookie': 'n=caf\xe9' } });
  assert.equal((await client.request({})).value('set-cookie'), 'n=caf\xe9');
});

test('a response head far over the limit ends in 502, is not retried, and says so', async (t) => {
  const { origin, client, gateway } = await startRig(
    t,
    { do: 'respond', headers: { 'X-Big': 'b'.repeat(1024 * 1024) } },
    { route: { retry: { attempts: 5, on: ['unsent', 'stale', 'reset'], backoff: '1ms' } } },
  );
  const response = await client.request({});
  assert.deepEqual([response.status, origin.requestCount()], [502, 1]);
  assert.match((await gateway.record()).error ?? '', /limit|large|size/i);
});

test('a response with thousands of fields ends in 502 and is not retried', async (t) => {
  const headers = Array.from({ length: 5000 }, (_, i): [string, string] => [`X-${i}`, '']);
  const { origin, client } = await startRig(
    t,
    { do: 'respond', headers },
    { route: { retry: { attempts: 5, on: ['unsent', 'stale', 'reset'], backoff: '1ms' } } },
  );
  assert.deepEqual([(await client.request({})).status, origin.requestCount()], [502, 1]);
});

test('an endless response head ends in 502 and the connection is closed', async (t) => {
  const { origin, client } = await startRig(t, { do: 'endless', part: 'head' });
  assert.equal((await client.request({})).status, 502);
  await origin.waitForNoConnection();
  assert.equal(origin.requestCount(), 1);
});

test('the head of a response is passed on before its first body byte', async (t) => {
  const { origin, client } = await startRig(t, { do: 'respond', framing: 'chunked', body: 'event', bodyGate: 'data' });
  await client.sendRequest({});
  assert.equal((await client.head()).status, 200);
  origin.open('data');
  assert.equal((await client.response()).text, 'event');
});

test('an interim response is passed on once and does not end the request', async (t) => {
  const { client } = await startRig(t, { do: 'respond', interim: [{ status: 103, headers: { Link: '</a.css>' } }] });
  const response = await client.request({});
  assert.deepEqual([response.status, response.interim.map((head) => head.status)], [200, [103]]);
});

test('an upstream that dies after an interim response may still be retried, for a 1xx commits nothing', async (t) => {
  const { origin, client } = await startRig(
    t,
    [{ do: 'respond', interim: [{ status: 103 }], cut: { headBytes: 0 }, then: 'reset' }, { do: 'respond' }],
    { route: { retry: { attempts: 1, on: ['reset'], backoff: '1ms' } } },
  );
  assert.deepEqual([(await client.request({})).status, origin.requestCount()], [200, 2]);
});

test('a flood of interim responses ends in 502', async (t) => {
  const { origin, client } = await startRig(t, { do: 'respond', interim: [{ status: 103, count: 1000 }] });
  const response = await client.request({});
  assert.deepEqual([response.status, origin.requestCount()], [502, 1]);
  assert.ok(client.interim.length <= 100, `${client.interim.length} passed on`);
});

test('names of prototypes are ordinary field names', async (t) => {
  const headers: [string, string][] = [
    ['__proto__', 'a'],
    ['constructor', 'b'],
    ['toString', 'c'],
    ['hasOwnProperty', 'd'],
  ];
  const { origin, client } = await startRig(t, { do: 'respond', headers });
  const response = await client.request({ headers });
  assert.equal(response.status, 200);
  for (const [name, value] of headers)
    assert.deepEqual([origin.request().values(name), response.values(name)], [[value], [value]], name);
});
