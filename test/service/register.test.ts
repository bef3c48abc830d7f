import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startApp, type RunningApp } from './running-app.ts';

const seen: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
let origin: Server;
let origin2: http2.Http2Server;
let sessions: Set<http2.Http2Session>;
let app: RunningApp;
let environment: Record<string, string>;

/** What a callee may claim, told by the path. */
function claimOf(path: string): string | string[] | undefined {
  if (path.startsWith('/relayed')) return 'relayed;why=timeout;hops=1';
  if (path.startsWith('/owned')) return 'owned;hops=0';
  if (path.startsWith('/garbled')) return 'relayed;;;=';
  if (path.startsWith('/huge')) return `relayed;source="${'x'.repeat(8192)}"`;
  if (path.startsWith('/twice')) return ['relayed', 'relayed'];
  return undefined;
}

before(async () => {
  origin = createServer((request, response) => {
    const path = request.url ?? '/';
    seen.push({ path, headers: request.headers });
    if (path.startsWith('/ok')) response.end('well');
    else if (path.startsWith('/once') && seen.filter((one) => one.path === path).length > 1) response.end('well now');
    else if (path.startsWith('/reset')) request.socket.destroy();
    else if (path.startsWith('/cut')) {
      response.writeHead(200, { 'content-length': '100' });
      response.write('x', () => request.socket.destroy());
    } else if (path.startsWith('/404')) response.writeHead(404).end();
    else {
      const claim = claimOf(path);
      response.writeHead(503, claim === undefined ? {} : { 'Error-Claim': claim }).end('no');
    }
  });
  origin2 = http2.createServer((request, response) => {
    seen.push({ path: request.url, headers: request.headers });
    const claim = claimOf(request.url);
    if (request.url.startsWith('/ok')) response.end('well');
    else if (request.url.startsWith('/reset')) request.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
    else response.writeHead(503, claim === undefined ? {} : { 'error-claim': claim }).end('no');
  });
  sessions = new Set();
  origin2.on('session', (session) => sessions.add(session));
  await Promise.all([
    new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve)),
    new Promise<void>((resolve) => origin2.listen(0, '127.0.0.1', resolve)),
  ]);
  const port = (server: { address(): unknown }): string => String((server.address() as AddressInfo).port);
  environment = {
    ORIGIN: `http://127.0.0.1:${port(origin)}`,
    ORIGIN2: `http://127.0.0.1:${port(origin2)}`,
    MULLIGAN_TRUST: '127.0.0.0/8',
  };
  app = await startApp(environment);
});

after(async () => {
  await app.stop();
  origin.closeAllConnections();
  origin.close();
  for (const session of sessions) session.destroy();
  origin2.close();
});

const ROWS: readonly (readonly [name: string, path: string, status: number, claim: string | null])[] = [
  ['a good answer', '/fetch/ok', 200, null],
  ['an error of its own', '/none', 502, 'owned;why=local;hops=0'],
  ['a callee that claims nothing, through fetch', '/fetch/plain', 502, 'owned;why=dependency;hops=1;kept'],
  ['a callee that claims nothing, through node:http', '/http/plain', 502, 'owned;why=dependency;hops=1;kept'],
  ['a callee that claims nothing, through node:http2', '/http2/plain', 502, 'owned;why=dependency;hops=1;kept'],
  ['a callee that owns its error', '/http/owned', 502, 'owned;why=dependency;hops=1;kept'],
  ['a callee that relayed, through fetch', '/fetch/relayed', 502, 'relayed;why=timeout;hops=2'],
  ['a callee that relayed, through node:http', '/http/relayed', 502, 'relayed;why=timeout;hops=2'],
  ['a callee that relayed, through node:http2', '/http2/relayed', 502, 'relayed;why=timeout;hops=2'],
  ["a loop of the application's own that gave up", '/loop/plain', 502, 'relayed;why=dependency;hops=1'],
  ["a loop of the application's own that was lucky", '/loop/once', 200, null],
  ['a refused connection of fetch', '/refused', 503, 'owned;why=unsent;hops=1;kept'],
  ['a refused connection of node:http', '/refused-http', 503, 'owned;why=unsent;hops=1;kept'],
  ['a reset, through fetch', '/fetch/reset', 503, 'owned;why=dependency;hops=1;kept'],
  ['a reset, through node:http', '/http/reset', 503, 'owned;why=dependency;hops=1;kept'],
  ['a reset stream', '/http2/reset', 503, 'owned;why=dependency;hops=1;kept'],
  ['a body that breaks off, through fetch', '/fetch/cut', 503, 'owned;why=stream;hops=1;kept'],
  ['a body that breaks off, through node:http', '/http/cut', 503, 'owned;why=stream;hops=1;kept'],
  ['a POST that may have run', '/post/plain', 502, 'owned;why=dependency;retry=never;hops=1;kept;effect=maybe'],
  ['the same through node:http', '/post-http/plain', 502, 'owned;why=dependency;retry=never;hops=1;kept;effect=maybe'],
  ['a garbled claim', '/fetch/garbled', 502, 'owned;why=dependency;hops=1;kept'],
  ['a claim of 8 KiB', '/http/huge', 502, 'owned;why=dependency;hops=1;kept'],
  ['a claim that is there twice', '/http/twice', 502, 'owned;why=dependency;hops=1;kept'],
  ['the same through fetch', '/fetch/twice', 502, 'owned;why=dependency;hops=1;kept'],
];

