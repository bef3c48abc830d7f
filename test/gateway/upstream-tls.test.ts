import { deepEqual, equal, notEqual, rejects } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { GatewayConfig } from '../../src/config/gateway-config.ts';
import { buildState, commitState, retireState } from '../../src/gateway/build.ts';
import { createSystemClock } from '../../src/transport/system-time.ts';
import { createTestCertificates } from '../support/certificates.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { connectRaw } from '../support/raw-client.ts';
import { liveConfig, startLive } from './live-gateway.ts';

failOnLeaks();

const { ca, client, server, strangerCa } = createTestCertificates();
const folder = mkdtempSync(join(tmpdir(), 'mulligan-upstream-tls-'));
after(() => rmSync(folder, { recursive: true }));

function put(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Answers with its protocol and, to `/healthz`, counts. */
async function startSecure(t: TestContext): Promise<{ address: string; paths: string[] }> {
  const paths: string[] = [];
  const sockets = new Set<Socket>();
  const origin = createSecureServer({ ...server, allowHTTP1: true }, (request, response) => {
    paths.push(request.url);
    response.end(request.httpVersion);
  });
  origin.on('sessionError', () => {});
  origin.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    const closed = new Promise((resolve) => origin.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return { address: `127.0.0.1:${String((origin.address() as AddressInfo).port)}`, paths };
}

function configTo(address: string, caFile: string): GatewayConfig {
  return liveConfig({
    upstreams: { main: { endpoints: [address], protocol: 'auto', tls: { ca: caFile } } },
  });
}

test('a file that changed is taken into use by a reload, although the configuration is the same', async (t) => {
  const origin = await startSecure(t);
  const caFile = put('changing-ca.pem', strangerCa);
  const config = configTo(origin.address, caFile);
  const { gateway, address } = await startLive(t, config);
  const ask = async (): Promise<number> => (await (await connectRaw(address, { t })).request({ method: 'GET' })).status;
  equal(await ask(), 502);
  put('changing-ca.pem', ca);
  await gateway.reload(config);
  equal(await ask(), 200);
});

test('with another certificate come other connections, and the same budget', () => {
  const certFile = put('client.pem', client.cert);
  const config = liveConfig({
    upstreams: {
      main: {
        endpoints: ['127.0.0.1:9'],
        tls: { ca: put('ca.pem', ca), cert: certFile, key: put('client.key', client.key) },
      },
    },
  });
  const clock = createSystemClock();
  const first = buildState(config, clock);
  const same = buildState(config, clock, first);
  equal(same.upstreams.get('main'), first.upstreams.get('main'));
  put('client.pem', `${client.cert}\n`);
  const next = buildState(config, clock, first);
  commitState(next, first);
  const [before, now] = [first, next].map((state) => state.upstreams.get('main')!.upstream);
  notEqual(now!.transport, before!.transport);
  equal(now!.budget, before!.budget);
  retireState(next);
});

test('a file that is gone at a reload is told, and the configuration of before goes on', async (t) => {
  const origin = await startSecure(t);
  const caFile = put('going-ca.pem', ca);
  const config = configTo(origin.address, caFile);
  const { gateway, address } = await startLive(t, config);
  rmSync(caFile);
  await rejects(gateway.reload(config), /ENOENT/);
  equal((await (await connectRaw(address, { t })).request({ method: 'GET' })).text, '2.0');
});

test('health checks speak what the requests speak', async (t) => {
  const origin = await startSecure(t);
  const caFile = put('health-ca.pem', strangerCa);
  const config = liveConfig(
    {
      upstreams: {
        main: {
          endpoints: [origin.address],
          protocol: 'auto',
          tls: { ca: caFile },
          healthCheck: { path: '/healthz', unhealthyAfter: 1 },
        },
      },
    },
    (upstream) => ({ ...upstream, healthCheck: { ...upstream.healthCheck!, intervalMs: 20 } }),
  );
  const { gateway, heard } = await startLive(t, config);
  await heard(/is unhealthy: .*tls_certificate_error/);
  put('health-ca.pem', ca);
  await gateway.reload(config);
  await heard(/is healthy again/);
  deepEqual([...new Set(origin.paths)], ['/healthz']);
});
