import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProxy } from '../../src/proxy/proxy.ts';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { connectRaw } from '../support/raw-client.ts';
import { gatewayFile, startGateway, startRig } from '../support/running-gateway.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

const forged: readonly (readonly [string, string, string])[] = [
  ['an underscore for the dash', 'Request_Attempt: n=1, lineage=0', 'request_attempt'],
  ['an underscore and capitals', 'REQUEST_TIMEOUT: 1', 'request_timeout'],
  ['the claim of an answer', 'Error-Claim: owned', 'error-claim'],
  ['the older name of the claim', 'X-Uber-Error-Claim: CLAIMED', 'x-uber-error-claim'],
  ['a look-alike of the claim', 'error_claim: owned', 'error_claim'],
  ['a field there twice', 'Request-Timeout: 1\r\nrequest-timeout: 2', 'request-timeout'],
];

for (const [what, lines, name] of forged) {
  test(`what a client forges by ${what} reaches neither a filter nor the origin`, async (t) => {
    const origin = await startOrigin({ do: 'respond' }, { t });
    let seen: readonly string[] = [];
    const proxy = createProxy({
      requestFilter: ({ request }) => void (seen = request.fields),
      selectUpstream: () => origin.address,
    });
    const { address } = await proxy.listen('127.0.0.1:0');
    t.after(() => proxy.close());
    const client = await connectRaw(address.port, { t });
    await client.send(`GET / HTTP/1.1\r\nHost: a\r\n${lines}\r\n\r\n`, ['GET']);
    assert.equal((await client.response()).status, 200);
    assert.ok(!seen.some((word) => word.toLowerCase() === name), seen.join(' '));
    assert.deepEqual(origin.request().values(name), []);
  });
}

test('a client that forges a field in its trailers does not get it to the origin', async (t) => {
  const { client, origin } = await startRig(t, { do: 'respond' });
  const trailers = 'Request_Attempt: n=1\r\nRequest-Timeout: 5\r\nError-Claim: owned\r\nX-Sum: abc\r\n';
  await client.send(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n${trailers}\r\n`, [
    'POST',
  ]);
  assert.equal((await client.response()).status, 200);
  assert.deepEqual(origin.request().trailers, ['X-Sum', 'abc']);
});

for (const name of ['Request-Attempt', 'Request-Timeout', 'error-claim', 'X-Uber-Error-Claim']) {
  test(`a client that nominates ${name} in Connection is answered 400`, async (t) => {
    const { client, origin } = await startRig(t, { do: 'respond' });
    const answer = await client.request({ headers: { Connection: name } });
    assert.equal(answer.status, 400);
    assert.equal(origin.requestCount(), 0);
  });
}

test('a peer that is not trusted cannot say how often it has tried', async (t) => {
  const origin = await startOrigin({ do: 'respond' }, { t });
  const records: AccessRecord[] = [];
  const proxy = createProxy(
    { selectUpstream: () => ['127.0.0.1:1', origin.address] },
    {
      trustsPeer: ({ remoteAddress }) => remoteAddress !== '127.0.0.1',
      onRecord: (record) => void records.push(record),
    },
  );
  const { address } = await proxy.listen('127.0.0.1:0');
  t.after(() => proxy.close());
  const client = await connectRaw(address.port, { t });
  const history = { 'Request-Attempt': 'n=2, lineage=1', 'Request-Timeout': '5' };
  assert.equal((await client.request({ headers: history })).status, 200);
  assert.deepEqual(origin.request().values('request-timeout'), []);
  assert.equal(records.length, 1);
});

test('a peer about which the question fails is not trusted, and the request is served', async (t) => {
  const origin = await startOrigin({ do: 'respond' }, { t });
  const lines: string[] = [];
  const proxy = createProxy(
    { selectUpstream: () => origin.address },
    {
      trustsPeer() {
        throw new Error('no idea');
      },
      diagnostics: (_level, line) => void lines.push(line),
    },
  );
  const { address } = await proxy.listen('127.0.0.1:0');
  t.after(() => proxy.close());
  const client = await connectRaw(address.port, { t });
  assert.equal((await client.request({ headers: { 'Request-Timeout': '5' } })).status, 200);
  assert.deepEqual(origin.request().values('request-timeout'), []);
  assert.match(lines.join(), /trustsPeer failed.*no idea/);
});

test('a gateway whose upstream is its own listener answers 508 instead of going round', async (t) => {
  const records: AccessRecord[] = [];
  let self = '';
  const proxy = createProxy({ selectUpstream: () => self }, { onRecord: (record) => void records.push(record) });
  const { address } = await proxy.listen('127.0.0.1:0');
  self = `127.0.0.1:${address.port}`;
  t.after(() => proxy.close());
  const client = await connectRaw(address.port, { t });
  const answer = await client.request({ method: 'POST', body: 'once' });
  assert.equal(answer.status, 508);
  assert.match(answer.value('proxy-status') ?? '', /proxy_loop_detected/);
  assert.equal(records.length, 2);
  assert.match(records[0]?.error ?? '', /^internal proxy_loop_detected/);
  assert.equal(records[1]?.attempts.length, 1);
});

test('two gateways in a row are no loop, and each names itself in Via', async (t) => {
  const origin = await startOrigin({ do: 'respond' }, { t });
  const inner = await startGateway(t, gatewayFile([origin.address]));
  const outer = await startGateway(t, gatewayFile([inner.address]));
  const client = await outer.connect();
  assert.equal((await client.request({})).status, 200);
  const hops = origin.request().values('via').join(', ').split(', ');
  assert.equal(hops.length, 2);
  assert.ok(
    hops.every((hop) => /^1\.1 mulligan-[0-9a-f]{8}$/.test(hop)),
    hops.join(),
  );
  assert.notEqual(hops[0], hops[1]);
});

test('the record of a request and its events carry the same number', async (t) => {
  const origin = await startOrigin({ do: 'respond', status: 404 }, { t });
  const records: AccessRecord[] = [];
  const told: { readonly type: string; readonly requestId?: number }[] = [];
  const proxy = createProxy(
    { selectUpstream: () => origin.address },
    {
      onRecord: (record) => void records.push(record),
      events: { active: true, publish: (event) => void told.push(event as (typeof told)[number]) },
    },
  );
  const { address } = await proxy.listen('127.0.0.1:0');
  t.after(() => proxy.close());
  const client = await connectRaw(address.port, { t });
  await client.request({});
  await client.request({});
  const ended = told.filter(({ type }) => type === 'request-ended').map(({ requestId }) => requestId);
  assert.deepEqual(
    records.map(({ requestId }) => requestId),
    ended,
  );
  assert.deepEqual(ended, [1, 2]);
});