for (const [name, path, status, claim] of ROWS) {
  test(`an application that is only registered answers ${name} with ${claim ?? 'no claim'}`, async () => {
    const answer = await app.get(path);
    assert.deepEqual([answer.status, answer.claim], [status, claim]);
  });
}

for (const kind of ['fetch', 'http', 'http2']) {
  test(`a call through ${kind} passes on the time that is left, less the margin, and the retries above`, async () => {
    const path = `/ok-${kind}`;
    await app.get(`/${kind}${path}`, { 'request-timeout': '5000', 'request-attempt': 'n=2' });
    const { headers } = seen.findLast((one) => one.path === path)!;
    const leftMs = Number(headers['request-timeout']);
    assert.ok(leftMs > 0 && leftMs <= 4995, `it says ${String(headers['request-timeout'])}`);
    assert.equal(headers['request-attempt'], 'n=1, lineage=1');
  });

  test(`a call through ${kind} for a request that says nothing says nothing`, async () => {
    const path = `/ok-silent-${kind}`;
    await app.get(`/${kind}${path}`);
    const { headers } = seen.findLast((one) => one.path === path)!;
    assert.equal(headers['request-timeout'], undefined);
    assert.equal(headers['request-attempt'], undefined);
  });
}

for (const [name, value] of [
  ['grpc-timeout', '900m'],
  ['x-envoy-expected-rq-timeout-ms', '900'],
] as const) {
  test(`the time that ${name} tells of is passed on as Request-Timeout`, async () => {
    await app.get(`/fetch/ok-${name}`, { [name]: value });
    const { headers } = seen.findLast((one) => one.path === `/ok-${name}`)!;
    const leftMs = Number(headers['request-timeout']);
    assert.ok(leftMs > 0 && leftMs <= 895, `it says ${String(headers['request-timeout'])}`);
  });
}

test("an attempt of the application's own loop says which one it is", async () => {
  await app.get('/loop/counted');
  const attempts = seen.filter((one) => one.path === '/counted').map(({ headers }) => headers['request-attempt']);
  assert.deepEqual(attempts, [undefined, 'n=2, lineage=1']);
});

test('a request without time to answer it is refused before the application sees it', async () => {
  const answer = await app.get('/fetch/ok-expired', { 'request-timeout': '3' });
  assert.deepEqual([answer.status, answer.claim], [504, 'owned;why=timeout;hops=0']);
  assert.equal(
    seen.find((one) => one.path === '/ok-expired'),
    undefined,
  );
});

const HOSTILE = [
  'relayed'.repeat(1200),
  '-1',
  '1e9',
  '99999999999999999999',
  '"',
  '?0',
  '(((((((((((',
  '__proto__',
  'n=0, lineage=-5',
  'a=1,'.repeat(200),
];

