import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ask, connectHttp2 } from '../support/http2-client.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import {
  gatewayFile,
  startGateway,
  startRig,
  type FileObject,
  type RunningGateway,
} from '../support/running-gateway.ts';
import { startOrigin, type ScriptedOrigin } from '../support/scripted-origin.ts';
import type { OriginScript } from '../support/origin-script.ts';

failOnLeaks();

const TRUSTED = { ownership: { trust: ['127.0.0.1'], service: 'edge' } };
const retry = (attempts: number): FileObject => ({ retry: { codes: [503], attempts, backoff: '1ms' } });
const failing = (headers: Readonly<Record<string, string>> = {}): OriginScript => ({
  do: 'respond',
  status: 503,
  headers,
});

/** Claims as a caller gets them, in place of whatever a status says. */
const claimOf = (response: { value(name: string): string | undefined }): string | undefined =>
  response.value('error-claim');

test('a relayed error of a trusted upstream is not retried, and is relayed on', async (t) => {
  const { origin, client, gateway } = await startRig(t, failing({ 'Error-Claim': 'relayed;why=timeout;hops=1' }), {
    route: retry(2),
    top: TRUSTED,
  });
  const response = await client.request({});
  assert.deepEqual([response.status, origin.requestCount()], [503, 1]);
  assert.equal(claimOf(response), 'relayed;why=timeout;hops=2');
  const { reason, claimIn, claimOut } = await gateway.record();
  assert.deepEqual([reason, claimIn, claimOut], ['not-owner', 'relayed', 'relayed']);
});

test('an owned error is retried by the hop next to it, and then relayed', async (t) => {
  const { origin, client } = await startRig(t, failing({ 'Error-Claim': 'owned;why=overload;hops=0' }), {
    route: retry(1),
    top: TRUSTED,
  });
  const response = await client.request({});
  assert.equal(origin.requestCount(), 2);
  assert.equal(claimOf(response), 'relayed;why=overload;hops=1');
});

test('an error that was retried in vain, and is delivered after all, was handled here', async (t) => {
  const script = [
    { do: 'respond', status: 503, headers: { Connection: 'close' }, then: 'close' },
    { do: 'reset' },
  ] as const;
  const { origin, client } = await startRig(t, { requests: script }, { route: retry(2), top: TRUSTED });
  const response = await client.request({});
  assert.deepEqual([response.status, origin.requestCount()], [503, 2]);
  assert.equal(claimOf(response), 'relayed;why=dependency;hops=1');
});

test('an error that no policy here covers is kept for a caller that has one', async (t) => {
  const { origin, client, gateway } = await startRig(t, failing(), { top: TRUSTED });
  const response = await client.request({});
  assert.equal(origin.requestCount(), 1);
  assert.equal(claimOf(response), 'owned;why=dependency;hops=1;kept');
  assert.equal((await gateway.record()).claimOut, 'kept');
});

test('what may have been done is told to be repeated by nobody, unless the request carries a key', async (t) => {
  const { client } = await startRig(t, failing(), { route: retry(1), top: TRUSTED });
  const once = await client.request({ method: 'POST', body: 'x' });
  assert.equal(claimOf(once), 'owned;why=dependency;retry=never;hops=1;kept;effect=maybe');
  const keyed = await client.request({ method: 'POST', body: 'x', headers: { 'Idempotency-Key': '"1"' } });
  assert.equal(claimOf(keyed), 'relayed;why=dependency;hops=1');
});

test('an answer of its own carries a claim: nothing could be sent, and it was tried twice', async (t) => {
  const gateway = await startGateway(t, gatewayFile(['127.0.0.1:1'], { top: TRUSTED }));
  const client = await gateway.connect();
  const response = await client.request({ method: 'POST', body: 'x' });
  assert.deepEqual([response.status, claimOf(response)], [502, 'relayed;why=unsent;hops=1']);
});

test('a client that is not trusted gets no claim, and the upstream that is not trusted is not believed', async (t) => {
  const { origin, client, gateway } = await startRig(t, failing({ 'Error-Claim': 'relayed' }), {
    route: retry(1),
    top: { ownership: { trust: ['10.0.0.0/8'] } },
  });
  const response = await client.request({});
  assert.deepEqual([response.status, origin.requestCount()], [503, 2]);
  assert.equal(claimOf(response), undefined);
  const { attempts, claimOut, callerTrusted } = await gateway.record();
  assert.deepEqual(
    attempts.map(({ claim, claimRefused }) => [claim, claimRefused]),
    [
      [undefined, 'untrusted'],
      [undefined, 'untrusted'],
    ],
  );
  assert.deepEqual([claimOut, callerTrusted], ['relayed', false]);
});

test('without a word about ownership nobody is believed, and no claim passes', async (t) => {
  const { origin, client } = await startRig(
    t,
    failing({ 'Error-Claim': 'relayed', 'X-Uber-Error-Claim': 'UNCLAIMED', Error_Claim: 'relayed' }),
    { route: retry(1) },
  );
  const response = await client.request({});
  assert.equal(origin.requestCount(), 2);
  for (const name of ['error-claim', 'x-uber-error-claim', 'error_claim'])
    assert.equal(response.value(name), undefined);
});

