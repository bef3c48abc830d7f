import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpStatusError } from '../../src/proxy/error-response.ts';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import type { OwnershipRules } from '../../src/proxy/ownership-rules.ts';
import type { ProxyHooks } from '../../src/proxy/phases.ts';
import type { Proxy, ProxyOptions } from '../../src/proxy/proxy.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { configOf } from '../config/support.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';
import { gatewayFile, serveConfig, startRig, type FileObject } from '../support/running-gateway.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import type { TestContext } from 'node:test';

failOnLeaks();

const rules = (isTrusted: boolean): OwnershipRules => ({
  trustsCaller: () => isTrusted,
  trustsCallee: () => false,
  service: 'edge',
});
const OWN = 'owned;why=local;hops=0;source="edge"';

interface Running {
  readonly proxy: Proxy;
  readonly client: RawClient;
  readonly address: string;
  readonly records: readonly AccessRecord[];
}

async function start(
  t: TestContext,
  hooks: ProxyHooks<undefined>,
  ownership: ProxyOptions['ownership'],
): Promise<Running> {
  const records: AccessRecord[] = [];
  const proxy = createProxy(hooks, { ownership, onRecord: (record) => void records.push(record) });
  const { address } = await proxy.listen('127.0.0.1:0');
  t.after(() => proxy.close());
  return { proxy, client: await connectRaw(address.port, { t }), address: `127.0.0.1:${address.port}`, records };
}

const thrown = (): never => {
  throw new HttpStatusError(500, 'no');
};
const answers: readonly (readonly [string, ProxyHooks<undefined>, number])[] = [
  ['a filter that answers', { requestFilter: () => ({ status: 503 }) }, 503],
  ['a filter that throws', { requestFilter: thrown }, 500],
  ['a context that cannot be made', { createContext: thrown }, 500],
];

for (const [name, hooks, status] of answers) {
  test(`${name}: a trusted caller is told that it may retry, a stranger nothing`, async (t) => {
    const { client, records } = await start(t, hooks, rules(true));
    const response = await client.request({});
    assert.deepEqual([response.status, response.values('error-claim')], [status, [OWN]]);
    assert.deepEqual([records[0]?.claimOut, records[0]?.callerTrusted], ['owned', true]);
    const outside = await start(t, hooks, rules(false));
    assert.equal((await outside.client.request({})).value('error-claim'), undefined);
    assert.equal(outside.records[0]?.claimOut, 'owned');
  });
}

test('a claim that a filter writes into its answer is not beside ours', async (t) => {
  const forged = { status: 503, fields: ['Error-Claim', 'relayed'] };
  const { client } = await start(t, { requestFilter: () => forged }, rules(true));
  assert.deepEqual((await client.request({})).values('error-claim'), [OWN]);
});

for (const status of [405, 417, 404]) {
  test(`an answer of ${status}, which is the caller's own affair, carries no claim`, async (t) => {
    const { client, records } = await start(t, { requestFilter: () => ({ status }) }, rules(true));
    assert.equal((await client.request({})).value('error-claim'), undefined);
    assert.equal(records[0]?.claimOut, undefined);
  });
}

test('a version that is not spoken is refused with 505 and a claim', async (t) => {
  const { client } = await start(t, {}, rules(true));
  await client.send('GET / HTTP/2.1\r\nHost: a\r\n\r\n');
  const response = await client.response();
  assert.deepEqual([response.status, response.value('error-claim')], [505, OWN]);
});

test('the loop that 508 ends is the owner’s to mend, and is told as such', async (t) => {
  let self = '';
  const { client, address, records } = await start(t, { selectUpstream: () => self }, rules(true));
  self = address;
  assert.equal((await client.request({})).status, 508);
  assert.deepEqual([records[0]?.status, records[0]?.claimOut], [508, 'owned']);
});

test('a request that the shutdown cuts before it was sent is owned', async (t) => {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const hooks: ProxyHooks<undefined> = {
    requestFilter() {
      asked.resolve();
      return released.promise;
    },
  };
  const { client, proxy } = await start(t, hooks, rules(true));
  const answer = client.request({});
  await asked.promise;
  await proxy.close();
  const response = await answer;
  released.resolve();
  assert.deepEqual([response.status, response.value('error-claim')], [503, OWN]);
});

test('a POST that the shutdown cuts after it was sent must be repeated by nobody', async (t) => {
  const origin = await startOrigin({ do: 'hang' }, { t });
  const { client, proxy } = await start(t, { selectUpstream: () => origin.address }, rules(true));
  const answer = client.request({ method: 'POST', body: 'x' });
  await origin.waitForRequest();
  await proxy.close();
  const response = await answer;
  const claim = 'owned;why=local;retry=never;hops=0;effect=maybe;source="edge"';
  assert.deepEqual([response.status, response.value('error-claim')], [503, claim]);
});

test('a filter that fails on the answer to a POST does not invite to repeat it', async (t) => {
  const origin = await startOrigin({ do: 'respond' }, { t });
  const hooks: ProxyHooks<undefined> = { selectUpstream: () => origin.address, responseFilter: thrown };
  const { client } = await start(t, hooks, rules(true));
  const posted = await client.request({ method: 'POST', body: 'x' });
  assert.equal(posted.value('error-claim'), 'owned;why=local;retry=never;hops=0;effect=maybe;source="edge"');
  const again = await start(t, hooks, rules(true));
  assert.equal((await again.client.request({})).value('error-claim'), OWN);
});

test('a question about ownership that throws is told, and nobody is trusted', async (t) => {
  const { client } = await start(t, { requestFilter: () => ({ status: 503 }) }, () => {
    throw new Error('no idea');
  });
  const response = await client.request({});
  assert.deepEqual([response.status, response.value('error-claim')], [503, undefined]);
});

async function refusing(t: TestContext, route: FileObject, ownership: FileObject): Promise<string | undefined> {
  const config = configOf(JSON.stringify(gatewayFile(['127.0.0.1:1'], { route, top: { ownership } })));
  const refusals = [{ status: 500 as const, weight: 1, detail: 'no such upstream' }];
  const routes = config.routes.map((one) => ({ ...one, targets: [], refusals }));
  const gateway = await serveConfig(t, { ...config, routes });
  const response = await (await gateway.connect()).request({});
  assert.equal(response.status, 500);
  return response.value('error-claim');
}

test('a route that leads nowhere answers with a claim to whom the file trusts, unless it takes no part', async (t) => {
  const trust = ['127.0.0.1'];
  assert.equal(await refusing(t, { name: 'r' }, { trust }), 'owned;why=local;hops=0');
  assert.equal(await refusing(t, { ownership: { mode: 'off' } }, { trust }), undefined);
  assert.equal(await refusing(t, {}, { trust, mode: 'off' }), undefined);
  assert.equal(await refusing(t, {}, { trust: ['10.0.0.0/8'] }), undefined);
});

test('a request without a route carries no claim: it is the caller’s own error', async (t) => {
  const route = { match: { path: { prefix: '/only' } } };
  const { client, gateway } = await startRig(
    t,
    { do: 'respond' },
    { route, top: { ownership: { trust: ['127.0.0.1'] } } },
  );
  const response = await client.request({ target: '/other' });
  assert.deepEqual([response.status, response.value('error-claim')], [404, undefined]);
  assert.equal((await gateway.record()).claimOut, undefined);
});
