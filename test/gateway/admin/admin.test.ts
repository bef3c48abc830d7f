import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { configOf } from '../../config/support.ts';
import { failOnLeaks } from '../../support/leak-check.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { connectRaw, requestRaw } from '../../support/raw-client.ts';
import { startOrigin } from '../../support/scripted-origin.ts';
import { startAdminRig } from './rig.ts';

failOnLeaks();

interface UpstreamsAnswer {
  readonly upstreams: readonly {
    readonly name: string;
    readonly retryBudget: { readonly balance: number | string };
    readonly endpoints: readonly {
      readonly address: string;
      readonly state: string;
      readonly why?: string;
      readonly until?: string;
    }[];
  }[];
}

test('every page answers with its type and may not be kept, framed, guessed at or read by other sites', async (t) => {
  const rig = await startAdminRig(t, ['127.0.0.1:9']);
  const types: Readonly<Record<string, string>> = {
    '/': 'text/html; charset=utf-8',
    '/healthz': 'application/json',
    '/readyz': 'application/json',
    '/metrics': 'text/plain; version=0.0.4; charset=utf-8',
    '/config': 'application/json',
    '/upstreams': 'application/json',
    '/ownership': 'application/json',
    '/upstreams/main': 'application/json',
    '/nothing': 'application/problem+json',
  };
  for (const [path, type] of Object.entries(types)) {
    const answer = await rig.ask(path);
    equal(answer.status, path === '/nothing' ? 404 : 200, path);
    equal(answer.value('content-type'), type, path);
    equal(answer.value('cache-control'), 'no-store');
    equal(answer.value('x-content-type-options'), 'nosniff');
    equal(answer.value('x-frame-options'), 'DENY');
    match(answer.value('content-security-policy')!, /default-src 'none'/);
    equal(answer.value('access-control-allow-origin'), undefined);
    const head = await rig.ask(path, 'HEAD');
    deepEqual([head.status, head.text], [answer.status, ''], path);
  }
  for (const [, path] of (await rig.ask('/')).text.matchAll(/href="([^"]+)"/g))
    ok(path === '/events' || Object.hasOwn(types, path!), path);
});

test('only a Host of its own is answered: a name that was rebound to this address is not', async (t) => {
  const rig = await startAdminRig(t, ['127.0.0.1:9'], { admin: ', hosts: [admin.internal]' });
  const port = rig.admin.split(':')[1]!;
  const statusOf = async (host: string): Promise<number> => (await rig.ask('/readyz', 'GET', { Host: host })).status;
  for (const own of ['localhost', 'LOCALHOST:1', '127.0.0.1', '127.8.8.8', '[::1]', `[::1]:${port}`, 'admin.internal.'])
    equal(await statusOf(own), 200, own);
  for (const foreign of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1.evil.example',
    'localhost.evil',
    '10.0.0.1',
    '',
  ])
    equal(await statusOf(foreign), 403, foreign);
  const twice = await connectRaw(rig.admin, { t });
  await twice.send('GET /readyz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n', ['GET']);
  ok([400, 403].includes((await twice.response()).status));
  const none = await requestRaw(rig.admin, { version: 'HTTP/1.0', target: '/readyz' });
  equal(none.status, 403);
});

test('a page of another origin gets nothing, whatever it asks for', async (t) => {
  const rig = await startAdminRig(t, ['127.0.0.1:9'], { admin: ', write: true' });
  const statusOf = async (headers: Readonly<Record<string, string>>, method = 'GET'): Promise<number> =>
    (await rig.ask('/upstreams', method, headers)).status;
  equal(await statusOf({ Origin: `http://${rig.admin}` }), 200);
  equal(await statusOf({ Origin: 'http://evil.example' }), 403);
  equal(await statusOf({ Origin: 'null' }), 403);
  equal(await statusOf({ Origin: `https://${rig.admin}` }), 403);
  equal(await statusOf({ Origin: 'http://127.0.0.1:1' }), 403);
  equal(await statusOf({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }), 403);
  equal(await statusOf({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }), 200);
  equal(await statusOf({ Origin: 'http://evil.example' }, 'OPTIONS'), 403);
});

