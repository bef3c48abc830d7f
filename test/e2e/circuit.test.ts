import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { refusedAddress } from '../support/addresses.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { requestRaw } from '../support/raw-client.ts';
import type { RawResponse } from '../support/raw-response.ts';
import { gatewayFile, startGateway, startRig } from '../support/running-gateway.ts';

failOnLeaks();

const OFF = { retry: { attempts: 0 } };

test('consecutiveFailures: the circuit opens, requests are answered 503 with CB and Retry-After, and the origin is left alone', async (t) => {
  const { origin, client, gateway } = await startRig(
    t,
    { do: 'respond', status: 500 },
    { upstream: { circuitBreaker: { consecutiveFailures: 3, openFor: '30s' } }, route: OFF },
  );
  for (let i = 0; i < 3; i += 1) assert.equal((await client.request({})).status, 500);
  const refused = await client.request({});
  assert.deepEqual([refused.status, refused.value('retry-after')], [503, '30']);
  assert.match(refused.text, /"reason":"circuit-open"/);
  assert.equal(origin.requestCount(), 3);
  const record = await gateway.record(4);
  assert.deepEqual([record.flags, record.reason, record.attempts.length], [['CB'], 'circuit-open', 0]);
  assert.equal(record.upstream, 'main');
});

test('failurePercent: the circuit opens at the share, from minRequests on', async (t) => {
  const { origin, client } = await startRig(t, [{ do: 'respond' }, { do: 'respond' }, { do: 'respond', status: 502 }], {
    upstream: { circuitBreaker: { failurePercent: 50, minRequests: 4 } },
    route: OFF,
  });
  const statuses: number[] = [];
  for (let i = 0; i < 5; i += 1) statuses.push((await client.request({})).status);
  assert.deepEqual(statuses, [200, 200, 502, 502, 503]);
  assert.equal(origin.requestCount(), 4);
});

test('openFor and halfOpenRequests: exactly the counted probes pass, and the circuit closes when they are answered', async (t) => {
  const { origin, gateway, client } = await startRig(
    t,
    [
      { do: 'respond', status: 500 },
      { do: 'respond', gate: 'probe' },
    ],
    { upstream: { circuitBreaker: { consecutiveFailures: 1, openFor: '2s', halfOpenRequests: 2 } }, route: OFF },
  );
  await client.request({});
  const answers: Promise<RawResponse>[] = [];
  while (origin.requestCount() < 2) {
    answers.push(requestRaw(gateway.port));
    await wait(50);
  }
  for (let i = 0; i < 10; i += 1) answers.push(requestRaw(gateway.port));
  // All but the two probes, and the request that opened the circuit.
  await gateway.record(answers.length - 1);
  assert.equal(origin.requestCount(), 3);
  origin.open('probe');
  const statuses = (await Promise.all(answers)).map((response) => response.status);
  assert.equal(statuses.filter((status) => status === 200).length, 2);
  assert.ok(statuses.every((status) => status === 200 || status === 503));
  assert.equal((await client.request({})).status, 200);
});

test('a probe that fails keeps the circuit open for longer', async (t) => {
  const { origin, client } = await startRig(
    t,
    { do: 'respond', status: 500 },
    { upstream: { circuitBreaker: { consecutiveFailures: 1, openFor: '40ms', maxOpenFor: '1h' } }, route: OFF },
  );
  await client.request({});
  for (let probes = 2; probes <= 4; probes += 1) {
    while (origin.requestCount() < probes) {
      await wait(20);
      await client.request({});
    }
  }
  const refused = await client.request({});
  assert.deepEqual([refused.status, origin.requestCount()], [503, 4]);
});

test('onOverflow: a retry that meets the open circuit ends in 503, or in the original response', async (t) => {
  for (const [onOverflow, status] of [
    ['503', 503],
    ['original', 502],
  ] as const) {
    const { origin, client, gateway } = await startRig(
      t,
      { do: 'respond', status: 502, body: 'original' },
      {
        upstream: { circuitBreaker: { consecutiveFailures: 2, onOverflow } },
        route: { retry: { codes: [502], attempts: 5, backoff: '1ms' } },
      },
    );
    const response = await client.request({});
    assert.deepEqual([response.status, origin.requestCount()], [status, 2]);
    if (onOverflow === 'original') assert.equal(response.text, 'original');
    const record = await gateway.record();
    assert.deepEqual([record.reason, record.flags], ['circuit-open', ['CB']]);
  }
});

test('a circuit is one route: another route of the same upstream goes on', async (t) => {
  const { client, gateway } = await startRig(
    t,
    (request) => ({ do: 'respond', status: request.target.startsWith('/broken') ? 500 : 200 }),
    {
      upstream: { circuitBreaker: { consecutiveFailures: 1 } },
      top: {
        routes: [
          { name: 'broken', match: { path: { prefix: '/broken' } }, upstream: 'main', ...OFF },
          { name: 'rest', upstream: 'main', ...OFF },
        ],
      },
    },
  );
  assert.equal((await client.request({ target: '/broken' })).status, 500);
  assert.equal((await client.request({ target: '/broken' })).status, 503);
  assert.equal((await client.request({ target: '/' })).status, 200);
  assert.equal((await gateway.record(2)).route, 'broken');
});

test('clients that leave, and what they bring about, open nothing', async (t) => {
  const { origin, gateway, client } = await startRig(
    t,
    (request) =>
      request.target === '/hang' ? { do: 'hang' } : { do: 'respond', status: Number(request.target.slice(1)) },
    { upstream: { circuitBreaker: { consecutiveFailures: 1 } }, route: OFF },
  );
  for (const status of [400, 404, 408, 429, 501, 505])
    assert.equal((await client.request({ target: `/${status}` })).status, status);
  const leaving = await gateway.connect();
  await leaving.sendRequest({ target: '/hang' });
  await origin.waitForRequest(1, { target: '/hang' });
  leaving.reset();
  await gateway.record(7);
  assert.equal((await client.request({ target: '/200' })).status, 200);
});

test('a dead upstream costs as many attempts as the threshold, and every further request is answered at once', async (t) => {
  const refused = await refusedAddress({ t });
  const gateway = await startGateway(
    t,
    gatewayFile([refused.address], {
      upstream: { circuitBreaker: { consecutiveFailures: 5 }, retryBudget: { kind: 'none' } },
    }),
  );
  for (let i = 0; i < 50; i += 1) await requestRaw(gateway.port);
  await gateway.record(50);
  const attempts = gateway.records.flatMap((record) => record.attempts);
  assert.equal(attempts.length, 5);
  const late = gateway.records.slice(10);
  assert.ok(late.every(({ status, flags }) => status === 503 && flags.includes('CB')));
});
