import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusedAddress } from '../support/addresses.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { gatewayFile, startGateway, startRig, startRigOf } from '../support/running-gateway.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

/** The boldest policy a file can say. */
const everything = {
  retry: {
    attempts: 5,
    codes: [500, 502, 503, 504],
    on: ['unsent', 'rejected', 'stale', 'reset', 'timeout'],
    backoff: '1ms',
  },
};

test('a POST that is answered 503 is delivered as it is, without and with the boldest policy', async (t) => {
  for (const route of [{}, everything]) {
    const { origin, client } = await startRig(t, { do: 'respond', status: 503, body: 'worked on it' }, { route });
    const response = await client.request({ method: 'POST', body: 'x' });
    assert.deepEqual([response.status, response.text, origin.requestCount()], [503, 'worked on it', 1]);
  }
});

for (const method of ['POST', 'PATCH', 'LOCK', 'REPORT', 'post']) {
  test(`a ${method} that is reset after it was read is executed once`, async (t) => {
    const { origins, client, gateway } = await startRigOf(t, [{ do: 'reset' }, {}], { route: everything });
    const response = await client.request({ method, body: 'x' });
    assert.equal(response.status >= 400, true, `status ${response.status}`);
    assert.deepEqual(
      origins.map((origin) => origin.requestCount({ complete: true })).reduce((a, b) => a + b) <= 1,
      true,
    );
    if (response.status === 502) assert.equal((await gateway.record()).reason, 'not-idempotent');
  });
}

for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']) {
  test(`a ${method} that is reset is sent again when the policy names resets`, async (t) => {
    const { origins, client } = await startRigOf(t, [{ do: 'reset' }, {}], { route: everything });
    assert.equal((await client.request({ method })).status, 200);
    assert.deepEqual(
      origins.map((origin) => origin.requestCount()),
      [1, 1],
    );
  });
}

test('a POST on a reused connection that is read and reset is not repeated, and gets no byte of another response', async (t) => {
  const { origin, client, gateway } = await startRig(
    t,
    { onConnection: [{ do: 'respond', body: 'first answer' }, { do: 'reset' }] },
    { route: everything },
  );
  assert.equal((await client.request({})).text, 'first answer');
  const response = await client.request({ method: 'POST', body: 'x' });
  assert.equal(response.status, 502);
  assert.doesNotMatch(response.text, /first answer/);
  assert.equal(origin.requestCount({ method: 'POST' }), 1);
  const record = await gateway.record(2);
  assert.deepEqual(
    [record.reason, record.attempts[0]!.class, record.attempts[0]!.reused],
    ['not-idempotent', 'stale', true],
  );
});

test('a POST whose backend is still working when its time is over is executed once and ends in 504', async (t) => {
  const { origin, client } = await startRig(
    t,
    { do: 'hang' },
    { route: { ...everything, timeouts: { backendRequest: '200ms' } } },
  );
  const response = await client.request({ method: 'POST', body: 'x' });
  assert.deepEqual([response.status, origin.requestCount()], [504, 1]);
});

test('a GET whose attempt times out is repeated only under a policy that names timeouts', async (t) => {
  const timeouts = { backendRequest: '200ms' };
  const bold = await startRig(t, [{ do: 'hang' }, { do: 'respond' }], { route: { ...everything, timeouts } });
  assert.equal((await bold.client.request({})).status, 200);
  const plain = await startRig(t, [{ do: 'hang' }, { do: 'respond' }], { route: { timeouts } });
  assert.deepEqual([(await plain.client.request({})).status, plain.origin.requestCount()], [504, 1]);
});

test('a POST goes to another endpoint when the first refuses, for nothing was sent', async (t) => {
  const refused = await refusedAddress({ t });
  const origin = await startOrigin({}, { t });
  const gateway = await startGateway(t, gatewayFile([refused.address, origin.address]));
  const response = await (await gateway.connect()).request({ method: 'POST', body: 'x' });
  assert.deepEqual([response.status, origin.requestCount()], [200, 1]);
  const record = await gateway.record();
  assert.deepEqual(
    record.attempts.map((attempt) => attempt.class ?? attempt.status),
    ['unsent', 200],
  );
});

test('a POST after an idle connection was closed by the server uses another connection at once', async (t) => {
  const { origin, client, gateway } = await startRig(t, { onConnection: [{ do: 'respond', then: 'close' }] });
  assert.equal((await client.request({})).status, 200);
  // The gateway has seen the FIN when it has closed its side too.
  await origin.waitForNoConnection();
  const response = await client.request({ method: 'POST', body: '0123456789' });
  assert.equal(response.status, 200);
  assert.equal(origin.requestCount({ method: 'POST' }), 1);
  assert.equal((await gateway.record(2)).attempts[0]!.reused, false);
});

test('the idempotency key of the client stays the same over all attempts', async (t) => {
  const { origin, client } = await startRig(t, [{ do: 'respond', status: 500 }, { do: 'respond' }], {
    route: everything,
  });
  const response = await client.request({ method: 'POST', headers: { 'Idempotency-Key': 'k1' }, body: 'x' });
  assert.equal(response.status, 200);
  assert.deepEqual(
    origin.journal.requests.map((request) => request.values('idempotency-key')),
    [['k1'], ['k1']],
  );
});

test('no idempotency key is made up for a client that sent none', async (t) => {
  const { origin, client } = await startRig(t, { do: 'respond', status: 500 }, { route: everything });
  await client.request({ method: 'POST', body: 'x' });
  assert.deepEqual([origin.requestCount(), origin.request().values('idempotency-key')], [1, []]);
});

for (const status of [421, 425]) {
  test(`a POST that is answered ${status} was not processed and is sent again on a new connection`, async (t) => {
    const { origin, client } = await startRig(t, [{ do: 'respond', status }, { do: 'respond' }]);
    const response = await client.request({ method: 'POST', body: 'x' });
    assert.deepEqual([response.status, origin.requestCount()], [200, 2]);
    assert.notEqual(origin.request(1).connection, origin.request(2).connection);
  });
}

test('an upstream that never answers ends in an answer, not in a silent close', async (t) => {
  const { origin, client } = await startRig(t, { do: 'hang' }, { route: { timeouts: { request: '200ms' } } });
  const response = await client.request({});
  assert.deepEqual([response.status, response.complete, origin.requestCount()], [504, true, 1]);
});
