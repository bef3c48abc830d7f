import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { GatewayConfig } from '../../src/config/gateway-config.ts';
import type { JournalRequest } from '../support/journal.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { requestRaw } from '../support/raw-client.ts';
import type { Behaviour } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { liveConfig, startLive } from './live-gateway.ts';

failOnLeaks();

const checks = { path: '/healthz' };
const check = { target: checks.path };
const traffic = { target: '/' };

/** Well in everything but its health. */
const failing =
  (status: number) =>
  (request: JournalRequest): Behaviour => ({ do: 'respond', status: request.target === checks.path ? status : 200 });

function config(addresses: readonly string[], healthCheck = {}, more = {}): GatewayConfig {
  return liveConfig(
    {
      upstreams: {
        main: {
          endpoints: addresses,
          loadBalancing: 'round-robin',
          healthCheck: { ...checks, ...healthCheck },
          ...more,
        },
      },
    },
    (upstream) => ({ ...upstream, healthCheck: { ...upstream.healthCheck!, intervalMs: 5 } }),
  );
}

test('an endpoint that fails its checks is left out, and used again when it is well', async (t) => {
  const [good, bad] = await Promise.all([startOrigin({}, { t }), startOrigin(failing(503), { t })]);
  const { address, heard } = await startLive(t, config([good.address, bad.address]));
  await heard(new RegExp(`upstream main: ${bad.address} is unhealthy: it answered 503`));
  for (let count = 0; count < 6; count += 1) equal((await requestRaw(address)).status, 200);
  deepEqual([good.requestCount(traffic), bad.requestCount(traffic)], [6, 0]);
  bad.setScript({});
  await heard(new RegExp(`upstream main: ${bad.address} is healthy again`));
  for (let count = 0; count < 6; count += 1) await requestRaw(address);
  equal(bad.requestCount(traffic), 3);
});

test('a check asks for its path on a connection of its own, and counts nowhere', async (t) => {
  const origin = await startOrigin({}, { t });
  const from = config([origin.address], {}, { circuitBreaker: { maxInflightRequests: 1 } });
  const { address, gateway } = await startLive(t, from);
  equal((await requestRaw(address)).status, 200);
  await origin.waitForRequest(3, check);
  const asked = origin.request(1, check);
  equal(asked.method, 'GET');
  deepEqual(asked.values('host'), [origin.address]);
  equal(asked.value('user-agent'), 'mulligan-health-check');
  const byConnection = new Map<number, Set<string>>();
  for (const { connection, target } of origin.journal.requests)
    byConnection.set(connection, (byConnection.get(connection) ?? new Set()).add(target));
  equal(
    [...byConnection.values()].every((targets) => targets.size === 1),
    true,
  );
  await gateway.stop();
  equal(readFileSync(from.accessLog.path, 'utf8').trim().split('\n').length, 1);
});

test('one failed check is not enough, and the count begins anew after one that succeeds', async (t) => {
  let checkCount = 0;
  const origin = await startOrigin(
    (request) => {
      if (request.target === checks.path) checkCount += 1;
      return { do: 'respond', status: request.target === checks.path && checkCount % 3 !== 0 ? 500 : 200 };
    },
    { t },
  );
  const { gateway, said } = await startLive(t, config([origin.address, '127.0.0.1:1'], { unhealthyAfter: 3 }));
  await origin.waitForRequest(12, check);
  await gateway.stop();
  deepEqual(
    said.filter((line) => line.includes(origin.address)),
    [],
  );
});

test('when every endpoint is unhealthy all are used, and it is said', async (t) => {
  const origins = await Promise.all([startOrigin(failing(500), { t }), startOrigin(failing(500), { t })]);
  const { address, heard, said } = await startLive(t, config(origins.map((origin) => origin.address)));
  await heard(/upstream main: no endpoint is left: all are used all the same \(panic rule\)/);
  for (let count = 0; count < 4; count += 1) equal((await requestRaw(address)).status, 200);
  deepEqual(
    origins.map((origin) => origin.requestCount(traffic)),
    [2, 2],
  );
  equal(said.filter((line) => line.includes('panic')).length, 1);
});

test('only the statuses that are expected mean well', async (t) => {
  const origin = await startOrigin(failing(204), { t });
  const { heard } = await startLive(t, config([origin.address], { expectedStatus: [200] }));
  await heard(/is unhealthy: it answered 204/);
});

test('an endpoint that does not answer in time, and one that is not there, have failed', async (t) => {
  const origin = await startOrigin({ do: 'hang' }, { t });
  const { heard } = await startLive(t, config([origin.address, '127.0.0.1:1'], { timeout: '20ms', interval: '20ms' }));
  await heard(new RegExp(`${origin.address} is unhealthy: no whole answer within 20 ms`));
  await heard(/127\.0\.0\.1:1 is unhealthy: .*ECONNREFUSED/);
});

test('a body that does not end is not read on', async (t) => {
  const origin = await startOrigin(
    (request) => (request.target === checks.path ? { do: 'endless' } : { do: 'respond' }),
    {
      t,
    },
  );
  const { said } = await startLive(t, config([origin.address]));
  await origin.waitForRequest(4, check);
  deepEqual(said, []);
});

test('what is known of health stays over a reload, and goes with the checks', async (t) => {
  const [good, bad] = await Promise.all([startOrigin({}, { t }), startOrigin(failing(503), { t })]);
  const addresses = [good.address, bad.address];
  const { address, gateway, heard } = await startLive(t, config(addresses));
  await heard(/is unhealthy/);
  await gateway.reload(config(addresses, {}, { connect: { maxConnections: 7 } }));
  for (let count = 0; count < 4; count += 1) await requestRaw(address);
  deepEqual([good.requestCount(traffic), bad.requestCount(traffic)], [4, 0]);
  await gateway.reload(liveConfig({ upstreams: { main: { endpoints: addresses, loadBalancing: 'round-robin' } } }));
  for (let count = 0; count < 4; count += 1) await requestRaw(address);
  equal(bad.requestCount(traffic), 2);
});

test('checks end with the gateway', async (t) => {
  const origin = await startOrigin({}, { t });
  const { gateway } = await startLive(t, config([origin.address]));
  await origin.waitForRequest(1, check);
  await gateway.stop();
  const { length } = origin.journal.requests;
  await origin.waitForNoConnection();
  equal(origin.journal.requests.length, length);
});
