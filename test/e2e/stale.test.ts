import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import type { Behaviour } from '../support/origin-script.ts';
import { requestRaw } from '../support/raw-client.ts';
import { startRig } from '../support/running-gateway.ts';

failOnLeaks();

/** Each connection answers once, and then dies on its second request. */
const dying = (how: 'reset' | 'close' | 'destroy', at: 'head' | 'complete' = 'complete') =>
  ({ onConnection: [{ do: 'respond' }, { do: how, at }] }) as const satisfies {
    readonly onConnection: readonly Behaviour[];
  };

for (const how of ['reset', 'close', 'destroy'] as const) {
  for (const method of ['GET', 'PUT', 'DELETE']) {
    test(`a ${method} on a reused connection that ends with ${how} gets one free send on a fresh connection`, async (t) => {
      const { origin, client, gateway } = await startRig(t, dying(how));
      assert.equal((await client.request({})).status, 200);
      assert.equal((await client.request({ method })).status, 200);
      assert.equal(origin.requestCount(), 3);
      assert.equal(origin.request(3).requestOnConnection, 1);
      const record = await gateway.record(2);
      assert.deepEqual(
        record.attempts.map(({ class: safety, reused, free }) => [safety, reused, free]),
        [
          ['stale', true, false],
          [undefined, false, true],
        ],
      );
      assert.equal(record.retryBackoff, 0);
    });
  }

  test(`a POST on a reused connection that ends with ${how} reaches the origin once and is answered`, async (t) => {
    const { origin, client } = await startRig(t, dying(how));
    assert.equal((await client.request({})).status, 200);
    const response = await client.request({ method: 'POST', body: 'x' });
    assert.deepEqual([response.status, response.complete], [502, true]);
    assert.equal(origin.requestCount({ method: 'POST' }), 1);
  });

  test(`a keyed POST on a reused connection that ends with ${how} is sent again`, async (t) => {
    const { origin, client } = await startRig(t, dying(how));
    await client.request({});
    const response = await client.request({ method: 'POST', headers: { 'Idempotency-Key': 'k' }, body: 'x' });
    assert.deepEqual([response.status, origin.requestCount({ method: 'POST' })], [200, 2]);
  });
}

test('two GETs and a POST on connections that die when reused: 200, 200, and the POST exactly once', async (t) => {
  const { origin, client } = await startRig(t, dying('close'));
  const statuses = [(await client.request({})).status, (await client.request({})).status];
  const post = await client.request({ method: 'POST', body: 'x' });
  assert.deepEqual(statuses, [200, 200]);
  assert.equal(post.complete, true);
  assert.equal(origin.requestCount({ method: 'POST' }), 1);
});

test('attempts: 0 switches the free send off too', async (t) => {
  const { origin, client } = await startRig(t, dying('reset'), { route: { retry: { attempts: 0 } } });
  await client.request({});
  assert.deepEqual([(await client.request({})).status, origin.requestCount()], [502, 2]);
});

test('the free send is not free a second time', async (t) => {
  // Two idle connections of which both are dead when reused, and then fresh ones that die as well.
  const { origin, client } = await startRig(t, { rules: [{ when: { target: '/die' }, behave: { do: 'reset' } }] });
  await client.request({ target: '/' });
  const response = await client.request({ target: '/die' });
  assert.deepEqual([response.status, origin.requestCount({ target: '/die' })], [502, 2]);
});

test('a first byte on a reused connection makes its death ambiguous: not repeated by default', async (t) => {
  const { origin, client, gateway } = await startRig(t, {
    onConnection: [{ do: 'respond' }, { do: 'respond', cut: { headBytes: 5 }, then: 'reset' }],
  });
  await client.request({});
  assert.deepEqual([(await client.request({})).status, origin.requestCount()], [502, 2]);
  assert.equal((await gateway.record(2)).attempts[0]!.class, 'ambiguous');
});

test('parallel requests against a server that closes after every answer all succeed', async (t) => {
  const { origin, gateway } = await startRig(t, { do: 'respond', then: 'close' });
  for (let round = 0; round < 5; round++) {
    const responses = await Promise.all(Array.from({ length: 30 }, () => requestRaw(gateway.port)));
    assert.deepEqual(new Set(responses.map((response) => response.status)), new Set([200]));
  }
  assert.ok(origin.requestCount({ complete: true }) >= 150);
});

test('a Connection: close of the server is honoured: the next request has a new connection', async (t) => {
  const { origin, client } = await startRig(t, { do: 'respond', headers: { Connection: 'close' } });
  for (let i = 0; i < 3; i++) assert.equal((await client.request({})).status, 200);
  assert.equal(origin.requestCount(), 3);
  assert.equal(origin.journal.connections.length, 3);
});

test('an idle connection leaves the pool before the idle timeout that the server announced', async (t) => {
  const { origin, client } = await startRig(t, { do: 'respond', headers: { 'Keep-Alive': 'timeout=1' } });
  await client.request({});
  await origin.waitForNoConnection();
  assert.notEqual(origin.journal.connections[0]!.finByClientAtMs, undefined);
});
