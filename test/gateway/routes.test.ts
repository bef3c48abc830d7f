import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { replacePrefix } from '../../src/gateway/rewrite.ts';
import { createTargetChoice } from '../../src/gateway/target-choice.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { gatewayFile, startGateway, startRig, startRigOf } from '../support/running-gateway.ts';
import { connectRaw, requestRaw } from '../support/raw-client.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { liveConfig, startLive } from './live-gateway.ts';

failOnLeaks();

test('targets get exactly their shares, spread out', () => {
  const choice = createTargetChoice([
    { target: 'a', weight: 9 },
    { target: 'none', weight: 0 },
    { target: 'b', weight: 1 },
  ]);
  const order = Array.from({ length: 1000 }, () => choice.next());
  equal(order.filter((one) => one === 'b').length, 100);
  equal(order.includes('none'), false);
  equal(order.join('').includes('bb'), false);
  for (let from = 0; from < 1000; from += 10)
    equal(order.slice(from, from + 10).filter((one) => one === 'b').length, 1);
});

/** The table of the Gateway API's ReplacePrefixMatch. */
for (const [path, matched, replacement, expected] of [
  ['/foo/bar', '/foo', '/xyz', '/xyz/bar'],
  ['/foo/bar', '/foo', '/xyz/', '/xyz/bar'],
  ['/foo/bar', '/foo/', '/xyz', '/xyz/bar'],
  ['/foo/bar', '/foo/', '/xyz/', '/xyz/bar'],
  ['/foo', '/foo', '/xyz', '/xyz'],
  ['/foo/', '/foo', '/xyz', '/xyz/'],
  ['/foo/bar', '/foo', '/', '/bar'],
  ['/foo/', '/foo', '/', '/'],
  ['/foo', '/foo', '/', '/'],
  ['/foo/', '/foo', '/xyz/', '/xyz/'],
  ['/foo', '/foo/', '/xyz/', '/xyz/'],
  ['/bar', '/', '/xyz', '/xyz/bar'],
  ['/', '/', '/xyz', '/xyz/'],
] as const) {
  test(`prefix ${matched} replaced by ${replacement} makes ${expected} of ${path}`, () =>
    equal(replacePrefix(path, matched, replacement), expected));
}

test('the query stays, and the path that is rewritten is the canonical one', async (t) => {
  const { origin, client } = await startRig(
    t,
    {},
    { route: { match: { path: { prefix: '/shop' } }, rewrite: { prefix: '/v1' } } },
  );
  await client.request({ target: '//%73hop/a%2fb?x=/shop&y=?' });
  equal(origin.request().target, '/v1/a%2Fb?x=/shop&y=?');
});

test('the host is that of the endpoint, anew for each attempt, and the one asked for is passed on', async (t) => {
  const { origins, client } = await startRigOf(t, [{ do: 'respond', status: 503 }, {}], {
    route: { rewrite: { host: 'upstream' }, retry: { codes: [503], backoff: '0s' } },
  });
  equal((await client.request({ headers: { Host: 'shop.example' } })).status, 200);
  for (const origin of origins) {
    deepEqual(origin.request().values('host'), [origin.address]);
    deepEqual(origin.request().values('x-forwarded-host'), ['shop.example']);
  }
});

test('the host can be a fixed one', async (t) => {
  const { origin, client } = await startRig(t, {}, { route: { rewrite: { host: 'orders.internal' } } });
  await client.request({});
  deepEqual(origin.request().values('host'), ['orders.internal']);
});

test('a field that must be there decides the route, and one that comes twice is one value', async (t) => {
  const [gold, other] = await Promise.all([startOrigin({}, { t }), startOrigin({}, { t })]);
  const gateway = await startGateway(t, {
    ...gatewayFile([]),
    upstreams: { gold: { endpoints: [gold.address] }, other: { endpoints: [other.address] } },
    routes: [{ match: { headers: { 'x-tier': 'gold' } }, upstream: 'gold' }, { upstream: 'other' }],
  });
  const client = await gateway.connect();
  await client.request({ headers: { 'X-TIER': 'gold' } });
  equal(gold.requestCount(), 1);
  await client.request({
    headers: [
      ['x-tier', 'silver'],
      ['x-tier', 'gold'],
    ],
  });
  await client.request({ headers: { 'x-tier': 'Gold' } });
  await client.request({});
  deepEqual([gold.requestCount(), other.requestCount()], [1, 3]);
});

test('weighted targets share the requests, and a retry stays with the upstream of its request', async (t) => {
  const [a, b] = await Promise.all([startOrigin({ do: 'respond', status: 503 }, { t }), startOrigin({}, { t })]);
  const gateway = await startGateway(t, {
    ...gatewayFile([]),
    upstreams: { a: { endpoints: [a.address] }, b: { endpoints: [b.address] } },
    routes: [
      {
        upstream: [
          { upstream: 'a', weight: 1 },
          { upstream: 'b', weight: 3 },
        ],
        retry: { codes: [503], backoff: '0s' },
      },
    ],
  });
  const client = await gateway.connect();
  const statuses: number[] = [];
  for (let count = 0; count < 8; count += 1) statuses.push((await client.request({})).status);
  equal(statuses.filter((status) => status === 503).length, 2);
  deepEqual([a.requestCount(), b.requestCount()], [4, 6]);
  deepEqual(
    new Set(gateway.records.map(({ upstream, status }) => `${upstream} ${status}`)),
    new Set(['a 503', 'b 200']),
  );
});

test('a retry whose upstream has lost its last endpoint meanwhile goes to another target', async (t) => {
  const [a, b] = await Promise.all([
    startOrigin({ do: 'respond', status: 503, gate: 'answer' }, { t }),
    startOrigin({}, { t }),
  ]);
  const { gateway, address } = await startLive(
    t,
    liveConfig({
      admin: { address: '127.0.0.1:0', write: true },
      upstreams: { a: { endpoints: [a.address] }, b: { endpoints: [b.address] } },
      routes: [
        {
          upstream: [
            { upstream: 'a', weight: 2 },
            { upstream: 'b', weight: 1 },
          ],
          retry: { codes: [503], backoff: '0s' },
        },
      ],
    }),
  );
  const client = await connectRaw(address, { t });
  const answer = client.request({});
  await a.waitForRequest();
  const drained = await requestRaw(gateway.adminAddress!, {
    method: 'PUT',
    target: `/upstreams/a/endpoints/${a.address}/drain`,
    headers: { Host: gateway.adminAddress! },
  });
  equal(drained.status, 200, drained.text);
  a.open('answer');
  equal((await answer).status, 200);
  deepEqual([a.requestCount(), b.requestCount()], [1, 1]);
  const first = await requestRaw(address);
  const second = await requestRaw(address);
  const third = await requestRaw(address);
  deepEqual(
    [first, second, third].map(({ status }) => status).sort((one, other) => one - other),
    [200, 503, 503],
    'first attempts keep to the shares: no target takes over another one unseen',
  );
});
