import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { requestRaw } from '../support/raw-client.ts';
import { gatewayFile, startGateway, startRigOf, type RunningGateway } from '../support/running-gateway.ts';
import { startOrigin, type ScriptedOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

const ROBIN = { loadBalancing: 'round-robin' };
const OFF = { retry: { attempts: 0 } };

/** Two endpoints that take turns, of which one answers 503. */
async function halfBad(
  t: TestContext,
  outlierDetection: object,
): Promise<{ readonly bad: ScriptedOrigin; readonly gateway: RunningGateway }> {
  const bad = await startOrigin({ do: 'respond', status: 503 }, { t });
  const good = await startOrigin({}, { t });
  const endpoints = [bad.address, good.address];
  const upstream = { ...ROBIN, endpoints, outlierDetection };
  return { bad, gateway: await startGateway(t, gatewayFile([], { upstream, route: OFF })) };
}

test('consecutiveFailures: an endpoint that answers 503 is left out', async (t) => {
  const { bad, gateway } = await halfBad(t, { consecutiveFailures: 3, baseEjection: '1h' });
  for (let i = 0; i < 6; i += 1) await requestRaw(gateway.port);
  assert.equal(bad.requestCount(), 3);
  const during = await Promise.all(Array.from({ length: 10 }, () => requestRaw(gateway.port)));
  assert.ok(during.every((response) => response.status === 200));
  assert.equal(bad.requestCount(), 3);
});

test('failurePercent: an endpoint is left out for its share of failures, from minRequests on', async (t) => {
  const { bad, gateway } = await halfBad(t, { failurePercent: 100, minRequests: 4, baseEjection: '1h' });
  for (let i = 0; i < 20; i += 1) await requestRaw(gateway.port);
  assert.equal(bad.requestCount(), 4);
});

test('baseEjection: an endpoint that was left out is asked again when its time is over', async (t) => {
  const { bad, gateway } = await halfBad(t, { consecutiveFailures: 1, baseEjection: '50ms' });
  while (bad.requestCount() === 0) await requestRaw(gateway.port);
  bad.setScript({});
  while (bad.requestCount() === 1) await requestRaw(gateway.port);
  for (let i = 0; i < 4; i += 1) assert.equal((await requestRaw(gateway.port)).status, 200);
  assert.equal(bad.requestCount(), 4);
});

test('maxEjectionPercent: of four endpoints that all fail half stay, and the last live one always', async (t) => {
  for (const [maxEjectionPercent, stay] of [
    [50, 2],
    [100, 1],
  ] as const) {
    const origins = await Promise.all(
      Array.from({ length: 4 }, () => startOrigin({ do: 'respond', status: 502 }, { t })),
    );
    const gateway = await startGateway(
      t,
      gatewayFile([], {
        upstream: {
          ...ROBIN,
          endpoints: origins.map((origin) => origin.address),
          outlierDetection: { consecutiveFailures: 1, baseEjection: '1h', maxEjectionPercent },
        },
        route: OFF,
      }),
    );
    for (let i = 0; i < 8; i += 1) await requestRaw(gateway.port);
    const before = origins.map((origin) => origin.requestCount());
    for (let i = 0; i < 8; i += 1) assert.equal((await requestRaw(gateway.port)).status, 502);
    const asked = origins.filter((origin, index) => origin.requestCount() > before[index]!).length;
    assert.equal(asked, stay);
  }
});

test('an only endpoint is never ejected, whatever it answers', async (t) => {
  const { origin, client } = await startRigOf(t, [{ do: 'respond', status: 503 }], {
    upstream: { outlierDetection: { consecutiveFailures: 1 } },
    route: OFF,
  });
  for (let i = 0; i < 10; i += 1) assert.equal((await client.request({})).status, 503);
  assert.equal(origin.requestCount(), 10);
});

test('failures that a retry hid are counted: after them the endpoint is not tried first any more', async (t) => {
  const { origins, client } = await startRigOf(t, [{ do: 'reset' }, {}], {
    upstream: { outlierDetection: { consecutiveFailures: 2, baseEjection: '1h' } },
    route: { retry: { on: ['unsent', 'stale', 'reset'], attempts: 1, backoff: '1ms' } },
  });
  for (let i = 0; i < 6; i += 1) assert.equal((await client.request({})).status, 200);
  assert.deepEqual(
    origins.map((origin) => origin.requestCount()),
    [2, 6],
  );
});
