import { equal, match, notEqual, rejects } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { TestContext } from 'node:test';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { readConfigFile } from '../../src/gateway/config-file.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import { createTestCertificates } from '../support/certificates.ts';
import type { CertifiedKey } from '../support/certificates.ts';
import { ask, connectHttp2 } from '../support/http2-client.ts';
import { startOrigin } from '../support/scripted-origin.ts';

const root = mkdtempSync(join(tmpdir(), 'mulligan-gateway-tls-'));
after(() => rmSync(root, { recursive: true }));
const certificates = createTestCertificates();

interface Stage {
  readonly gateway: Gateway;
  readonly port: number;
  write(pair: CertifiedKey): void;
  reload(more?: string): Promise<void>;
}

async function stage(t: TestContext): Promise<Stage> {
  const origin = await startOrigin({ do: 'respond', body: 'ok' }, { t });
  const folder = mkdtempSync(join(root, 'one-'));
  const write = ({ cert, key }: CertifiedKey): void => {
    writeFileSync(join(folder, 'server.pem'), cert);
    writeFileSync(join(folder, 'server.key'), key);
  };
  const read = (more: string): Parameters<Gateway['reload']>[0] => {
    const path = join(folder, 'mulligan.yaml');
    writeFileSync(
      path,
      `listeners: [{ address: 127.0.0.1:0, tls: { cert: server.pem, key: server.key }${more} }]
upstreams: { main: { endpoints: [${origin.address}] } }
routes: [{ upstream: main }]
accessLog: { path: off }
`,
    );
    const result = readConfigFile(path);
    if (!result.ok) throw new Error(result.faults[0]?.message);
    return result.config;
  };
  write(certificates.server);
  const gateway = createGateway(read(''));
  await gateway.start();
  t.after(() => gateway.stop());
  const port = Number(gateway.addresses[0]!.split(':')[1]);
  return { gateway, port, write, reload: async (more = '') => gateway.reload(read(more)) };
}

async function shownBy(t: TestContext, port: number): Promise<string> {
  const socket: TLSSocket = connect({ host: '127.0.0.1', port, ca: certificates.ca, servername: 'localhost' });
  t.after(() => void socket.destroy());
  await new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
  });
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

test('a reload shows what is in the files now, and closes no connection', async (t) => {
  const { port, write, reload, gateway } = await stage(t);
  const client = connectHttp2(port, { t, ca: certificates.ca });
  equal((await ask(client)).text, 'ok');
  const before = await shownBy(t, port);
  write(certificates.renewed);
  await reload();
  notEqual(await shownBy(t, port), before);
  equal(gateway.addresses[0], `127.0.0.1:${port}`);
  equal((await ask(client)).text, 'ok');
  equal(client.closed, false);
  client.destroy();
});

test('limits and certificates change together, on the same address', async (t) => {
  const { port, write, reload, gateway } = await stage(t);
  const before = await shownBy(t, port);
  write(certificates.renewed);
  await reload(', limits: { maxStreams: 7 }');
  notEqual(await shownBy(t, port), before);
  equal(gateway.addresses[0], `127.0.0.1:${port}`);
});

test('a key that is not for the certificate is refused, and the old pair is shown on', async (t) => {
  const { port, write, reload } = await stage(t);
  const before = await shownBy(t, port);
  write({ cert: certificates.renewed.cert, key: certificates.server.key });
  await rejects(reload(), /does not belong to the certificate/);
  equal(await shownBy(t, port), before);
});

test('a reload that fails elsewhere shows the old certificate again', async (t) => {
  const { port, write, reload } = await stage(t);
  const before = await shownBy(t, port);
  write(certificates.renewed);
  await rejects(reload(` }, { address: 127.0.0.1:${port}`), (error: Error) => {
    match(error.message, /cannot listen/);
    return true;
  });
  equal(await shownBy(t, port), before);
});
