import { deepEqual, equal } from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { GatewayConfig } from '../../src/config/gateway-config.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { connectRaw, requestRaw } from '../support/raw-client.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { liveConfig, startLive } from './live-gateway.ts';

failOnLeaks();

for (const server of ['own', 'node'] as const) {
  const config = (origin: string, limits = {}): GatewayConfig =>
    liveConfig({
      listeners: [{ address: '127.0.0.1:0', server, limits }],
      upstreams: { main: { endpoints: [origin] } },
    });
  const large = { headers: { 'X-Large': 'x'.repeat(4000) } };

  test(`other limits keep the ${server} listener open, its port and its connections`, async (t) => {
    const origin = await startOrigin({}, { t });
    const { gateway, address } = await startLive(t, config(origin.address, { headerBytes: '16KiB' }));
    const client = await connectRaw(address, { t });
    equal((await client.request(large)).status, 200);
    await gateway.reload(config(origin.address, { headerBytes: '2KiB', keepAlive: '9s' }));
    deepEqual(gateway.addresses, [address]);
    equal((await client.request({})).status, 200, 'the connection goes on');
    equal((await requestRaw(address, large)).status, 431, 'new connections have the new limit');
  });

  test(`no connection to the ${server} listener is refused while its limits change`, async (t) => {
    const origin = await startOrigin({}, { t });
    const { gateway, address } = await startLive(t, config(origin.address));
    const port = Number(address.split(':')[1]);
    const failures: unknown[] = [];
    let running = true;
    let connectionCount = 0;
    const dial = async (): Promise<void> => {
      while (running) {
        await new Promise<void>((resolve) => {
          const socket = connect({ host: '127.0.0.1', port }, () => socket.end());
          socket.on('error', (error) => failures.push(error)).on('close', () => resolve());
          socket.resume();
        });
        connectionCount += 1;
      }
    };
    const dialling = [dial(), dial()];
    for (let turn = 1; turn <= 20; turn += 1) {
      await gateway.reload(config(origin.address, { maxConnections: 100 + turn }));
      equal((await requestRaw(address)).status, 200);
    }
    running = false;
    await Promise.all(dialling);
    deepEqual(failures, []);
    equal(connectionCount > 20, true);
  });

  test(`a reload that fails leaves the limits of the ${server} listener as they were`, async (t) => {
    const origin = await startOrigin({}, { t });
    const { gateway, address } = await startLive(t, config(origin.address));
    const bad = config(origin.address, { headerBytes: '2KiB' });
    const taken = { ...bad.listeners[0]!.address, port: origin.port, key: origin.address };
    let refused = false;
    await gateway
      .reload({ ...bad, listeners: [...bad.listeners, { ...bad.listeners[0]!, address: taken }] })
      .catch(() => (refused = true));
    equal(refused, true);
    equal((await requestRaw(address, large)).status, 200);
  });

  test(`a request that comes on an idle connection while the ${server} listener drains is answered, and told the end`, async (t) => {
    const origin = await startOrigin({}, { t });
    const { gateway, address } = await startLive(t, config(origin.address));
    const client = await connectRaw(address, { t });
    await client.request({});
    const drained = gateway.drain();
    const answer = await client.request({});
    equal(answer.status, 200);
    equal(answer.value('connection')?.toLowerCase(), 'close');
    await client.waitForEnd();
    client.destroy();
    equal(await drained, true);
  });
}
