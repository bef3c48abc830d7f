import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { requestRaw } from '../support/raw-client.ts';
import { startRig } from '../support/running-gateway.ts';

failOnLeaks();

const always503 = { do: 'respond', status: 503, body: 'busy' } as const;
const noFloor = { count: 0, interval: '1s' };

for (const attempts of [0, 1, 2, 4]) {
  test(`${attempts} retries against an upstream that always fails are ${attempts + 1} sends`, async (t) => {
    const { origin, client, gateway } = await startRig(t, always503, {
      route: { retry: { codes: [503], attempts, backoff: '1ms' } },
    });
    assert.deepEqual([(await client.request({})).status, origin.requestCount()], [503, attempts + 1]);
    const record = await gateway.record();
    assert.deepEqual(
      [record.reason, record.retryAttempts, record.attempts.length],
      ['attempts-exhausted', attempts, attempts + 1],
    );
  });
}

test('three retries with a backoff of 50 ms without jitter are four sends and three growing waits', async (t) => {
  const { origin, client, gateway } = await startRig(t, always503, {
    route: { retry: { codes: [503], attempts: 3, backoff: '50ms', jitter: 'none', curve: 'exponential' } },
  });
  await client.request({});
  assert.equal(origin.requestCount(), 4);
  const record = await gateway.record();
  assert.deepEqual(
    record.attempts.map((attempt) => attempt.waitMs),
    [0, 50, 100, 200],
  );
  assert.equal(record.retryBackoff, 350);
});

for (const percent of [0, 10, 50]) {
  test(`a budget of ${percent} % bounds the load of an outage to ${100 + percent} %`, async (t) => {
    const upstream = { retryBudget: { kind: 'ratio', percent, interval: '60s', minRetryRate: noFloor } };
    const { origin, gateway } = await startRig(t, always503, {
      upstream,
      route: { retry: { codes: [503], attempts: 3, backoff: '1ms' } },
    });
    const client = await gateway.connect();
    for (let i = 0; i < 200; i++) assert.equal((await client.request({})).text, 'busy');
    const expected = 200 + (200 * percent) / 100;
    assert.ok(Math.abs(origin.requestCount() - expected) <= 1, `${origin.requestCount()} sends, expected ${expected}`);
    assert.ok(gateway.records.some((record) => record.reason === 'budget-exhausted'));
  });
}

test('retries that wait are inside the budget: calls that fail together cannot all schedule one', async (t) => {
  const upstream = { retryBudget: { kind: 'ratio', percent: 20, interval: '60s', minRetryRate: noFloor } };
  const { origin, gateway } = await startRig(
    t,
    { ...always503, gate: 'fail' },
    { upstream, route: { retry: { codes: [503], attempts: 1, backoff: '300ms', jitter: 'none' } } },
  );
  const calls = Array.from({ length: 50 }, () => requestRaw(gateway.port));
  await origin.waitForRequest(50);
  origin.open('fail');
  assert.deepEqual(new Set((await Promise.all(calls)).map((response) => response.status)), new Set([503]));
  assert.ok(origin.requestCount() <= 61, `${origin.requestCount()} sends`);
});

test('a budget that is exhausted answers 503 of its own when the file says so', async (t) => {
  const upstream = { retryBudget: { kind: 'ratio', percent: 0, minRetryRate: noFloor, onExhausted: '503' } };
  const { origin, client } = await startRig(
    t,
    { do: 'respond', status: 500, body: 'original' },
    { upstream, route: { retry: { codes: [500], attempts: 3 } } },
  );
  const response = await client.request({});
  assert.deepEqual([response.status, origin.requestCount()], [503, 1]);
  assert.doesNotMatch(response.text, /original/);
});

test('requests in flight never exceed the limit, retries included; what does not fit is answered at once', async (t) => {
  const upstream = { circuitBreaker: { maxInflightRequests: 2 } };
  const { origin, gateway } = await startRig(t, { do: 'respond', gate: 'go' }, { upstream });
  const held = [requestRaw(gateway.port), requestRaw(gateway.port)];
  await origin.waitForRequest(2);
  const refused = await requestRaw(gateway.port);
  assert.deepEqual([refused.status, origin.requestCount()], [503, 2]);
  assert.ok(gateway.records[0]!.flags.includes('CB'));
  origin.open('go');
  assert.deepEqual(
    (await Promise.all(held)).map((response) => response.status),
    [200, 200],
  );
});

test('a retry gives its permit back before it asks for the next: a limit of one allows retries', async (t) => {
  const upstream = { circuitBreaker: { maxInflightRequests: 1 } };
  const { origin, client } = await startRig(t, [{ do: 'respond', status: 503 }, { do: 'respond' }], {
    upstream,
    route: { retry: { codes: [503], attempts: 1, backoff: '1ms' } },
  });
  assert.deepEqual([(await client.request({})).status, origin.requestCount()], [200, 2]);
});

test('every field of a client that looks like a retry order is ignored', async (t) => {
  const { origin, client } = await startRig(t, always503);
  await client.request({
    headers: { 'X-Retry': '99', 'X-Envoy-Max-Retries': '99', 'X-Envoy-Retry-On': '5xx', 'L5d-Retry-Limit': '99' },
  });
  assert.equal(origin.requestCount(), 1);
});
