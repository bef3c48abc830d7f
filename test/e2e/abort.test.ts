import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { patternBytes } from '../support/fields.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { requestRaw, type RawClient } from '../support/raw-client.ts';
import { startRig } from '../support/running-gateway.ts';

failOnLeaks();

const bold = { retry: { attempts: 5, codes: [503], on: ['unsent', 'stale', 'reset', 'timeout'], backoff: '1ms' } };

/**
 * How long after its request a client leaves. A FIN that comes together with the request is a client that has said
 * everything and still waits for its answer; only a later one can be told to be a client that left.
 */
const leaveAfterMs = 20;

const ways: readonly (readonly [string, (client: RawClient) => void])[] = [
  ['closes', (client) => client.destroy()],
  ['resets', (client) => client.reset()],
];

for (const [verb, leave] of ways) {
  test(`a client that ${verb} while the upstream works makes the upstream see the close, and is counted as gone`, async (t) => {
    const { origin, client, gateway } = await startRig(t, { do: 'hang' }, { route: bold });
    await client.sendRequest({});
    await origin.waitForRequest();
    await wait(leaveAfterMs);
    leave(client);
    await origin.waitForNoConnection();
    const record = await gateway.record();
    assert.deepEqual([record.status, record.reason, origin.requestCount()], [499, 'downstream-gone', 1]);
    assert.ok(record.flags.includes('DC'));
  });

  test(`a client that ${verb} in the middle of a response makes the upstream see the close`, async (t) => {
    const { origin, client, gateway } = await startRig(t, { do: 'endless' });
    await client.sendRequest({});
    await client.waitForBytes(100_000);
    leave(client);
    await origin.waitForNoConnection();
    const record = await gateway.record();
    assert.deepEqual([record.status, record.truncated], [200, true]);
  });

  test(`a client that ${verb} in the middle of its body leaves an incomplete request and no second one`, async (t) => {
    const { origin, client, gateway } = await startRig(t, {}, { route: bold });
    await client.send('PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc');
    await origin.waitFor((journal) => journal.requests[0]?.bodyBytes === 3);
    leave(client);
    await origin.waitForNoConnection();
    assert.deepEqual([origin.requestCount(), origin.request().complete], [1, false]);
    assert.equal((await gateway.record()).status, 499);
  });

  test(`a client that ${verb} during the wait before a retry causes no further attempt`, async (t) => {
    const { origin, client, gateway } = await startRig(
      t,
      { do: 'respond', status: 503, headers: { 'Retry-After': '5' } },
      { route: bold },
    );
    await client.sendRequest({});
    await origin.waitFor((journal) => journal.requests[0]?.answeredAtMs !== undefined);
    await wait(leaveAfterMs);
    leave(client);
    // The record is written when the request has ended; nothing is left that could send again.
    const record = await gateway.record();
    assert.deepEqual([record.status, record.reason, origin.requestCount()], [499, 'downstream-gone', 1]);
    assert.ok(record.durationMs < 5000);
  });
}

test('a client that leaves in the middle of its head reaches no origin', async (t) => {
  const { origin, client, gateway } = await startRig(t, {});
  await client.send('GET / HTTP/1.1\r\nHost: a\r\nX-Half');
  client.reset();
  assert.equal((await requestRaw(gateway.port)).status, 200);
  assert.equal(origin.requestCount(), 1);
});

test('a client that leaves while its request waits for a connection is never sent', async (t) => {
  const { origin, client, gateway } = await startRig(
    t,
    { do: 'respond', gate: 'go' },
    { upstream: { connect: { maxConnections: 1 } } },
  );
  const first = requestRaw(gateway.port, { target: '/first' });
  await origin.waitForRequest();
  await client.sendRequest({ target: '/queued' });
  const other = requestRaw(gateway.port, { target: '/third' });
  client.reset();
  await gateway.record();
  origin.open('go');
  assert.deepEqual([(await first).status, (await other).status], [200, 200]);
  assert.deepEqual(origin.journal.requests.map((request) => request.target).sort(), ['/first', '/third']);
});

test('a client that half-closes after its request is still answered', async (t) => {
  const { origin, client } = await startRig(t, { do: 'respond', gate: 'go', body: 'late' });
  // Both in one turn, as a client does that knows that it will say nothing more.
  void client.sendRequest({});
  client.halfClose();
  await origin.waitForRequest();
  origin.open('go');
  const response = await client.response();
  assert.deepEqual([response.status, response.text], [200, 'late']);
});

test('the gateway goes on after a client reset, and the upstream is not blamed', async (t) => {
  const { origin, client, gateway } = await startRig(t, [{ do: 'hang' }, { do: 'respond' }]);
  await client.sendRequest({ method: 'POST', body: 'x' });
  await origin.waitForRequest();
  client.reset();
  await gateway.record();
  assert.equal((await requestRaw(gateway.port)).status, 200);
});

test('a request after thirty that were cancelled is answered, and they leave no open upstream request', async (t) => {
  const { origin, gateway } = await startRig(t, { rules: [{ when: { target: '/slow' }, behave: { do: 'hang' } }] });
  for (let i = 1; i <= 30; i++) {
    const client = await gateway.connect();
    await client.sendRequest({ target: '/slow' });
    await origin.waitForRequest(i);
    await wait(leaveAfterMs);
    client.destroy();
  }
  assert.equal((await requestRaw(gateway.port)).status, 200);
  await origin.waitFor((journal) =>
    journal.requests.every((request) => request.target !== '/slow' || request.closedByClientAtMs !== undefined),
  );
});

test('a client that leaves during an upload that the upstream does not read ends the upstream request too', async (t) => {
  const resumed = [
    { step: 'until', point: 'head' },
    { step: 'stop-reading' },
    { step: 'gate', name: 'read on' },
    { step: 'resume-reading' },
  ] as const;
  const { origin, client, gateway } = await startRig(t, { do: 'steps', steps: resumed });
  void client.sendRequest({ method: 'PUT', body: patternBytes(32 * 1024 * 1024) });
  await origin.waitForRequest();
  client.reset();
  assert.equal((await gateway.record()).status, 499);
  // A socket that is not read does not notice its end.
  origin.open('read on');
  await origin.waitForNoConnection();
  assert.equal(origin.request().complete, false);
});