test('methods, bodies and paths that do not apply are told as problems', async (t) => {
  const rig = await startAdminRig(t, ['127.0.0.1:9'], { admin: ', write: true' });
  const drain = '/upstreams/main/endpoints/127.0.0.1:9/drain';
  for (const [method, path, status, allow] of [
    ['POST', '/metrics', 405, 'GET, HEAD'],
    ['GET', drain, 405, 'PUT, DELETE'],
    ['POST', drain, 405, 'PUT, DELETE'],
    ['OPTIONS', '/', 405, 'GET, HEAD'],
    ['GET', '/upstreams/none', 404, undefined],
    ['PUT', '/upstreams/none/endpoints/127.0.0.1:9/drain', 404, undefined],
    ['PUT', '/upstreams/main/endpoints/127.0.0.1:10/drain', 404, undefined],
    ['PUT', '/upstreams/main/endpoints/127.0.0.1:9/drain/more', 404, undefined],
    ['GET', '/upstreams/%zz', 404, undefined],
    ['GET', '/constructor', 404, undefined],
    ['GET', 'http://127.0.0.1/metrics', 404, undefined],
    ['GET', '/events?colour=red', 400, undefined],
    ['GET', '/events?type=lunch', 400, undefined],
  ] as const) {
    const answer = await rig.ask(path, method);
    equal(answer.status, status, `${method} ${path}`);
    equal(answer.value('allow'), allow);
    equal(answer.value('content-type'), 'application/problem+json');
    equal((JSON.parse(answer.text) as { status: number }).status, status);
  }
  const body = await requestRaw(rig.admin, { method: 'PUT', target: drain, headers: { Host: rig.admin }, body: 'x' });
  equal(body.status, 413);
});

test('endpoints, their state and the reason for it are shown as they are', async (t) => {
  const dead = await startOrigin({}, { t });
  await dead.stopListening();
  const origin = await startOrigin({}, { t });
  const clock = createManualClock(0, Date.UTC(2026, 0, 1));
  const rig = await startAdminRig(t, [dead.address, origin.address], {
    clock,
    upstream: ', retryBudget: { kind: none }',
  });
  await requestRaw(rig.address);
  const { upstreams } = JSON.parse((await rig.ask('/upstreams')).text) as UpstreamsAnswer;
  const [main] = upstreams;
  deepEqual([main?.name, main?.retryBudget.balance], ['main', 'unlimited']);
  deepEqual(
    main?.endpoints.map(({ address, state, why, until }) => [address, state, why, until]),
    [
      [dead.address, 'paused', 'it could not be connected to', '2026-01-01T00:00:00.100Z'],
      [origin.address, 'available', undefined, undefined],
    ],
  );
});

test('a drained endpoint gets no attempt, ends what it has, and comes back when it is put back', async (t) => {
  const first = await startOrigin(
    { rules: [{ when: { target: '/slow' }, behave: { do: 'respond', gate: 'slow' } }] },
    { t },
  );
  const second = await startOrigin({}, { t });
  const rig = await startAdminRig(t, [first.address, second.address], { admin: ', write: true' });
  const path = `/upstreams/main/endpoints/${encodeURIComponent(first.address)}/drain`;
  const slow = await connectRaw(rig.address, { t });
  const answer = slow.request({ target: '/slow' });
  await first.waitForRequest();
  const drained = await rig.ask(path, 'PUT');
  equal(drained.status, 200);
  deepEqual(
    (JSON.parse(drained.text) as UpstreamsAnswer['upstreams'][0]).endpoints.map(({ state }) => state),
    ['draining', 'available'],
  );
  for (let count = 0; count < 10; count += 1) equal((await requestRaw(rig.address)).status, 200);
  deepEqual([first.requestCount(), second.requestCount()], [1, 10]);
  first.open('slow');
  equal((await answer).status, 200);
  equal((await rig.ask(path, 'PUT')).status, 200, 'again changes nothing');
  equal((await rig.ask(path, 'DELETE')).status, 200);
  for (let count = 0; count < 3; count += 1) equal((await requestRaw(rig.address)).status, 200);
  deepEqual([first.requestCount(), second.requestCount()], [4, 10]);
});

