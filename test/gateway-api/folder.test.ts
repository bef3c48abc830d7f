import { deepEqual, equal, match } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { after, test } from 'node:test';
import { runCli, startCli } from '../cli/running-cli.ts';
import type { RunningCli } from '../cli/running-cli.ts';
import { requestRaw } from '../support/raw-client.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { manifest, resource, route, service } from './support.ts';

const root = mkdtempSync(join(tmpdir(), 'mulligan-gateway-api-'));
after(() => rmSync(root, { recursive: true }));

/** A folder of its own for each test: a watch must not see the other tests' files. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(root, 'f-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

function edge(port: number): object {
  const listeners = [{ name: 'http', port, protocol: 'HTTP' }];
  return resource('Gateway', 'edge', {
    spec: { gatewayClassName: 'x', addresses: [{ value: '127.0.0.1' }], listeners },
  });
}

/**
 * A Gateway names its port. Below the range from which the system serves everybody who does not, so that no neighbouring
 * test gets it between this look and the start of the gateway.
 */
async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error('no port from 20000 to 32000 is free');
}

/** A gateway process of a folder with one Gateway and what else is given, on a free port. */
async function startFolder(
  t: TestContext,
  files: Readonly<Record<string, string>>,
): Promise<{ readonly folder: string; readonly cli: RunningCli; readonly address: string; readonly port: number }> {
  const port = await freePort();
  const folder = folderOf({ 'gateway.yaml': manifest([edge(port)]), ...files });
  const cli = startCli(t, ['serve', '--gateway-api', folder]);
  return { folder, cli, address: await cli.address(), port };
}

test('serve --gateway-api serves what stands in the folder, on the port of its Gateway', async (t) => {
  const origin = await startOrigin({}, { t });
  const routes = manifest([route([{}]), ...service('main', [origin.address])]);
  const { cli, address, port } = await startFolder(t, { 'routes.yml': routes, 'notes.txt': 'a: [' });
  equal(address, `127.0.0.1:${port}`);
  equal((await requestRaw(address, { target: '/a' })).status, 200);
  const record = JSON.parse(await cli.line((line) => line.includes('"path":"/a"'))) as Record<string, unknown>;
  deepEqual([record['status'], record['route'], record['upstream']], [200, 'default/main/0', 'default/main:80']);
  cli.child.kill('SIGTERM');
  equal(await cli.exit(), 0);
});

test('a change in the folder is taken over, a new file too; what is in trouble is told and takes nothing else down', async (t) => {
  const origins = await Promise.all([startOrigin({}, { t }), startOrigin({}, { t })]);
  const { folder, cli, address } = await startFolder(t, {
    'route.yaml': manifest([route([{}])]),
    'main.yaml': manifest(service('main', [origins[0].address])),
  });
  equal((await requestRaw(address)).status, 200);
  writeFileSync(join(folder, 'main.yaml'), manifest(service('main', [origins[1].address])));
  await cli.said(/reloaded: 1 listener, 1 upstream, 2 routes/);
  equal((await requestRaw(address)).status, 200);
  deepEqual(
    origins.map((origin) => origin.requestCount()),
    [1, 1],
  );
  writeFileSync(
    join(folder, 'more.json'),
    JSON.stringify(
      route([{ backendRefs: [{ name: 'nope', port: 80 }], matches: [{ path: { value: '/b' } }] }], {}, 'more'),
    ),
  );
  await cli.said(/reloaded: 1 listener, 1 upstream, 3 routes/);
  match(
    cli.stderr,
    /error \S+more\.json:1:\d+ HTTPRoute default\/more ResolvedRefs=False BackendNotFound: spec\.rules\[0\]\.backendRefs\[0\]: there is no Service default\/nope/,
  );
  equal((await requestRaw(address, { target: '/b' })).status, 500);
  equal((await requestRaw(address)).status, 200);
});

test('a file that breaks changes nothing, and is taken over when it is mended', async (t) => {
  const origin = await startOrigin({}, { t });
  const { folder, cli, address } = await startFolder(t, {
    'main.yaml': manifest([route([{}]), ...service('main', [origin.address])]),
  });
  writeFileSync(join(folder, 'main.yaml'), 'kind: [');
  await cli.said(/newly broken: \S+main\.yaml/);
  await cli.said(/was not taken over: the running configuration stays/);
  equal((await requestRaw(address)).status, 200);
  writeFileSync(
    join(folder, 'main.yaml'),
    manifest([route([{ retry: { attempts: -1 } }]), ...service('main', [origin.address])]),
  );
  await cli.said(/newly broken: HTTPRoute default\/main/);
  equal((await requestRaw(address)).status, 200);
  writeFileSync(
    join(folder, 'main.yaml'),
    manifest([route([{ retry: { attempts: 2 } }]), ...service('main', [origin.address])]),
  );
  await cli.said(/reloaded/);
  equal((await requestRaw(address)).status, 200);
});

