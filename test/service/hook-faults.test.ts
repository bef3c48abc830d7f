import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import http from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { outboundTracker } from '../../src/engine/outbound-tracking.ts';
import { withOwnership } from '../../src/service/adapters/node-http.ts';
import { installService, type InstalledService } from '../../src/service/install.ts';

/** Fails on purpose: nearly everything that a hook does asks for the time. */
let broken: boolean;
let installed: InstalledService;
let lines: string[];
const closers: (() => void)[] = [];

beforeEach(() => {
  broken = false;
  lines = [];
  const nowMs = (): number => {
    if (broken) throw new Error('no time today');
    return 0;
  };
  installed = installService({ trust: ['127.0.0.0/8'] }, { host: { nowMs }, tell: (line) => lines.push(line) });
});

afterEach(() => {
  for (const close of closers.splice(0)) close();
  broken = false;
  installed.uninstall();
});

async function listen(server: http.Server): Promise<string> {
  closers.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

const late = { 'request-timeout': '5000' };

function faults(): Readonly<Record<string, number>> {
  // Reading the counters asks for the time, too.
  broken = false;
  return installed.metrics().hookFaults;
}

/** That each fault was told of, and each only once, however often it came. */
function assertToldOnce(): void {
  broken = false;
  const names = Object.keys(faults());
  assert.equal(lines.length, names.length);
  for (const name of names)
    assert.ok(
      lines.some((line) => line.includes(`the hook ${name} failed`)),
      name,
    );
}

const CHANNELS = [
  'http.server.request.start',
  'http2.server.stream.created',
  'http.client.request.created',
  'http.client.response.finish',
  'http.client.request.error',
  'undici:request:create',
  'undici:client:sendHeaders',
  'undici:request:headers',
  'undici:request:error',
  'undici:client:connectError',
];

for (const name of CHANNELS) {
  test(`a message of ${name} that is nothing like what it should be harms nobody who sends it`, () => {
    for (const message of [undefined, null, 7, {}]) channel(name).publish(message);
    const count = faults()[name];
    assert.ok(count !== undefined && count >= 2, `it failed ${String(count)} times`);
    assertToldOnce();
  });
}

test('an application whose every hook fails from a request on answers as if nothing were there', async () => {
  const origin = await listen(
    http.createServer((request, response) => {
      if (request.url === '/reset') request.socket.destroy();
      else if (request.url === '/cut') {
        response.writeHead(200, { 'content-length': '9' });
        response.write('x', () => request.socket.destroy());
      } else response.writeHead(request.url === '/ok' ? 200 : 503).end('answer');
    }),
  );
  const app = await listen(
    http.createServer((request, response) => {
      fetch(`${origin}${request.url ?? ''}`)
        .then(async (answer) => {
          const text = await answer.text();
          response.writeHead(answer.status).end(text);
        })
        .catch(() => response.writeHead(502).end('failed'));
    }),
  );
  broken = true;
  for (const round of [1, 2]) {
    for (const [path, status, text] of [
      ['/ok', 200, 'answer'],
      ['/fails', 503, 'answer'],
      ['/reset', 502, 'failed'],
      ['/cut', 502, 'failed'],
    ] as const) {
      const answer = await fetch(`${app}${path}`, { headers: late });
      assert.deepEqual([round, answer.status, await answer.text()], [round, status, text]);
    }
  }
  const { 'http.server.request.start': started, 'undici:request:create': created } = faults();
  assert.ok(started! >= 8 && created! >= 8);
  assertToldOnce();
});

test('hooks that begin to fail in the middle of a call leave its answer whole', async () => {
  const origin = await listen(
    http.createServer((request, response) => {
      broken = true;
      if (request.url === '/cut') {
        response.writeHead(200, { 'content-length': '9' });
        response.write('x', () => request.socket.destroy());
      } else if (request.url === '/reset') request.socket.destroy();
      else response.writeHead(503).end('answer');
    }),
  );
  const through = {
    fetch: async (path: string): Promise<unknown> => (await fetch(`${origin}${path}`)).text(),
    http: (path: string): Promise<unknown> =>
      new Promise((resolve, reject) => {
        http
          .get(`${origin}${path}`, (response) => {
            // The channel's own message failed; what follows is about the body.
            broken = path !== '/cut';
            response.on('end', resolve).on('error', reject).resume();
            response.on('close', () => (broken = true));
          })
          .on('error', reject);
      }),
  };
  for (const call of Object.values(through)) {
    broken = false;
    await call('/fails');
    broken = false;
    await assert.rejects(call('/reset'));
    broken = false;
    await assert.rejects(call('/cut'));
  }
  const names = Object.keys(faults());
  for (const name of [
    'undici:request:headers',
    'undici:request:error',
    'http.client.response.finish',
    'http.client.request.error',
    'response.writeHead',
  ]) {
    assert.ok(names.includes(name), `${name} is among ${names.join(', ')}`);
  }
  assertToldOnce();
});

test('an adapter and a head that fail leave the answer of the application', async () => {
  installed.uninstall();
  const nowMs = (): number => {
    if (broken) throw new Error('no time today');
    return 0;
  };
  installed = installService(
    { trust: ['127.0.0.0/8'] },
    { servers: false, host: { nowMs }, tell: (line) => lines.push(line) },
  );
  const app = await listen(
    http.createServer(
      withOwnership((request, response) => {
        broken = request.url === '/head';
        response.writeHead(503, { 'x-mine': '1' }).end('mine');
      }),
    ),
  );
  const ask = (path: string): Promise<[number | undefined, unknown]> =>
    new Promise((resolve, reject) => {
      // Its own hooks may fail, too: they must not keep the answer from it.
      http
        .get(`${app}${path}`, { headers: late }, (response) => {
          resolve([response.statusCode, response.headers['x-mine']]);
          response.resume();
        })
        .on('error', reject);
    });
  assert.deepEqual(await ask('/head'), [503, '1']);
  broken = true;
  assert.deepEqual(await ask('/adapter'), [503, '1']);
  broken = false;
  assert.ok(faults()['response.writeHead']! >= 1 && faults()['adapter']! >= 1);
});

test('a stream of HTTP/2 is asked for and answered although every hook of it fails', async () => {
  const server = http2.createServer();
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    if (headers[':path'] === '/trailers') {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '13' }));
      stream.end('x');
    } else if (headers[':path'] === '/reset') stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
    else stream.respond({ ':status': 503 }, { endStream: true });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const session = http2.connect(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  closers.push(
    () => session.destroy(),
    () => server.close(),
  );
  const ask = (path: string, breakAfter: boolean): Promise<string> =>
    new Promise((resolve) => {
      broken = !breakAfter;
      const stream = session.request({ ':path': path });
      broken = true;
      let said = '';
      stream.on('response', (headers) => (said += String(headers[':status'])));
      stream.on('trailers', (trailers) => (said += ` ${String(trailers['grpc-status'])}`));
      stream.on('error', () => (said += 'reset')).on('close', () => resolve(said));
      stream.resume().end();
    });
  for (const breakAfter of [false, true, true]) {
    assert.equal(await ask('/fails', breakAfter), '503');
    assert.equal(await ask('/trailers', breakAfter), '200 13');
    assert.equal(await ask('/reset', breakAfter), 'reset');
  }
  for (const name of [
    'http2.request',
    'http2.respond',
    'http2.sendTrailers',
    'http2.response',
    'http2.trailers',
    'http2.close',
  ]) {
    assert.ok(Object.hasOwn(faults(), name), `${name} is among ${Object.keys(faults()).join(', ')}`);
  }
  assertToldOnce();
});

test('a client of ours goes on alone where a call cannot be begun', () => {
  broken = true;
  const call = outboundTracker()!.begin({ method: 'GET', url: 'http://stock/items' });
  assert.equal(call.deadlineAtMs, Infinity);
  assert.equal(call.readClaim(['Error-Claim', 'relayed'], '127.0.0.1'), undefined);
  assert.equal(
    call.attempt(() => 7),
    7,
  );
  call.note({ claim: undefined, retried: true });
  call.caused(new Error('x'));
  call.end({ atMs: 0, outcomeClass: 'ok', claim: undefined, handled: false, effect: undefined });
  assert.deepEqual(faults(), { 'tracker.begin': 1 });
  assertToldOnce();
});