test('a drained endpoint stays drained over a reload, also of an upstream whose settings change', async (t) => {
  const first = await startOrigin({}, { t });
  const second = await startOrigin({}, { t });
  const rig = await startAdminRig(t, [first.address, second.address], { admin: ', write: true' });
  await rig.ask(`/upstreams/main/endpoints/${first.address}/drain`, 'PUT');
  const changed = { admin: ', write: true', upstream: ', connect: { timeout: 7s }' };
  await rig.gateway.reload(configOf(rig.configText(changed)));
  await requestRaw(rig.address);
  deepEqual([first.requestCount(), second.requestCount()], [0, 1]);
});

test('nothing can be changed unless admin.write is set, and the answer says so', async (t) => {
  const origin = await startOrigin({}, { t });
  const rig = await startAdminRig(t, [origin.address]);
  const path = `/upstreams/main/endpoints/${origin.address}/drain`;
  for (const method of ['PUT', 'DELETE']) {
    const answer = await rig.ask(path, method);
    equal(answer.status, 403);
    match(answer.text, /admin\.write: true/);
  }
  equal((await requestRaw(rig.address)).status, 200);
  await rig.gateway.reload(configOf(rig.configText({ admin: ', write: true' })));
  equal((await rig.ask(path, 'PUT')).status, 200, 'a reload may set it');
});

test('readiness is red while draining, before the listener closes, and stays red', async (t) => {
  const origin = await startOrigin({}, { t });
  const clock = createManualClock(0, Date.now());
  const rig = await startAdminRig(t, [origin.address], { clock, more: 'shutdown: { delay: 5s }' });
  equal((await rig.ask('/readyz')).status, 200);
  const events = await rig.events('?type=drain-began');
  const drained = rig.gateway.drain();
  const red = await rig.ask('/readyz');
  deepEqual([red.status, JSON.parse(red.text)], [503, { status: 'draining' }]);
  equal((await events.event('drain-began'))['delayMs'], 5000);
  equal((await rig.ask('/healthz')).status, 200);
  const address = rig.address;
  (await connectRaw(address, { t })).destroy();
  clock.advance(5000);
  await rejects(connectRaw(address, { t }), { code: 'ECONNREFUSED' });
  clock.advance(60_000);
  await drained;
  equal((await rig.ask('/readyz')).status, 503);
  equal((await rig.metrics()).value('mulligan_ready'), 0);
});

test('a token is asked for everywhere but at the probes, and shown nowhere', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-token-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'token');
  const token = 'correct-horse-battery';
  writeFileSync(file, `${token}\n`);
  const rig = await startAdminRig(t, ['127.0.0.1:9'], { admin: `, token: { file: '${file}' }` });
  for (const path of ['/', '/metrics', '/config', '/upstreams', '/events', '/nothing']) {
    const answer = await rig.ask(path);
    equal(answer.status, 401, path);
    match(answer.value('www-authenticate')!, /^Bearer/);
  }
  equal((await rig.ask('/metrics', 'GET', { Authorization: 'Bearer wrong-horse-battery' })).status, 401);
  equal((await rig.ask('/metrics', 'GET', { Authorization: `Basic ${token}` })).status, 401);
  for (const path of ['/healthz', '/readyz']) equal((await rig.ask(path)).status, 200);
  const config = await rig.ask('/config', 'GET', { Authorization: `Bearer ${token}` });
  equal(config.status, 200);
  ok(config.text.includes(file) && !config.text.includes(token));
});

