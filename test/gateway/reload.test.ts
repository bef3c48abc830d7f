import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayConfig } from '../../src/config/gateway-config.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { connectRaw, requestRaw } from '../support/raw-client.ts';
import type { RawResponse } from '../support/raw-response.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { liveConfig, startLive } from './live-gateway.ts';

failOnLeaks();

const main = (endpoints: readonly string[], more: Readonly<Record<string, unknown>> = {}): GatewayConfig =>
  liveConfig({ upstreams: { main: { endpoints, ...more } } });

for (const server of ['own', 'node'] as const) {
  test(`every request under reloads belongs to one configuration whole, its retries too (${server} listener)`, async (t) => {
    // Every third request of an origin is retried, so that retries and reloads meet.
    let answered = 0;
    const script = () => ({ do: 'respond' as const, status: (answered += 1) % 3 === 0 ? 503 : 200 });
    const origins = await Promise.all([startOrigin(script, { t }), startOrigin(script, { t })]);
    // Configuration n writes n into the path and has the origin n % 2: what does not fit together is a mixture.
    const configuration = (n: number): GatewayConfig =>
      liveConfig({
        listeners: [{ address: '127.0.0.1:0', server, limits: { maxConnections: 1000 + n } }],
        upstreams: {
          main: {
            endpoints: [origins[n % 2]!.address],
            connect: { maxConnections: 10 + n },
            retryBudget: { kind: 'none' },
          },
        },
        routes: [
          {
            upstream: 'main',
            match: { path: { prefix: '/' } },
            rewrite: { prefix: `/${n}` },
            retry: { codes: [503], attempts: 20, backoff: '2ms' },
          },
        ],
      });
    const { gateway, address } = await startLive(t, configuration(0));
    let running = true;
    const statuses = new Map<number, number>();
    const traffic = async (): Promise<void> => {
      const client = await connectRaw(address, { t });
      for (let count = 0; running && count < 50_000; count += 1) {
        const { status } = await client.request({});
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      client.destroy();
    };
    const clients = Array.from({ length: 6 }, traffic);
    for (let n = 1; n <= 10; n += 1) {
      const origin = origins[n % 2]!;
      const seen = origin.requestCount();
      await gateway.reload(configuration(n));
      await origin.waitFor(() => origin.requestCount() > seen + 10, 'traffic after the reload');
    }
    running = false;
    await Promise.all(clients);
    deepEqual([...statuses.keys()], [200]);
    const mixed = origins.flatMap((origin, index) =>
      origin.journal.requests.filter(({ target }) => Number(target.slice(1).split('/')[0]) % 2 !== index),
    );
    deepEqual(
      mixed.map(({ target }) => target),
      [],
    );
  });
}

test('requests in flight count against the limit of the upstream that takes the place of theirs', async (t) => {
  const origin = await startOrigin({ do: 'respond', gate: 'answer' }, { t });
  const limited = (limit: number): GatewayConfig =>
    main([origin.address], { circuitBreaker: { maxInflightRequests: limit }, connect: { maxConnections: 10 + limit } });
  const { gateway, address } = await startLive(t, limited(1));
  const started = async (number: number): Promise<RawResponse> => {
    const client = await connectRaw(address, { t });
    const answer = client.request({});
    await origin.waitForRequest(number);
    return answer;
  };
  const first = started(1);
  await origin.waitForRequest(1);
  await gateway.reload(limited(2));
  const second = started(2);
  await origin.waitForRequest(2);
  equal((await requestRaw(address)).status, 503, 'two are in flight');
  origin.open('answer');
  deepEqual([(await first).status, (await second).status], [200, 200]);
  equal((await requestRaw(address)).status, 200);
});

test('a connection and what is known of an address stay when only other addresses change', async (t) => {
  const [kept, gone, fresh] = await Promise.all([
    startOrigin({}, { t }),
    startOrigin({}, { t }),
    startOrigin({}, { t }),
  ]);
  const { gateway, address } = await startLive(t, main([kept.address, gone.address], { loadBalancing: 'round-robin' }));
  const client = await connectRaw(address, { t });
  for (let count = 0; count < 4; count += 1) await client.request({});
  await gateway.reload(main([kept.address, fresh.address], { loadBalancing: 'round-robin' }));
  await gone.waitForNoConnection();
  for (let count = 0; count < 4; count += 1) equal((await client.request({})).status, 200);
  deepEqual([kept.journal.connections.length, kept.requestCount(), fresh.requestCount()], [1, 4, 2]);
});

test('a weight that changes in a reload takes effect without losing the requests in flight', async (t) => {
  const [a, b] = await Promise.all([startOrigin({}, { t }), startOrigin({}, { t })]);
  const weighted = (weight: number): GatewayConfig =>
    liveConfig({
      upstreams: {
        main: { endpoints: [{ address: a.address, weight }, b.address], loadBalancing: 'round-robin' },
      },
    });
  const { gateway, address } = await startLive(t, weighted(1));
  await gateway.reload(weighted(3));
  const client = await connectRaw(address, { t });
  for (let count = 0; count < 8; count += 1) await client.request({});
  deepEqual([a.requestCount(), b.requestCount()], [6, 2]);
});

test('a gateway says when it is ready, and that it drains', async (t) => {
  const origin = await startOrigin({}, { t });
  const { gateway } = await startLive(t, main([origin.address]));
  equal(gateway.phase, 'ready');
  const drained = gateway.drain();
  equal(gateway.phase, 'draining');
  await drained;
  await gateway.stop();
  equal(gateway.phase, 'stopped');
});