test('an upstream that is said to be trusted is believed whatever its address', async (t) => {
  const { origin, client } = await startRig(t, failing({ 'Error-Claim': 'relayed' }), {
    upstream: { ownership: 'trusted' },
    route: retry(1),
  });
  const response = await client.request({});
  assert.deepEqual([origin.requestCount(), claimOf(response)], [1, undefined]);
});

test('observe retries all the same and counts what enforce would have suppressed', async (t) => {
  const { origin, client, gateway } = await startRig(t, failing({ 'Error-Claim': 'relayed' }), {
    route: { ...retry(1), ownership: { mode: 'observe' } },
    top: TRUSTED,
  });
  assert.equal(claimOf(await client.request({})), 'relayed;why=dependency;hops=1');
  assert.equal(origin.requestCount(), 2);
  const { attempts } = await gateway.record();
  assert.deepEqual(
    attempts.map(({ claim, retriedDespite }) => [claim, retriedDespite]),
    [
      ['relayed', 'observe'],
      ['relayed', undefined],
    ],
  );
});

test('off reads nothing, writes nothing and lets no claim through; the nearest word about the mode holds', async (t) => {
  const { origin, client, gateway } = await startRig(t, failing({ 'Error-Claim': 'relayed' }), {
    upstream: { ownership: { trusted: true, mode: 'observe' } },
    route: { ...retry(1), ownership: { mode: 'off' } },
    top: TRUSTED,
  });
  const response = await client.request({ headers: { 'Request-Timeout': '9000' } });
  assert.deepEqual([origin.requestCount(), claimOf(response)], [2, undefined]);
  assert.deepEqual(origin.request().values('request-timeout'), ['9000']);
  const { attempts, claimOut } = await gateway.record();
  assert.deepEqual([attempts[0]?.claim, attempts[0]?.claimRefused, claimOut], [undefined, undefined, undefined]);
});

const advice: readonly (readonly [string, string, string])[] = [
  ['x-envoy-overloaded', 'true', 'relayed;why=overload;hops=1'],
  ['x-envoy-ratelimited', 'true', 'relayed;why=quota;hops=1'],
  ['x-should-retry', 'false', 'relayed;why=dependency;hops=1'],
  ['finagle-http-nonretryable-nack', '', 'relayed;why=overload;hops=1'],
  ['error-claim', 'owned;why=overload;retry=never', 'relayed;why=overload;hops=1'],
];
for (const [name, value, told] of advice) {
  test(`${name}: ${value} of a trusted upstream is obeyed, of another one it is not`, async (t) => {
    const { origin, client, gateway } = await startRig(t, failing({ [name]: value }), {
      route: retry(1),
      top: TRUSTED,
    });
    const response = await client.request({});
    assert.deepEqual([origin.requestCount(), claimOf(response)], [1, told]);
    assert.equal((await gateway.record()).reason, 'advised-never');
    const stranger = await startRig(t, failing({ [name]: value }), { route: retry(1) });
    await stranger.client.request({});
    assert.equal(stranger.origin.requestCount(), 2);
  });
}

test('a nack of a trusted upstream lets a POST be sent again, that of a stranger does not', async (t) => {
  const nacked = failing({ 'Finagle-Http-Nack': '' });
  const trusted = await startRig(t, nacked, { route: retry(1), top: TRUSTED });
  await trusted.client.request({ method: 'POST', body: 'x' });
  assert.equal(trusted.origin.requestCount(), 2);
  const stranger = await startRig(t, nacked, { route: retry(1) });
  await stranger.client.request({ method: 'POST', body: 'x' });
  assert.equal(stranger.origin.requestCount(), 1);
});

test('outside, an error that nobody may repeat has no Retry-After', async (t) => {
  const script = failing({ 'Error-Claim': 'owned;why=overload;retry=never', 'Retry-After': '1' });
  const parts = { upstream: { ownership: 'trusted' }, route: retry(1) };
  const outside = await startRig(t, script, parts);
  const response = await outside.client.request({});
  assert.deepEqual([response.status, response.value('retry-after')], [503, undefined]);
  const other = await startRig(t, failing({ 'Error-Claim': 'relayed', 'Retry-After': '1' }), parts);
  assert.equal((await other.client.request({})).value('retry-after'), '1');
});

test('the older field is read as a claim, and written where that is asked', async (t) => {
  const { origin, client } = await startRig(t, failing({ 'X-Uber-Error-Claim': 'UNCLAIMED' }), {
    route: retry(1),
    top: { ownership: { trust: ['127.0.0.1'], alias: true } },
  });
  const response = await client.request({});
  assert.deepEqual([origin.requestCount(), response.value('x-uber-error-claim')], [1, 'UNCLAIMED']);
});

