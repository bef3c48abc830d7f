import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { GatewayConfig } from '../../src/config/gateway-config.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { configOf } from '../config/support.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { connectRaw, requestRaw } from '../support/raw-client.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();
const folder = mkdtempSync(join(tmpdir(), 'mulligan-gateway-'));
after(() => rmSync(folder, { recursive: true }));
let logCount = 0;

interface Parts {
  readonly listeners?: string;
  readonly upstream?: string;
  readonly route?: string;
  readonly drain?: string;
  readonly log?: string;
}

function config(origins: readonly string[], parts: Parts = {}): GatewayConfig {
  logCount += 1;
  return configOf(`listeners: ${parts.listeners ?? '[{ address: 127.0.0.1:0 }]'}
upstreams: { main: { endpoints: [${origins.join(', ')}]${parts.upstream ?? ''} } }
routes: [{ name: main, upstream: main${parts.route ?? ''} }]
accessLog: { path: '${parts.log ?? join(folder, `log-${logCount}`)}' }
shutdown: { drain: ${parts.drain ?? '5s'} }
`);
}

async function start(t: TestContext, from: GatewayConfig): Promise<Gateway> {
  const gateway = createGateway(from);
  await gateway.start();
  t.after(() => gateway.stop());
  return gateway;
}

const addressOf = (gateway: Gateway): string => gateway.addresses[0]!;