test('a token that cannot be used keeps the gateway from starting, and is not quoted', async () => {
  const file = join(tmpdir(), `mulligan-token-${process.pid}`);
  const start = (source: string): Promise<void> =>
    createGateway(
      configOf(`listeners: [{ address: 127.0.0.1:0 }]
upstreams: { main: { endpoints: [127.0.0.1:9] } }
routes: [{ upstream: main }]
accessLog: { path: /dev/null }
admin: { address: 127.0.0.1:0, token: ${source} }`),
    ).start();
  try {
    await rejects(start(`{ file: '${file}' }`), /admin\.token: the file .* cannot be read \(ENOENT\)/);
    for (const [text, why] of [
      ['', /is empty/],
      ['tiny-token', /shorter than 16/],
      ['has a space in the middle', /holds no token/],
    ] as const) {
      writeFileSync(file, text);
      await rejects(start(`{ file: '${file}' }`), (error: Error) => {
        match(error.message, why);
        return text === '' || !error.message.includes(text);
      });
    }
    await rejects(
      start('{ env: MULLIGAN_NO_SUCH_VARIABLE }'),
      /environment variable MULLIGAN_NO_SUCH_VARIABLE is empty/,
    );
  } finally {
    rmSync(file, { force: true });
  }
});

test('an admin address in use keeps the gateway from starting, and nothing stays open', async (t) => {
  const other = createServer();
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  const gateway = createGateway(
    configOf(`listeners: [{ address: 127.0.0.1:0 }]
upstreams: { main: { endpoints: [127.0.0.1:9] } }
routes: [{ upstream: main }]
accessLog: { path: /dev/null }
admin: { address: 127.0.0.1:${port} }`),
  );
  await rejects(gateway.start(), { name: 'ListenError', code: 'EADDRINUSE' });
  deepEqual(gateway.addresses, []);
});

test('a reload can take the interface away and bring it back; one that fails changes nothing', async (t) => {
  const origin = await startOrigin({}, { t });
  const rig = await startAdminRig(t, [origin.address]);
  const without = rig.configText().replace(/^admin:.*\n/m, '');
  await rejects(rig.gateway.reload(configOf(`${without}admin: { address: '${origin.address}' }`)), {
    code: 'EADDRINUSE',
  });
  equal((await rig.metrics()).value('mulligan_config_reloads_total', { result: 'refused' }), 1);
  rig.gateway.refuseReload('the file cannot be read');
  equal((await rig.metrics()).value('mulligan_config_reloads_total', { result: 'refused' }), 2);
  await rig.gateway.reload(configOf(without));
  equal(rig.gateway.adminAddress, undefined);
  await rejects(connectRaw(rig.admin, { t }), { code: 'ECONNREFUSED' });
  await rig.gateway.reload(configOf(rig.configText()));
  equal(
    (await requestRaw(rig.gateway.adminAddress!, { target: '/readyz', headers: { Host: 'localhost' } })).status,
    200,
  );
});

test('secrets that people write into the file are hidden in /config', async (t) => {
  const rig = await startAdminRig(t, ['127.0.0.1:9'], {
    route: ', match: { headers: { authorization: Bearer-secret1, x-api-key: secret2, x-tier: gold } }',
  });
  const { text } = await rig.ask('/config');
  ok(!text.includes('secret1') && !text.includes('secret2'));
  ok(text.includes('gold') && text.includes('(hidden)'));
});

test('a head that is too large or never ends, and too many connections, cost their sender alone', async (t) => {
  const rig = await startAdminRig(t, ['127.0.0.1:9']);
  const large = await rig.ask('/readyz', 'GET', { 'X-Large': 'x'.repeat(20_000) });
  equal(large.status, 431);
  const clients = await Promise.all(Array.from({ length: 80 }, () => connectRaw(rig.admin, { t })));
  await Promise.all(clients.slice(64).map((client) => client.waitForEnd()));
  ok(clients.filter((client) => client.ending === undefined).length <= 64);
});
