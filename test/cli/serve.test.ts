import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { createTestCertificates } from '../support/certificates.ts';
import type { CertifiedKey } from '../support/certificates.ts';
import { connectRaw, requestRaw } from '../support/raw-client.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { runCli, startCli } from './running-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'mulligan-serve-'));
after(() => rmSync(folder, { recursive: true }));
let fileCount = 0;

function fileOf(origin: string, more: string = ''): string {
  return `listeners: [{ address: 127.0.0.1:0 }]
upstreams: { main: { endpoints: [${origin}] } }
routes: [{ name: main, upstream: main }]
${more}`;
}

function write(text: string): string {
  fileCount += 1;
  // A directory each: a watch must not see the other tests' files.
  const path = join(mkdtempSync(join(folder, `${fileCount}-`)), 'mulligan.yaml');
  writeFileSync(path, text);
  return path;
}

test('serve prints its address before any record, serves, and ends well on SIGTERM', async (t) => {
  const origin = await startOrigin({}, { t });
  const cli = startCli(t, ['serve', '-c', write(fileOf(origin.address))]);
  const address = await cli.address();
  equal((await requestRaw(address, { target: '/a' })).status, 200);
  const record = JSON.parse(await cli.line((line) => line.includes('"path":"/a"'))) as Record<string, unknown>;
  deepEqual([record['status'], record['route'], record['upstream']], [200, 'main', 'main']);
  deepEqual(JSON.parse(cli.stdout.split('\n')[0]!), { event: 'listening', kind: 'listener', address });
  cli.child.kill('SIGTERM');
  equal(await cli.exit(), 0);
});

test('serve prints where the admin interface listens, and counts a file that it cannot use', async (t) => {
  const path = write(fileOf('127.0.0.1:9', 'admin: { address: 127.0.0.1:0 }\n'));
  const cli = startCli(t, ['serve', '-c', path]);
  const line = JSON.parse(await cli.line((text) => text.includes('"admin"'))) as Record<string, string>;
  equal(line['event'], 'listening');
  const ask = async (target: string): Promise<string> =>
    (await requestRaw(line['address']!, { target, headers: { Host: 'localhost' } })).text;
  equal(await ask('/readyz'), '{\n  "status": "ready"\n}\n');
  writeFileSync(path, 'listeners: red\n');
  cli.child.kill('SIGHUP');
  await cli.said(/was not taken over/);
  match(await ask('/metrics'), /^mulligan_config_reloads_total\{result="refused"\} [1-9]/m);
  cli.child.kill('SIGTERM');
  equal(await cli.exit(), 0);
});

test('SIGTERM lets the request under way end, and takes no other', async (t) => {
  const origin = await startOrigin({ do: 'respond', gate: 'answer' }, { t });
  const cli = startCli(t, ['serve', '-c', write(fileOf(origin.address))]);
  const client = await connectRaw(await cli.address(), { t });
  const answer = client.request({});
  await origin.waitForRequest();
  cli.child.kill('SIGTERM');
  await cli.said(/SIGTERM: no new requests; 1 request in flight may take up to 30s to end/);
  origin.open('answer');
  equal((await answer).status, 200);
  client.destroy();
  equal(await cli.exit(), 0);
});

test('a second SIGTERM ends it now, and what is under way is told so', async (t) => {
  const origin = await startOrigin({ do: 'hang' }, { t });
  const cli = startCli(t, ['serve', '-c', write(fileOf(origin.address))]);
  const client = await connectRaw(await cli.address(), { t });
  const answer = client.request({});
  await origin.waitForRequest();
  cli.child.kill('SIGTERM');
  await cli.said(/no new requests/);
  cli.child.kill('SIGTERM');
  equal(await cli.exit(), 1);
  equal((await answer).status, 503);
  match(cli.stderr, /SIGTERM again: ending now, 1 request in flight cut/);
});

test('a change of the file is taken over', async (t) => {
  const origins = await Promise.all([startOrigin({}, { t }), startOrigin({}, { t })]);
  const path = write(fileOf(origins[0].address));
  const cli = startCli(t, ['serve', '-c', path]);
  const address = await cli.address();
  await requestRaw(address);
  // As editors do it: another file is moved over the old one.
  writeFileSync(`${path}.new`, fileOf(origins[1].address));
  renameSync(`${path}.new`, path);
  await cli.said(/reloaded: 1 listener, 1 upstream, 1 route/);
  await requestRaw(address);
  deepEqual(
    origins.map((origin) => origin.requestCount()),
    [1, 1],
  );
});

test('SIGHUP reads the file again; a broken one changes nothing and says why', async (t) => {
  const origin = await startOrigin({}, { t });
  const path = write(fileOf(origin.address));
  const cli = startCli(t, ['serve', '-c', path]);
  const address = await cli.address();
  cli.child.kill('SIGHUP');
  await cli.said(/says what is running already/);
  writeFileSync(path, fileOf(origin.address, 'colour: red\n'));
  cli.child.kill('SIGHUP');
  await cli.said(/mulligan\.yaml:4:1 colour: is not a known setting/);
  await cli.said(/was not taken over: the running configuration stays/);
  equal((await requestRaw(address)).status, 200);
});

test('a new listener is announced', async (t) => {
  const path = write(fileOf('127.0.0.1:9'));
  const cli = startCli(t, ['serve', '-c', path]);
  await cli.address();
  writeFileSync(
    path,
    fileOf('127.0.0.1:9').replace('[{ address: 127.0.0.1:0 }]', '[{ address: 127.0.0.1:0 }, { address: 127.0.0.1:0 }]'),
  );
  cli.child.kill('SIGHUP');
  ok((await cli.address(2)) !== (await cli.address(1)));
});