test('no header of ours, however it is written, breaks a request or adds to what is sent', async () => {
  for (const value of HOSTILE) {
    for (const name of ['request-timeout', 'request-attempt', 'error-claim', 'grpc-timeout', 'idempotency-key']) {
      const sentBefore = seen.length;
      const answer = await app.get('/fetch/ok-hostile', { [name]: value });
      assert.ok(
        answer.status === 200 || answer.status === 504,
        `${name}: ${value.slice(0, 30)}: ${String(answer.status)}`,
      );
      assert.ok(seen.length - sentBefore <= 1);
      assert.equal(answer.claim === null, answer.status === 200);
    }
  }
  assert.deepEqual((await app.metrics())?.hookFaults, {});
});

test('what was claimed, called and retried is counted by edge and by operation', async () => {
  const metrics = await app.metrics();
  const { host } = new URL(environment['ORIGIN']!);
  const edge = metrics?.edges.find(
    (one) => one.callee === `GET ${host}/relayed` && one.inbound === 'GET /fetch/relayed',
  );
  assert.equal(edge?.callCount, 1);
  assert.equal(edge.claimsIn.relayed, 1);
  const loop = metrics?.edges.find((one) => one.inbound === 'GET /loop/plain');
  assert.equal(loop?.retryCount, 1);
  const operation = metrics?.operations.find((one) => one.inbound === 'GET /loop/plain');
  assert.deepEqual(operation?.claimsOut, { owned: 0, kept: 0, relayed: 1 });
  assert.equal(operation.stormRadius, 1);
  assert.equal(metrics?.edges.find((one) => one.inbound === 'GET /fetch/garbled')?.claimsIn.garbled, 1);
});

test('where nobody is trusted no claim is read or written, and a line says so', async () => {
  const alone = await startApp({ ...environment, MULLIGAN_TRUST: '' });
  try {
    assert.equal((await alone.get('/fetch/relayed')).claim, null);
    const metrics = await alone.metrics();
    assert.equal(metrics?.edges[0]?.claimsIn.untrusted, 1);
    assert.deepEqual(metrics.operations[0]?.claimsOut, { owned: 0, kept: 1, relayed: 0 });
    assert.match(alone.errors(), /nobody is trusted/);
  } finally {
    await alone.stop();
  }
});

test('with mode off an application is as if nothing had been registered', async () => {
  const off = await startApp({ ...environment, MULLIGAN_MODE: 'off' });
  try {
    assert.equal((await off.get('/http/plain')).claim, null);
    assert.equal((await off.get('/fetch/ok', { 'request-timeout': '1' })).status, 200);
    assert.deepEqual((await off.metrics())?.edges, []);
  } finally {
    await off.stop();
  }
});

test('a fault of the configuration is told with its place, and the application runs without us', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-service-'));
  writeFileSync(join(folder, 'mulligan.service.yaml'), 'mode: enforce\ntrust: [10.0.0.0/99]\nmargn: 5ms\n');
  const faulty = await startApp({ ...environment, MULLIGAN_MOD: 'off' }, folder);
  try {
    assert.equal((await faulty.get('/http/plain')).claim, null);
    assert.match(faulty.errors(), /error ownership is off/);
    assert.match(faulty.errors(), /mulligan\.service\.yaml:2:9 trust\[0\]: is not a network/);
    assert.match(
      faulty.errors(),
      /mulligan\.service\.yaml:3:1 margn: is not a known setting \(did you mean `margin`\?\)/,
    );
    assert.match(faulty.errors(), /MULLIGAN_MOD: is not a known variable \(did you mean MULLIGAN_MODE\?\)/);
  } finally {
    await faulty.stop();
    rmSync(folder, { recursive: true });
  }
});

test('what was learned is on disk when the process has ended, and the next one takes it over', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-memory-'));
  const file = join(folder, 'memory.json');
  try {
    const first = await startApp({ ...environment, MULLIGAN_MEMORY_FILE: file });
    await first.get('/fetch/plain');
    await first.stop();
    const saved = JSON.parse(readFileSync(file, 'utf8')) as { readonly edges: readonly { readonly inbound: string }[] };
    assert.deepEqual(
      saved.edges.map(({ inbound }) => inbound),
      ['GET /fetch/plain'],
    );
    writeFileSync(file, '{"half');
    const second = await startApp({ ...environment, MULLIGAN_MEMORY_FILE: file });
    assert.equal((await second.get('/none')).status, 502);
    assert.match(second.errors(), /memory\.json is no JSON/);
    await second.stop();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
