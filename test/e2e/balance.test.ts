import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { requestRaw } from '../support/raw-client.ts';
import type { RawResponse } from '../support/raw-response.ts';
import { gatewayFile, startGateway, startRigOf, type FileObject } from '../support/running-gateway.ts';
import { startOrigin, type OriginOptions, type ScriptedOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

const RETRY = { retry: { codes: [503], attempts: 2, backoff: '0ms' } };

async function origins(options: OriginOptions, count: number): Promise<ScriptedOrigin[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => startOrigin({ do: 'respond', body: String(index) }, options)),
  );
}

/** A gateway over these endpoints; returns how to ask it. */
async function ask(
  t: TestContext,
  upstream: FileObject,
  route: FileObject = {},
): Promise<(user?: string) => Promise<RawResponse>> {
  const gateway = await startGateway(t, gatewayFile([], { upstream, route }));
  return (user) => requestRaw(gateway.port, user === undefined ? {} : { headers: { 'X-User': user } });
}

test('consistent-hash by a field: a user stays with one endpoint, and users are spread', async (t) => {
  const all = await origins({ t }, 3);
  const get = await ask(t, {
    endpoints: all.map((origin) => origin.address),
    loadBalancing: { 'consistent-hash': { header: 'X-User' } },
  });
  const homes = new Map<string, Set<string>>();
  for (let round = 0; round < 3; round += 1) {
    for (let user = 0; user < 12; user += 1) {
      const { text } = await get(`user-${user}`);
      homes.set(`user-${user}`, (homes.get(`user-${user}`) ?? new Set()).add(text));
    }
  }
  assert.ok([...homes.values()].every((seen) => seen.size === 1));
  assert.ok(new Set([...homes.values()].map((seen) => [...seen][0])).size > 1);
});

test('consistent-hash without a field, or without it in the request: a client address stays with one endpoint', async (t) => {
  const all = await origins({ t }, 3);
  const endpoints = all.map((origin) => origin.address);
  for (const loadBalancing of ['consistent-hash', { 'consistent-hash': { header: 'X-User' } }]) {
    const get = await ask(t, { endpoints, loadBalancing });
    const seen = new Set<string>();
    for (let i = 0; i < 10; i += 1) seen.add((await get()).text);
    assert.equal(seen.size, 1);
  }
});

test('consistent-hash: when one endpoint fails its users go elsewhere, each to one place, and nobody else moves', async (t) => {
  const all = await origins({ t }, 3);
  const get = await ask(
    t,
    {
      endpoints: all.map((origin) => origin.address),
      loadBalancing: { 'consistent-hash': { header: 'X-User' } },
      retryBudget: { kind: 'none' },
    },
    RETRY,
  );
  const users = Array.from({ length: 12 }, (_, index) => `user-${index}`);
  const home = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const user of users) found.push((await get(user)).text);
    return found;
  };
  const before = await home();
  const failing = Number(before[0]);
  all[failing]!.setScript({ do: 'respond', status: 503 });
  const during = await home();
  assert.deepEqual(await home(), during);
  before.forEach((place, index) => {
    if (place === String(failing)) assert.notEqual(during[index], place);
    else assert.equal(during[index], place);
  });
});

test('weight 0: an endpoint takes no request, not even a retry', async (t) => {
  const drained = await startOrigin({}, { t });
  const failing = await startOrigin({ do: 'respond', status: 503 }, { t });
  const get = await ask(
    t,
    { endpoints: [{ address: drained.address, weight: 0 }, failing.address], retryBudget: { kind: 'none' } },
    RETRY,
  );
  for (let i = 0; i < 5; i += 1) assert.equal((await get()).status, 503);
  assert.deepEqual([drained.requestCount(), failing.requestCount()], [0, 15]);
});

test('weight: an endpoint of weight 3 gets three of four requests', async (t) => {
  const [heavy, light] = await origins({ t }, 2);
  const get = await ask(t, {
    endpoints: [{ address: heavy!.address, weight: 3 }, light!.address],
    loadBalancing: 'round-robin',
  });
  for (let i = 0; i < 20; i += 1) await get();
  assert.deepEqual([heavy!.requestCount(), light!.requestCount()], [15, 5]);
});

test('domain: a retry goes to another failure domain while there is one', async (t) => {
  const scripts = await Promise.all(
    Array.from({ length: 4 }, () => startOrigin({ do: 'respond', status: 503 }, { t })),
  );
  const [a1, a2, a3, b1] = scripts.map((origin) => origin.address);
  const domains = new Map([a1, a2, a3, b1].map((address) => [address, address === b1 ? 'b' : 'a']));
  const gateway = await startGateway(
    t,
    gatewayFile([], {
      upstream: {
        endpoints: [...domains].map(([address, domain]) => ({ address, domain })),
        retryBudget: { kind: 'none' },
      },
      route: RETRY,
    }),
  );
  for (let i = 0; i < 12; i += 1) await requestRaw(gateway.port);
  await gateway.record(12);
  for (const { attempts } of gateway.records) {
    const [first, second, third] = attempts.map(({ endpoint }) => domains.get(endpoint));
    assert.notEqual(second, first);
    assert.equal(third, 'a');
  }
});

test('priority: the second tier is used while the first has no available endpoint', async (t) => {
  const { origins: both, client } = await startRigOf(
    t,
    [
      { do: 'respond', status: 503 },
      { do: 'respond', body: 'spare' },
    ],
    {
      route: RETRY,
    },
  );
  assert.equal((await client.request({})).text, 'spare');
  assert.deepEqual(
    both.map((origin) => origin.requestCount()),
    [1, 1],
  );
});