test('an error of its own names the gateway and the route, one from below the service that began it', async (t) => {
  const { client } = await startRig(t, failing({ 'Error-Claim': 'owned;why=local;hops=0;source="payments/charge"' }), {
    route: { ...retry(0), name: 'pay' },
    top: TRUSTED,
  });
  assert.equal(claimOf(await client.request({})), 'owned;why=dependency;hops=1;kept;source="payments/charge"');
});

// --- chains ----------------------------------------------------------------------------------------------------------

interface Hop {
  readonly attempts?: number;
  readonly ownership?: FileObject;
  readonly upstream?: FileObject;
}

/** Gateways in a row before an origin; the first hop is the outermost. */
async function startChain(t: TestContext, origin: ScriptedOrigin, hops: readonly Hop[]): Promise<RunningGateway[]> {
  const chain: RunningGateway[] = [];
  for (const { attempts = 1, ownership, upstream } of hops.toReversed()) {
    const next = chain[0]?.address ?? origin.address;
    const top = ownership === undefined ? {} : { ownership };
    const parts = { route: retry(attempts), top, ...(upstream === undefined ? {} : { upstream }) };
    chain.unshift(await startGateway(t, gatewayFile([next], parts)));
  }
  return chain;
}

const GOOD: Hop = { ownership: { trust: ['127.0.0.1'] } };
const LEGACY: Hop = {};

const chains: readonly (readonly [string, readonly Hop[], number, string | undefined])[] = [
  ['three gateways that trust each other: one retry in all', [GOOD, GOOD, GOOD], 2, 'relayed;why=dependency;hops=3'],
  [
    'one retry each, the innermost has no policy',
    [GOOD, GOOD, { ...GOOD, attempts: 0 }],
    2,
    'relayed;why=dependency;hops=3',
  ],
  [
    'nobody has a policy but the outermost',
    [GOOD, { ...GOOD, attempts: 0 }, { ...GOOD, attempts: 0 }],
    2,
    'relayed;why=dependency;hops=3',
  ],
  [
    'the innermost takes no part: the hop above it retries too',
    [GOOD, GOOD, LEGACY],
    3,
    'relayed;why=dependency;hops=2',
  ],
  ['nobody takes part: lineage alone bounds it', [LEGACY, LEGACY, LEGACY], 4, undefined],
];
for (const [name, hops, sends, told] of chains) {
  test(`a chain of ${name}`, async (t) => {
    const origin = await startOrigin(failing(), { t });
    const [outer] = await startChain(t, origin, hops);
    const client = await outer!.connect();
    const response = await client.request({});
    assert.deepEqual([response.status, origin.requestCount(), claimOf(response)], [503, sends, told]);
  });
}

test('the outermost gateway of a chain keeps the claim inside when its own clients are strangers', async (t) => {
  const origin = await startOrigin(failing(), { t });
  const [outer] = await startChain(t, origin, [{ upstream: { ownership: 'trusted' } }, GOOD, GOOD]);
  const client = await outer!.connect();
  const response = await client.request({});
  assert.deepEqual([origin.requestCount(), claimOf(response)], [2, undefined]);
  assert.equal((await outer!.record()).claimOut, 'relayed');
});

test('in a chain with equal timeouts the innermost gives up first, and its claim arrives', async (t) => {
  const origin = await startOrigin({ do: 'hang' }, { t });
  const top = { ownership: { trust: ['127.0.0.1'], margin: '200ms' } };
  const route = {
    timeouts: { request: '1200ms' },
    retry: { codes: [504], attempts: 1, on: ['timeout'], backoff: '1ms' },
  };
  const inner = await startGateway(t, gatewayFile([origin.address], { route, top }));
  const middle = await startGateway(t, gatewayFile([inner.address], { route, top }));
  const outer = await startGateway(t, gatewayFile([middle.address], { route, top }));
  const client = await outer.connect();
  const response = await client.request({});
  assert.deepEqual([response.status, claimOf(response)], [504, 'relayed;why=timeout;hops=3']);
  assert.deepEqual([origin.requestCount(), (await outer.record()).reason], [1, 'not-owner']);
});

test('over HTTP/2 a trusted client is told the same', async (t) => {
  const { gateway } = await startRig(t, failing(), { top: TRUSTED });
  // The safe mode speaks no HTTP/2 in plain text.
  if (gateway.server === 'node') return;
  const answer = await ask(connectHttp2(gateway.port, { t }));
  assert.deepEqual([answer.status, answer.fields['error-claim']], [503, 'owned;why=dependency;hops=1;kept']);
});

test('a POST may have been done at every hop: nobody sends it again', async (t) => {
  const origin = await startOrigin(failing(), { t });
  const [outer] = await startChain(t, origin, [GOOD, GOOD, GOOD]);
  const client = await outer!.connect();
  const response = await client.request({ method: 'POST', body: 'once' });
  assert.equal(origin.requestCount(), 1);
  assert.match(claimOf(response) ?? '', /^owned;.*retry=never.*effect=maybe$|^relayed;.*retry=never.*effect=maybe$/);
});
