import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { parseAddress } from '../../src/engine/endpoint.ts';
import { createUpstream } from '../../src/engine/upstream.ts';
import { createRetryBudget } from '../../src/core/retry-budget.ts';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { createTransport } from '../../src/transport/create-transport.ts';
import { createSystemClock } from '../../src/transport/system-time.ts';
import { createTestCertificates } from '../support/certificates.ts';
import { patternBytes } from '../support/fields.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { createSignal } from '../support/signal.ts';

failOnLeaks();

const { ca, server: certified } = createTestCertificates();

for (const engine of ['own', ...('shouldUpgradeCallback' in createServer() ? ['node'] : [])] as ('own' | 'node')[]) {
  test(`${engine}: a WebSocket over TLS on both sides carries a large message both ways, and closes`, async (t) => {
    const origin = createServer(certified);
    const sockets = new WebSocketServer({ server: origin });
    sockets.on('connection', (socket) => socket.on('message', (data: Buffer) => socket.send(data)));
    origin.listen(0, '127.0.0.1');
    await once(origin, 'listening');
    t.after(() => origin.close());
    const { port: originPort } = origin.address() as AddressInfo;

    const clock = createSystemClock();
    // The server would choose HTTP/1.1 anyway; a client that wants to switch is never asked to speak HTTP/2.
    const transport = createTransport({ clock, protocol: 'auto', tls: { ca } });
    const upstream = createUpstream({
      name: 'sockets',
      endpoints: [{ address: parseAddress(`127.0.0.1:${originPort}`) }],
      transport,
      budget: createRetryBudget(undefined),
    });
    const records: AccessRecord[] = [];
    const signal = createSignal();
    const proxy = createProxy(
      {
        requestFilter(exchange) {
          exchange.plan = { ...exchange.plan, upgrade: new Set(['websocket']) };
        },
        selectUpstream: () => upstream,
      },
      {
        onRecord(record) {
          records.push(record);
          signal.changed();
        },
      },
    );
    t.after(() => upstream.close());
    t.after(() => proxy.close());
    const tls = { certificates: [{ hosts: [], ...certified }] };
    const { address } = await proxy.listen('127.0.0.1:0', { server: engine, tls });

    const client = new WebSocket(`wss://localhost:${address.port}/`, { ca });
    await once(client, 'open');
    const message = patternBytes(3_000_000);
    client.send(message);
    const [echo] = (await once(client, 'message')) as [Buffer];
    assert.ok(echo.equals(message));
    client.close(1000);
    const [code] = (await once(client, 'close')) as [number];
    assert.equal(code, 1000);
    const record = await signal.until(() => records[0], { what: 'the record' });
    assert.deepEqual([record.status, record.truncated, record.flags], [101, false, []]);
    assert.ok(record.bytesIn > message.length && record.bytesOut > message.length);
  });
}
