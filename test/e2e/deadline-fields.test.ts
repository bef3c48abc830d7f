import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { startRig, startRigOf, type FileObject } from '../support/running-gateway.ts';

failOnLeaks();

const BUSY = { do: 'respond', status: 503 } as const;
const SILENT = { do: 'hang' } as const;
const TOLD: FileObject = { ownership: 'trusted' };

const onlyNumber = (values: readonly string[]): number => {
  assert.equal(values.length, 1, values.join());
  return Number(values[0]);
};

test('a trusted upstream is told with each attempt how much time is left, and whether another one can follow', async (t) => {
  const { origin, client } = await startRig(t, BUSY, {
    upstream: TOLD,
    route: { retry: { codes: [503], attempts: 1, backoff: '1ms' }, timeouts: { request: '2s' } },
  });
  await client.request({});
  const [first, second] = origin.journal.requests.map((request) => onlyNumber(request.values('request-timeout')));
  assert.ok(first! > 0 && first! <= 1995, String(first));
  assert.ok(second! <= first!, `${first} ${second}`);
  assert.deepEqual(
    origin.journal.requests.map((request) => request.values('request-attempt')),
    [['n=1, lineage=0, can-retry'], ['n=2, lineage=1, can-retry=?0']],
  );
});

test('the limit of one attempt is what its callee is told, where it is shorter', async (t) => {
  const { origin, client } = await startRig(
    t,
    {},
    { upstream: TOLD, route: { timeouts: { request: '10s', backendRequest: '1s' } } },
  );
  await client.request({});
  assert.ok(onlyNumber(origin.request().values('request-timeout')) <= 995);
});

test('without any limit nothing is told', async (t) => {
  const route = { timeouts: { request: '0s', backendRequest: '0s' } };
  const { origin, client } = await startRig(t, {}, { upstream: TOLD, route });
  await client.request({});
  assert.deepEqual(origin.request().values('request-timeout'), []);
});

test('a stranger upstream is told nothing that the client did not say', async (t) => {
  const { origin, client } = await startRig(t, {}, { top: { ownership: { trust: ['10.0.0.0/8'] } } });
  await client.request({});
  assert.deepEqual(origin.request().values('request-timeout'), []);
  assert.deepEqual(origin.request().values('request-attempt'), []);
});

const vocabularies: readonly (readonly [name: string, said: string, written: RegExp])[] = [
  ['request-timeout', '3000', /^\d{1,4}$/],
  ['grpc-timeout', '3S', /^\d{1,4}m$/],
  ['x-envoy-expected-rq-timeout-ms', '3000', /^\d{1,4}$/],
];
for (const [name, said, written] of vocabularies) {
  test(`what ${name} says is passed on less the margin, in the same words`, async (t) => {
    const { origin, client } = await startRig(t, {});
    await client.request({ headers: { [name]: said } });
    const [value = '', ...more] = origin.request().values(name);
    assert.match(value, written);
    assert.deepEqual([more, Number.parseInt(value, 10) <= 2995], [[], true], value);
  });

  test(`${name} gives a client no more time than the route does`, async (t) => {
    const { origin, client } = await startRig(t, {}, { route: { timeouts: { request: '1s' } } });
    await client.request({ headers: { [name]: name === 'grpc-timeout' ? '9H' : '99999999' } });
    assert.ok(Number.parseInt(origin.request().values(name)[0] ?? '', 10) <= 995);
  });

  test(`${name} takes time away: the answer is a 504 when it is over`, async (t) => {
    const { origin, client, gateway } = await startRig(t, SILENT);
    const response = await client.request({ headers: { [name]: name === 'grpc-timeout' ? '60m' : '60' } });
    assert.deepEqual([response.status, origin.requestCount()], [504, 1]);
    assert.equal((await gateway.record()).reason, 'deadline');
  });
}

test('a request whose caller is gone before an answer could be back is not begun', async (t) => {
  const { origin, client, gateway } = await startRig(t, {}, { top: { ownership: { margin: '50ms' } } });
  const response = await client.request({ headers: { 'Request-Timeout': '50' } });
  assert.deepEqual([response.status, origin.requestCount()], [504, 0]);
  const { reason, attempts, claimOut } = await gateway.record();
  assert.deepEqual([reason, attempts.length, claimOut], ['deadline', 0, 'owned']);
});

test('a deadline that nobody can read changes nothing and goes no further', async (t) => {
  for (const value of ['soon', '1.5e9', '"5"', `5;x="${'y'.repeat(300)}"`]) {
    const { origin, client } = await startRig(t, {});
    const response = await client.request({ headers: { 'Request-Timeout': value } });
    assert.equal(response.status, 200, value);
    const [passed] = origin.request().values('request-timeout');
    assert.ok(passed === undefined || /^\d+$/.test(passed), `${value}: ${passed}`);
  }
});

const outlierDetection = { consecutiveFailures: 1, baseEjection: '60s', maxEjectionPercent: 100 };

test('a stranger cannot have an endpoint ejected by a deadline that nobody could keep', async (t) => {
  const { origins, client } = await startRigOf(t, [SILENT, {}], { upstream: { outlierDetection } });
  await client.request({ headers: { 'Request-Timeout': '40' } });
  origins[0]!.setScript({});
  assert.equal((await client.request({})).status, 200);
  assert.deepEqual([origins[0]!.requestCount(), origins[1]!.requestCount()], [2, 0]);
});

test('a deadline of a trusted caller is evidence: it is what answers are needed within', async (t) => {
  const { origins, client } = await startRigOf(t, [SILENT, {}], {
    upstream: { outlierDetection },
    top: { ownership: { trust: ['127.0.0.1'] } },
  });
  await client.request({ headers: { 'Request-Timeout': '40' } });
  assert.equal((await client.request({})).status, 200);
  assert.deepEqual([origins[0]!.requestCount(), origins[1]!.requestCount()], [1, 1]);
});