test('a request goes by its route to the upstream and leaves a record', async (t) => {
  const origin = await startOrigin({}, { t });
  const from = config([origin.address], { route: ', match: { path: { prefix: /orders } }' });
  const gateway = await start(t, from);
  equal((await requestRaw(addressOf(gateway), { target: '//%6frders/1?x=1' })).status, 200);
  equal(origin.request().target, '/orders/1?x=1');
  const missed = await requestRaw(addressOf(gateway), { target: '/other' });
  equal(missed.status, 404);
  equal(missed.value('content-type'), 'application/problem+json');
  equal((await requestRaw(addressOf(gateway), { target: '/orders/../x' })).status, 400);
  equal(origin.requestCount(), 1);
  await gateway.stop();
  const records = readFileSync(from.accessLog.path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  deepEqual(
    records.map((record) => [record['status'], record['route'], record['flags']]),
    [
      [200, 'main', []],
      [404, undefined, ['NR']],
      [400, undefined, []],
    ],
  );
});

test('an address in use is told with its name, and nothing stays open', async (t) => {
  const other = createServer();
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  const gateway = createGateway(
    config(['127.0.0.1:1'], { listeners: `[{ address: 127.0.0.1:0 }, { address: 127.0.0.1:${port} }]` }),
  );
  await rejects(gateway.start(), {
    name: 'ListenError',
    code: 'EADDRINUSE',
    message: new RegExp(`127\\.0\\.0\\.1:${port}.*in use`),
  });
  await gateway.stop();
});

test('an access log that cannot be opened keeps the gateway from starting', async () => {
  const gateway = createGateway(config(['127.0.0.1:1'], { log: join(folder, 'missing/log') }));
  await rejects(gateway.start(), /cannot open the access log .*missing\/log/);
});

test('a full disk under the access log costs lines, not requests', async (t) => {
  const origin = await startOrigin({}, { t });
  const said: string[] = [];
  const gateway = createGateway(config([origin.address], { log: '/dev/full' }), {
    diagnostics: (_level, text) => said.push(text),
  });
  await gateway.start();
  t.after(() => gateway.stop());
  for (let count = 0; count < 5; count += 1) equal((await requestRaw(addressOf(gateway))).status, 200);
  await gateway.stop();
  match(said.join('\n'), /access log \/dev\/full: \d+ lines? lost so far: ENOSPC/);
});

for (const server of ['own', 'node'] as const) {
  test(`a reload under traffic on the ${server} server fails no request and shows at once`, async (t) => {
    const origins = await Promise.all([startOrigin({}, { t }), startOrigin({}, { t })]);
    const listeners = `[{ address: 127.0.0.1:0, server: ${server} }]`;
    const gateway = await start(t, config([origins[0].address], { listeners }));
    const address = addressOf(gateway);
    let running = true;
    const statuses = new Map<number, number>();
    const traffic = async (): Promise<void> => {
      const client = await connectRaw(address, { t });
      while (running) {
        const { status } = await client.request({});
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      client.destroy();
    };
    const clients = [traffic(), traffic(), traffic(), traffic()];
    for (let turn = 1; turn <= 10; turn += 1) {
      const origin = origins[turn % 2]!;
      const seen = origin.requestCount();
      await gateway.reload(config([origin.address], { listeners, upstream: `, connect: { maxConnections: ${turn} }` }));
      await origin.waitFor(() => origin.requestCount() > seen + 10, 'traffic after the reload');
    }
    running = false;
    await Promise.all(clients);
    deepEqual([...statuses.keys()], [200]);
    equal(gateway.addresses[0], address);
  });
}

test('an upstream that did not change keeps its connections over a reload', async (t) => {
  const origin = await startOrigin({}, { t });
  const gateway = await start(t, config([origin.address]));
  const client = await connectRaw(addressOf(gateway), { t });
  await client.request({});
  await gateway.reload(config([origin.address], { route: ', timeouts: { request: 1s }' }));
  await client.request({});
  equal(origin.journal.connections.length, 1);
});

test('a changed upstream keeps the budget it has used up', async (t) => {
  const origin = await startOrigin({ do: 'respond', status: 503 }, { t });
  const parts = { route: ', retry: { codes: [503], backoff: 0s }' };
  const budget = ', retryBudget: { percent: 1, interval: 1h, minRetryRate: { count: 1, interval: 1h } }';
  const gateway = await start(t, config([origin.address], { ...parts, upstream: budget }));
  await requestRaw(addressOf(gateway));
  const spent = origin.requestCount();
  await gateway.reload(config([origin.address], { ...parts, upstream: `${budget}, connect: { timeout: 2s }` }));
  await requestRaw(addressOf(gateway));
  equal(spent, 2);
  equal(origin.requestCount(), spent + 1);
});

test('a reload that cannot open its address changes nothing', async (t) => {
  const origin = await startOrigin({}, { t });
  const gateway = await start(t, config([origin.address]));
  const before = gateway.config;
  await rejects(gateway.reload(config(['127.0.0.1:1'], { listeners: `[{ address: ${origin.address} }]` })), {
    code: 'EADDRINUSE',
  });
  equal(gateway.config, before);
  equal((await requestRaw(addressOf(gateway))).status, 200);
});

test('a listener that is gone from the file takes no connection, and ends those it has', async (t) => {
  const origin = await startOrigin({}, { t });
  const gateway = await start(
    t,
    config([origin.address], {
      listeners: '[{ address: 127.0.0.1:0 }, { address: 127.0.0.1:0, limits: { keepAlive: 9s } }]',
    }),
  );
  const [first, second] = gateway.addresses;
  const idle = await connectRaw(second!, { t });
  await idle.request({});
  await gateway.reload(config([origin.address]));
  deepEqual(gateway.addresses, [first]);
  await idle.waitForEnd();
  await rejects(connectRaw(second!, { t }), { code: 'ECONNREFUSED' });
});

test('other limits for the same address take effect', async (t) => {
  const origin = await startOrigin({}, { t });
  // The port of a listener that is closed again: free, and not 0.
  const probe = await start(t, config([origin.address]));
  const address = addressOf(probe);
  await probe.stop();
  const listeners = (headerBytes: string): string =>
    `[{ address: '${address}', limits: { headerBytes: ${headerBytes} } }]`;
  const gateway = await start(t, config([origin.address], { listeners: listeners('16KiB') }));
  const large = { headers: { 'X-Large': 'x'.repeat(4000) } };
  equal((await requestRaw(address, large)).status, 200);
  await gateway.reload(config([origin.address], { listeners: listeners('2KiB') }));
  deepEqual(gateway.addresses, [address]);
  equal((await requestRaw(address, large)).status, 431);
});

test('draining lets the request under way end and closes its connection', async (t) => {
  const origin = await startOrigin({ do: 'respond', gate: 'answer' }, { t });
  const gateway = await start(t, config([origin.address]));
  const address = addressOf(gateway);
  const client = await connectRaw(address, { t });
  const answer = client.request({});
  await origin.waitForRequest();
  const drained = gateway.drain();
  await rejects(connectRaw(address, { t }), { code: 'ECONNREFUSED' });
  origin.open('answer');
  const response = await answer;
  equal(response.status, 200);
  equal(response.value('connection')?.toLowerCase(), 'close');
  client.destroy();
  equal(await drained, true);
  equal(gateway.inflightCount, 0);
});

test('what has not ended when the time to drain is over is cut', async (t) => {
  const origin = await startOrigin({ do: 'hang' }, { t });
  const gateway = await start(t, config([origin.address], { drain: '20ms' }));
  const client = await connectRaw(addressOf(gateway), { t });
  const answer = client.request({});
  await origin.waitForRequest();
  equal(await gateway.drain(), false);
  await gateway.stop();
  equal((await answer).status, 503);
  await origin.waitForNoConnection();
});