test('a folder whose last Gateway goes leaves the running one in place; SIGHUP looks again', async (t) => {
  const origin = await startOrigin({}, { t });
  const { folder, cli, address } = await startFolder(t, {
    'main.yaml': manifest([route([{}]), ...service('main', [origin.address])]),
  });
  rmSync(join(folder, 'gateway.yaml'));
  await cli.said(/was not taken over: the running configuration stays/);
  const before = cli.stderr.length;
  cli.child.kill('SIGHUP');
  await cli.said(new RegExp(`^[^]{${before}}[^]*was not taken over`));
  equal((await requestRaw(address)).status, 200);
});

test('serve starts nothing from a folder without a Gateway that can be served', async (t) => {
  const rows: readonly (readonly [string, RegExp])[] = [
    [folderOf({}), /holds no \.yaml, \.yml or \.json file/],
    [folderOf({ 'a.yaml': manifest([route([{}])]) }), /Accepted=False NoMatchingParent/],
    [join(root, 'nope'), /there is no such file/],
  ];
  for (const [folder, told] of rows) {
    const { code, stderr, stdout } = await runCli(t, 'serve', '--gateway-api', folder);
    deepEqual([code, stdout], [2, '']);
    match(stderr, told);
    match(stderr, /nothing was started/);
  }
});

test('check --gateway-api is fine only when everything in the folder is in effect', async (t) => {
  const good = [edge(8080), route([{}]), ...service('main', ['127.0.0.1:9001'])];
  const fine = await runCli(t, 'check', '--gateway-api', folderOf({ 'a.yaml': manifest(good) }));
  deepEqual([fine.code, fine.stdout.replace(/^\S+/, '')], [0, ' fine: 1 listener, 1 upstream, 2 routes\n']);
  const partly = await runCli(
    t,
    'check',
    '--gateway-api',
    folderOf({ 'a.yaml': manifest([...good, route([{}], { parentRefs: [{ name: 'x' }] }, 'more')]) }),
  );
  equal(partly.code, 2);
  match(
    partly.stdout,
    /a\.yaml:\d+:\d+ HTTPRoute default\/more parent x Accepted=False NoMatchingParent: spec\.parentRefs\[0\]: .*\n\S+ not all of it is in effect: 1 listener/,
  );
  const none = await runCli(t, 'check', '--gateway-api', folderOf({ 'a.yaml': '' }));
  deepEqual([none.code, none.stdout.replace(/^\S+/, '')], [2, ' no Gateway in it can be served\n']);
});

test('check --gateway-api --json prints every condition, the good ones too', async (t) => {
  const folder = folderOf({ 'a.yaml': manifest([edge(8080)]) });
  mkdirSync(join(folder, 'b.yaml'));
  const { code, stdout } = await runCli(t, 'check', '--gateway-api', folder, '--json');
  equal(code, 2);
  const { ok, usable, conditions, faults } = JSON.parse(stdout) as Record<string, unknown> & {
    conditions: object[];
    faults: { file: string }[];
  };
  deepEqual([ok, usable, faults.map(({ file }) => file)], [false, true, [join(folder, 'b.yaml')]]);
  deepEqual(conditions.at(-1), {
    kind: 'Gateway',
    namespace: 'default',
    name: 'edge',
    section: '',
    type: 'Programmed',
    status: 'True',
    reason: 'Programmed',
    message: '',
    path: '',
    file: join(folder, 'a.yaml'),
    line: 1,
    column: 1,
  });
});

test('the admin interface and the access log are asked for on the command line', async (t) => {
  const origin = await startOrigin({}, { t });
  const folder = folderOf({
    'all.yaml': manifest([edge(await freePort()), route([{}]), ...service('main', [origin.address])]),
  });
  const log = join(root, 'access.log');
  const cli = startCli(t, ['serve', '--gateway-api', folder, '--admin', '127.0.0.1:0', '--access-log', log]);
  const address = await cli.address();
  const { address: admin } = JSON.parse(await cli.line((line) => line.includes('"admin"'))) as { address: string };
  equal((await requestRaw(address)).status, 200);
  match((await requestRaw(admin, { target: '/metrics', headers: { Host: admin } })).text, /default\/main\/0/);
  cli.child.kill('SIGTERM');
  equal(await cli.exit(), 0);
  match(readFileSync(log, 'utf8'), /"route":"default\/main\/0"/);
  const open = await runCli(t, 'serve', '--gateway-api', folder, '--admin', '0.0.0.0:9901');
  equal(open.code, 2);
  const strange = await runCli(t, 'serve', '-c', 'a.yaml', '--admin', '127.0.0.1:9901');
  deepEqual([strange.code, /belong to --gateway-api/.test(strange.stderr)], [2, true]);
});

test('a file and a folder at once are a wrong use', async (t) => {
  const { code, stderr } = await runCli(t, 'check', '-c', 'a.yaml', '--gateway-api', 'b');
  equal(code, 2);
  match(stderr, /exclude each other/);
});
