import { deepEqual, equal, match } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { GatewayConfig } from '../../src/config/gateway-config.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { connectRaw, requestRaw } from '../support/raw-client.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import type { TestContext } from 'node:test';
import { liveConfig, startLive } from './live-gateway.ts';

failOnLeaks();

/** Asked every few milliseconds, so that a test waits for an event and not for a second. */
function config(port: number, more: Readonly<Record<string, unknown>> = {}, route = {}): GatewayConfig {
  return liveConfig(
    {
      upstreams: { main: { endpoints: [{ dns: `orders.internal:${port}` }], ...more } },
      routes: [{ name: 'main', upstream: 'main', ...route }],
    },
    (upstream) => ({
      ...upstream,
      dnsEndpoints: upstream.dnsEndpoints.map((settings) => ({ ...settings, refreshMs: 5 })),
    }),
  );
}

/** Two servers on one port, as two addresses of a name have them. */
async function twoOrigins(t: TestContext) {
  const first = await startOrigin({}, { t });
  const second = await startOrigin({}, { t, host: '127.0.0.2', port: first.port });
  return { first, second, port: first.port };
}

test('the addresses of a name serve, and the host can be the name', async (t) => {
  const { first, second, port } = await twoOrigins(t);
  const { address } = await startLive(
    t,
    config(port, { loadBalancing: 'round-robin' }, { rewrite: { host: 'upstream' } }),
    {
      resolve: () => Promise.resolve(['127.0.0.2', '127.0.0.1']),
    },
  );
  for (let count = 0; count < 4; count += 1) equal((await requestRaw(address)).status, 200);
  deepEqual([first.requestCount(), second.requestCount()], [2, 2]);
  equal(first.request().value('host'), `orders.internal:${port}`);
});

test('no request waits for a question', async (t) => {
  const origin = await startOrigin({}, { t });
  let questionCount = 0;
  const { address } = await startLive(
    t,
    liveConfig({ upstreams: { main: { endpoints: [{ dns: `orders.internal:${origin.port}`, refresh: '1h' }] } } }),
    {
      resolve: () => {
        questionCount += 1;
        return Promise.resolve(['127.0.0.1']);
      },
    },
  );
  for (let count = 0; count < 5; count += 1) equal((await requestRaw(address)).status, 200);
  equal(questionCount, 1);
});

test('an address that goes ends what it began and gets nothing new; its idle connections are closed', async (t) => {
  const { first, second, port } = await twoOrigins(t);
  first.setScript([{ do: 'respond', gate: 'answer' }, { do: 'respond' }]);
  let addresses = ['127.0.0.1'];
  const { address, gateway } = await startLive(t, config(port), { resolve: () => Promise.resolve(addresses) });
  const client = await connectRaw(address, { t });
  const answer = client.request({});
  await first.waitForRequest();
  addresses = ['127.0.0.2'];
  while (second.requestCount() === 0) equal((await requestRaw(address)).status, 200);
  const seen = first.requestCount();
  first.open('answer');
  equal((await answer).status, 200);
  for (let count = 0; count < 3; count += 1) await requestRaw(address);
  equal(first.requestCount(), seen);
  await first.waitForNoConnection();
  equal(gateway.inflightCount, 0);
});

test('a name that can no longer be answered keeps its addresses', async (t) => {
  const origin = await startOrigin({}, { t });
  let known = true;
  const { address, heard } = await startLive(t, config(origin.port), {
    resolve: () =>
      known ? Promise.resolve(['127.0.0.1']) : Promise.reject(Object.assign(new Error('gone'), { code: 'ENOTFOUND' })),
  });
  equal((await requestRaw(address)).status, 200);
  known = false;
  await heard(/orders\.internal: the name does not exist \(ENOTFOUND\); its last good addresses stay in use/);
  equal((await requestRaw(address)).status, 200);
});

test('a name that was never answered gives 503 with the reason, and serves as soon as it is', async (t) => {
  const origin = await startOrigin({}, { t });
  let known = false;
  const from = config(origin.port);
  const { address, gateway, heard } = await startLive(t, from, {
    resolve: () =>
      known ? Promise.resolve(['127.0.0.1']) : Promise.reject(Object.assign(new Error('no'), { code: 'EAI_AGAIN' })),
  });
  const refused = await requestRaw(address);
  equal(refused.status, 503);
  known = true;
  await heard(/its addresses are known again/);
  equal((await requestRaw(address)).status, 200);
  await gateway.stop();
  const record = JSON.parse(readFileSync(from.accessLog.path, 'utf8').split('\n')[0]!) as Record<string, unknown>;
  deepEqual([record['status'], record['flags'], record['reason']], [503, ['UH'], 'no-endpoint']);
  match(String(record['error']), /orders\.internal: the name server did not answer \(EAI_AGAIN\)/);
});

test('a name that leads to a refused address is not connected to', async (t) => {
  const { address, said } = await startLive(t, config(1), {
    resolve: () => Promise.resolve(['169.254.169.254', '::']),
  });
  equal((await requestRaw(address)).status, 503);
  match(said.join('\n'), /169\.254\.169\.254 is refused: link-local, :: is refused: unspecified/);
});

test('a reload with other settings keeps the addresses while the name cannot be answered', async (t) => {
  const origin = await startOrigin({}, { t });
  let known = true;
  const { address, gateway } = await startLive(t, config(origin.port), {
    resolve: () =>
      known ? Promise.resolve(['127.0.0.1']) : Promise.reject(Object.assign(new Error('gone'), { code: 'ESERVFAIL' })),
  });
  const client = await connectRaw(address, { t });
  equal((await client.request({})).status, 200);
  known = false;
  await gateway.reload(config(origin.port, { loadBalancing: 'random' }));
  equal((await client.request({})).status, 200);
  equal(origin.journal.connections.length, 1, 'the connection is kept too');
});
