import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blackHoleAddress, refusedAddress } from '../support/addresses.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { requestRaw } from '../support/raw-client.ts';
import { gatewayFile, startGateway, startRig, startRigOf } from '../support/running-gateway.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

test('with one of two endpoints dead, fifty requests of any method all succeed', async (t) => {
  const refused = await refusedAddress({ t });
  const origin = await startOrigin({}, { t });
  const gateway = await startGateway(
    t,
    gatewayFile([], { upstream: { endpoints: [refused.address, origin.address], retryBudget: { kind: 'none' } } }),
  );
  for (let i = 0; i < 50; i++)
    assert.equal((await requestRaw(gateway.port, { method: i % 2 === 0 ? 'GET' : 'POST' })).status, 200);
  assert.equal(origin.requestCount(), 50);
});

test('with a single endpoint the rule to go elsewhere is ignored, not fatal', async (t) => {
  const { origin, client } = await startRig(t, [{ do: 'respond', status: 503 }, { do: 'respond' }], {
    route: { retry: { codes: [503], attempts: 1, backoff: '1ms' } },
  });
  assert.deepEqual([(await client.request({})).status, origin.requestCount()], [200, 2]);
});

test('an endpoint that just failed is excluded from the retry, and used again by later requests', async (t) => {
  const { origins, client, gateway } = await startRigOf(
    t,
    [
      [
        { do: 'respond', status: 503 },
        { do: 'respond', body: 'a' },
      ],
      { do: 'respond', body: 'b' },
    ],
    { route: { retry: { codes: [503], attempts: 1, backoff: '1ms' } } },
  );
  assert.equal((await client.request({})).text, 'b');
  assert.equal((await client.request({})).text, 'a');
  assert.deepEqual(
    (await gateway.record()).attempts.map((attempt) => attempt.endpoint),
    origins.map((origin) => origin.address),
  );
});

test('without a policy a refused connection is retried once, at once, on another endpoint', async (t) => {
  const refused = await refusedAddress({ t });
  const origin = await startOrigin({}, { t });
  const gateway = await startGateway(t, gatewayFile([refused.address, origin.address]));
  assert.equal((await requestRaw(gateway.port, { method: 'POST', body: 'x' })).status, 200);
  const record = await gateway.record();
  assert.deepEqual(
    record.attempts.map(({ endpoint, waitMs, failure }) => [endpoint, waitMs, failure]),
    [
      [refused.address, 0, 'connection_refused'],
      [origin.address, 0, undefined],
    ],
  );
});

test('when every endpoint refuses the client gets 502 or 503 with a reason, and nothing hangs', async (t) => {
  const refused = [await refusedAddress({ t }), await refusedAddress({ t })];
  const gateway = await startGateway(t, gatewayFile(refused.map((one) => one.address)));
  const response = await requestRaw(gateway.port);
  assert.ok(response.status === 502 || response.status === 503, `status ${response.status}`);
  assert.match(response.value('proxy-status') ?? '', /connection_refused/);
  assert.equal(response.value('content-type'), 'application/problem+json');
  assert.equal((await gateway.record()).reason, 'attempts-exhausted');
});

test('an endpoint that swallows connections is left after the connect timeout, whatever the method', async (t) => {
  const hole = await blackHoleAddress({ t });
  const origin = await startOrigin({}, { t });
  const gateway = await startGateway(
    t,
    gatewayFile([hole.address, origin.address], { upstream: { connect: { timeout: '200ms' } } }),
  );
  assert.equal((await requestRaw(gateway.port, { method: 'POST', body: 'x' })).status, 200);
  assert.equal(origin.requestCount(), 1);
  assert.equal((await gateway.record()).attempts[0]!.failure, 'connection_timeout');
});

test('a sole endpoint that swallows connections ends in 504', async (t) => {
  const hole = await blackHoleAddress({ t });
  const gateway = await startGateway(t, gatewayFile([hole.address], { upstream: { connect: { timeout: '100ms' } } }));
  assert.equal((await requestRaw(gateway.port)).status, 504);
});

test('a name with one bad and one good address reaches the good one', async (t) => {
  // `localhost` is ::1 and 127.0.0.1 on most machines; nothing listens on ::1.
  const origin = await startOrigin({}, { t });
  const gateway = await startGateway(t, gatewayFile([`localhost:${origin.port}`]));
  assert.deepEqual(
    [(await requestRaw(gateway.port, { method: 'POST', body: 'x' })).status, origin.requestCount()],
    [200, 1],
  );
});

test('a name that does not exist is an answer, not a crash', async (t) => {
  const gateway = await startGateway(t, gatewayFile(['does-not-exist.invalid:80']));
  for (let i = 0; i < 2; i++) {
    const response = await requestRaw(gateway.port);
    assert.ok(response.status >= 502 && response.status <= 504, `status ${response.status}`);
  }
});

test('every endpoint sees the Host of the client, the failed-over one too', async (t) => {
  const { origins, client } = await startRigOf(t, [{ do: 'respond', status: 503 }, {}], {
    route: { retry: { codes: [503], attempts: 1, backoff: '1ms' } },
  });
  await client.request({ headers: { Host: 'shop.example' } });
  assert.deepEqual(
    origins.map((origin) => origin.request().values('host')),
    [['shop.example'], ['shop.example']],
  );
});

test('a POST that runs when its only server dies ends in 502, and the next one after the restart succeeds', async (t) => {
  const { origin, client } = await startRig(t, { do: 'hang' });
  const running = client.request({ method: 'POST', body: 'x' });
  await origin.waitForRequest();
  await origin.close();
  assert.equal((await running).status, 502);
  const restarted = await startOrigin({}, { t, port: origin.port });
  assert.deepEqual([(await client.request({ method: 'POST', body: 'y' })).status, restarted.requestCount()], [200, 1]);
});

test('while everything is down every request is answered at once and none is left hanging', async (t) => {
  const refused = await refusedAddress({ t });
  const gateway = await startGateway(t, gatewayFile([refused.address]));
  const responses = await Promise.all(Array.from({ length: 100 }, () => requestRaw(gateway.port)));
  assert.equal(
    responses.every((response) => response.complete && (response.status === 502 || response.status === 503)),
    true,
  );
});

test('an upstream that goes and comes back is used again', async (t) => {
  const { origin, gateway } = await startRig(t, {});
  assert.equal((await requestRaw(gateway.port)).status, 200);
  await origin.close();
  assert.equal((await requestRaw(gateway.port)).status, 502);
  const restarted = await startOrigin({}, { t, port: origin.port });
  assert.equal((await requestRaw(gateway.port)).status, 200);
  assert.equal(restarted.requestCount(), 1);
});
