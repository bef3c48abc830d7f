import assert from 'node:assert/strict';
import http, { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { wrapFetch } from '../../src/client/wrap-fetch.ts';
import { installService, type InstalledService } from '../../src/service/install.ts';
import { startRawOrigin, type RawOrigin } from './raw-origin.ts';

/**
 * A service whose client retries once, between a hostile callee and a hostile caller. Whatever they write, it answers, its
 * callee is asked twice at most, and what leaves it is a claim of its own or none.
 */
const GARBLED: readonly string[] = [
  'relayed;;;=',
  'relayed, relayed',
  'RELAYED',
  '"relayed"',
  '?1',
  'relayed;hops=-1',
  'relayed;hops=99999999999999999999',
  'relayed;hops=1e9',
  'owned;retry=always;max=1000',
  'owned;retry="never\\"',
  `relayed;source="${'x'.repeat(8192)}"`,
  'relayed;'.repeat(1000),
  '__proto__',
  'constructor;hops=1',
  ':cmVsYXllZA==:',
  '(relayed relayed)',
  'owned;__proto__=1',
  'relayed;why=local;kept;hops=0',
];

const LOOKALIKES: readonly string[] = ['Error_Claim', 'X-Error-Claim', 'Error-Claims', 'Error-Claim-', 'ErrorClaim'];

const OURS = /^(?:owned|relayed);why=[a-z]+(?:;retry=never)?;hops=\d+(?:;kept)?(?:;effect=maybe)?$/;

let origin: RawOrigin;
let origin2: http2.Http2Server;
let session: http2.ClientHttp2Session;
let service: http.Server;
let installed: InstalledService;
/** What the callee writes, and what it was asked. */
let lines = '';
let head2: OutgoingHttpHeaders = {};
let trailers2: OutgoingHttpHeaders | undefined;
let asked = 0;

before(async () => {
  installed = installService({ trust: ['127.0.0.0/8'] });
  origin = await startRawOrigin(() => {
    asked += 1;
    return [503, lines];
  });
  origin2 = http2.createServer();
  // It does not play by any rule; that its own answers have hooks in this process, too, is beside the point.
  origin2.on('stream', (stream) => {
    asked += 1;
    stream.on('error', () => {});
    if (trailers2 === undefined) {
      rawRespond(stream, { ':status': 503, ...head2 });
      stream.end();
      return;
    }
    const trailers = trailers2;
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => Object.getPrototypeOf(stream).sendTrailers.call(stream, trailers));
    stream.end('x');
  });
  const call = wrapFetch(fetch, {
    budget: { kind: 'none' },
    retry: { maxRetries: 1, codes: [503], backoffMs: 0, maxBackoffMs: 0 },
  });
  service = createServer((request, response) => {
    const work = request.url === '/http2' ? throughHttp2() : call(origin.url).then((answer) => answer.text());
    // An application that passes on all that it was told.
    work.then(
      () => response.writeHead(502, { 'Error-Claim': 'relayed;hops=42', 'X-Uber-Error-Claim': 'UNCLAIMED' }).end('x'),
      () => response.writeHead(503).end('x'),
    );
  });
  await Promise.all(
    [origin2, service].map((server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))),
  );
  session = http2.connect(`http://127.0.0.1:${String((origin2.address() as AddressInfo).port)}`);
});

after(() => {
  session.destroy();
  origin2.close();
  origin.close();
  service.closeAllConnections();
  service.close();
  installed.uninstall();
});

/** Past the hooks of this process. */
function rawRespond(stream: http2.ServerHttp2Stream, headers: OutgoingHttpHeaders): void {
  (Object.getPrototypeOf(stream) as typeof stream).respond.call(stream, headers);
}

function throughHttp2(): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': '/' });
    stream.on('error', reject).on('close', resolve);
    stream.resume().end();
  });
}

async function ask(path = '/', fields: Readonly<Record<string, string>> = {}): Promise<IncomingHttpHeaders> {
  asked = 0;
  const url = `http://127.0.0.1:${String((service.address() as AddressInfo).port)}${path}`;
  return new Promise((resolve, reject) => {
    http
      .get(url, { headers: fields, agent: false }, (response) => {
        response.on('end', () => resolve(response.headers)).resume();
      })
      .on('error', reject);
  });
}

function assertOwnWord(headers: IncomingHttpHeaders, said: string): void {
  assert.match(String(headers['error-claim']), OURS, said);
  assert.notEqual(headers['error-claim'], 'relayed;hops=42');
  assert.equal(headers['x-uber-error-claim'], undefined);
}

for (const value of GARBLED) {
  test(`a callee over HTTP/1.1 that claims ${value.slice(0, 40)} is asked twice at most`, async () => {
    lines = `Error-Claim: ${value}\r\n`;
    assertOwnWord(await ask(), value);
    assert.ok(asked === 1 || asked === 2);
  });

  test(`over HTTP/2, in a head and in trailers, ${value.slice(0, 40)} is answered with a word of our own`, async () => {
    trailers2 = undefined;
    head2 = { 'error-claim': value };
    assertOwnWord(await ask('/http2'), value);
    trailers2 = { 'grpc-status': '14', 'error-claim': value };
    assertOwnWord(await ask('/http2'), value);
    assert.equal(asked, 1);
  });

  test(`a caller that claims, or says of its request, ${value.slice(0, 40)} changes nothing`, async () => {
    lines = '';
    for (const name of ['error-claim', 'request-attempt', 'request-timeout', 'x-uber-error-claim', 'grpc-timeout']) {
      assertOwnWord(await ask('/', { [name]: value }), `${name}: ${value}`);
      assert.ok(asked <= 2);
    }
  });
}

test('a claim that is there twice says nothing, neither do both of them', async () => {
  lines = 'Error-Claim: relayed;hops=1\r\nerror-claim: owned\r\n';
  await ask();
  assert.equal(asked, 2);
});

for (const name of LOOKALIKES) {
  test(`${name} is no claim`, async () => {
    lines = `${name}: relayed;hops=1\r\n`;
    await ask();
    assert.equal(asked, 2);
  });
}

test('no field of a callee makes it be asked a third time', async () => {
  for (const field of [
    'Error-Claim: owned;retry=after',
    'x-should-retry: true',
    'Retry-After: 0',
    'grpc-retry-pushback-ms: 0',
  ]) {
    lines = `${field}\r\n`;
    await ask();
    assert.equal(asked, 2, field);
  }
});

test('a stranger who calls gets no claim, and one who is called takes no retry away', async () => {
  installed.uninstall();
  installed = installService({ trust: ['10.0.0.0/8'] });
  lines = 'Error-Claim: relayed;hops=1\r\n';
  const headers = await ask();
  assert.equal(asked, 2);
  assert.deepEqual([headers['error-claim'], headers['x-uber-error-claim']], [undefined, undefined]);
});

test('no hook failed over any of it', () => {
  assert.deepEqual(installed.metrics().hookFaults, {});
});