test('an address in use is told by its name, and ends with 1', async (t) => {
  const other = createServer();
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  const { code, stderr } = await runCli(t, 'proxy', '--listen', `127.0.0.1:${port}`, '--to', '127.0.0.1:9');
  equal(code, 1);
  match(
    stderr,
    new RegExp(
      `cannot listen on 127\\.0\\.0\\.1:${port}: the address is in use \\(EADDRINUSE\\); stop the other process`,
    ),
  );
});

test('a closed standard output loses records, not requests', async (t) => {
  const origin = await startOrigin({}, { t });
  const cli = startCli(t, ['serve', '-c', write(fileOf(origin.address))]);
  const address = await cli.address();
  cli.child.stdout.destroy();
  for (let count = 0; count < 5; count += 1) equal((await requestRaw(address)).status, 200);
  await cli.said(/access log -: \d+ lines? lost so far/);
  cli.child.kill('SIGTERM');
  equal(await cli.exit(), 0);
});

test('standard output that nobody reads does not slow requests down', async (t) => {
  const origin = await startOrigin({}, { t });
  const cli = startCli(t, ['serve', '-c', write(fileOf(origin.address))]);
  const address = await cli.address();
  cli.child.stdout.pause();
  const client = await connectRaw(address, { t });
  // Far more than a pipe holds.
  const target = `/${'x'.repeat(1000)}`;
  for (let count = 0; count < 300; count += 1) equal((await client.request({ target })).status, 200);
  client.destroy();
  cli.child.kill('SIGTERM');
  cli.child.stdout.resume();
  equal(await cli.exit(), 0);
});

test('standard output in a file gets whole lines', async (t) => {
  const origin = await startOrigin({}, { t });
  const path = join(folder, 'stdout');
  const fd = openSync(path, 'w');
  const config = write(fileOf(origin.address));
  const main = new URL('../../src/cli/main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, 'serve', '-c', config], { stdio: ['ignore', fd, 'pipe'] });
  closeSync(fd);
  t.after(() => child.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const lines = (): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);
  while (lines().length === 0 && child.exitCode === null) await new Promise(setImmediate);
  const { address } = JSON.parse(lines()[0]!) as { address: string };
  for (let count = 0; count < 3; count += 1) await requestRaw(address);
  child.kill('SIGTERM');
  equal(await ended, 0);
  equal(lines().map((line) => JSON.parse(line) as object).length, 4);
});

test('an exception that nobody expected ends it with 1, after the requests under way', async (t) => {
  const origin = await startOrigin({ do: 'respond', gate: 'answer' }, { t });
  const thrower = "data:text/javascript,process.on('SIGUSR2',()=>{throw new Error('boom')})";
  const cli = startCli(t, ['serve', '-c', write(fileOf(origin.address))], ['--import', thrower]);
  const client = await connectRaw(await cli.address(), { t });
  const answer = client.request({});
  await origin.waitForRequest();
  cli.child.kill('SIGUSR2');
  await cli.said(/unexpected: Error: boom/);
  origin.open('answer');
  equal((await answer).status, 200);
  client.destroy();
  equal(await cli.exit(), 1);
});

test('proxy fails over between origins without a file', async (t) => {
  const origin = await startOrigin({}, { t });
  const gone = await startOrigin({}, { t });
  await gone.stopListening();
  await gone.close();
  const cli = startCli(t, [
    'proxy',
    '--listen',
    '127.0.0.1:0',
    '--to',
    `http://${gone.address}`,
    '--to',
    `http://${origin.address}/`,
    '--retries',
    '2',
  ]);
  const address = await cli.address();
  for (let count = 0; count < 10; count += 1)
    equal((await requestRaw(address, { method: 'POST', body: 'x' })).status, 200);
  equal(origin.requestCount(), 10);
  cli.child.kill('SIGINT');
  equal(await cli.exit(), 0);
});

test('proxy --retries 0 sends once', async (t) => {
  const origin = await startOrigin({ do: 'respond', status: 503 }, { t });
  const cli = startCli(t, [
    'proxy',
    '--listen',
    '127.0.0.1:0',
    '--to',
    origin.address,
    '--retries',
    '0',
    '--codes',
    '503',
  ]);
  equal((await requestRaw(await cli.address())).status, 503);
  equal(origin.requestCount(), 1);
});

test('proxy --codes retries the statuses it names', async (t) => {
  const origin = await startOrigin({ do: 'respond', status: 503 }, { t });
  const cli = startCli(t, [
    'proxy',
    '--listen',
    '127.0.0.1:0',
    '--to',
    origin.address,
    '--retries',
    '2',
    '--codes',
    '503',
  ]);
  equal((await requestRaw(await cli.address())).status, 503);
  equal(origin.requestCount(), 3);
});

test('a certificate that is renewed is shown without a word to the process', async (t) => {
  const { server, renewed, ca } = createTestCertificates();
  const path = write(`listeners: [{ address: 127.0.0.1:0, tls: { cert: server.pem, key: server.key } }]
upstreams: { main: { endpoints: [127.0.0.1:9] } }
routes: [{ name: main, upstream: main }]
`);
  const put = ({ cert, key }: CertifiedKey): void => {
    writeFileSync(join(dirname(path), 'server.pem'), cert);
    writeFileSync(join(dirname(path), 'server.key'), key);
  };
  put(server);
  const cli = startCli(t, ['serve', '-c', path]);
  const port = Number((await cli.address()).split(':')[1]);
  const shown = async (): Promise<string> => {
    const socket = connectTls({ host: '127.0.0.1', port, ca, servername: 'localhost' });
    await once(socket, 'secureConnect');
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  };
  const before = await shown();
  put(renewed);
  await cli.said(/reloaded/);
  notEqual(await shown(), before);
  cli.child.kill('SIGTERM');
  equal(await cli.exit(), 0);
});
