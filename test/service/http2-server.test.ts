import assert from 'node:assert/strict';
import http2, { type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { installService, type InstalledService } from '../../src/service/install.ts';

let installed: InstalledService;
let client: http2.ClientHttp2Session;
const servers: http2.Http2Server[] = [];
const sessions = new Set<http2.Http2Session>();
let handled = 0;

type Head = IncomingHttpHeaders & IncomingHttpStatusHeader;

async function connect(server: http2.Http2Server): Promise<http2.ClientHttp2Session> {
  servers.push(server);
  server.on('session', (session) => sessions.add(session));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return http2.connect(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
}

function ask(session: http2.ClientHttp2Session, path: string, fields: Record<string, string> = {}): Promise<Head> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path, ...fields });
    let head: Head = {};
    stream.on('response', (headers) => (head = headers));
    stream.on('trailers', (trailers) => (head = { ...head, ...trailers }));
    stream.on('error', reject).on('close', () => resolve(head));
    stream.resume().end();
  });
}

before(async () => {
  installed = installService({ trust: ['127.0.0.0/8'] });
  const server = http2.createServer();
  server.on('stream', (stream, headers) => {
    handled += 1;
    const path = headers[':path'] ?? '/';
    if (path === '/passes-on') stream.respond({ ':status': 503, 'Error-Claim': 'relayed' }, { endStream: true });
    else if (path === '/good') stream.respond({ ':status': 200, 'x-uber-error-claim': 'CLAIMED' }, { endStream: true });
    else if (path === '/trailers-only') {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '14' }, { endStream: true });
    } else if (path === '/not-found') {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '5' }, { endStream: true });
    } else if (path === '/trailers') {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '13', 'error-claim': 'relayed' }));
      stream.end('x');
    } else stream.respond({ ':status': 500 }, { endStream: true });
  });
  client = await connect(server);
});

after(() => {
  client.destroy();
  for (const session of sessions) session.destroy();
  for (const server of servers) server.close();
  installed.uninstall();
});

test('an error that a stream answers with carries its claim', async () => {
  const head = await ask(client, '/fails');
  assert.deepEqual([head[':status'], head['error-claim']], [500, 'owned;why=local;hops=0']);
});

test('a claim that the application passes on gives way to its own, and goes where there is none', async () => {
  assert.equal((await ask(client, '/passes-on'))['error-claim'], 'owned;why=local;hops=0');
  assert.equal((await ask(client, '/good'))['x-uber-error-claim'], undefined);
});

test('a gRPC answer of trailers alone carries its claim, one about a fault of the client none', async () => {
  assert.equal((await ask(client, '/trailers-only'))['error-claim'], 'owned;why=local;hops=0');
  assert.equal((await ask(client, '/not-found'))['error-claim'], undefined);
});

test('a gRPC answer that fails in its trailers is counted, and its claim stands there, not one that was passed on', async () => {
  const head = await ask(client, '/trailers');
  assert.deepEqual([head['grpc-status'], head['error-claim']], ['13', 'owned;why=local;hops=0']);
  const operation = installed.metrics().operations.find(({ inbound }) => inbound === 'GET /trailers');
  assert.equal(operation?.errorCount, 1);
});

test('a stream without time to answer it is refused before its handler', async () => {
  const handledBefore = handled;
  const head = await ask(client, '/late', { 'grpc-timeout': '1m' });
  assert.deepEqual([head[':status'], head['error-claim']], [504, 'owned;why=timeout;hops=0']);
  assert.equal(handled, handledBefore);
  assert.equal((await ask(client, '/fails'))[':status'], 500, 'the next one is served');
});

test('the compatibility API answers with a claim too, also where no head is written by hand', async () => {
  const session = await connect(
    http2.createServer((request, response) => {
      if (request.url === '/implicit') {
        response.statusCode = 503;
        response.end();
      } else response.writeHead(502, { 'error-claim': 'relayed' }).end();
    }),
  );
  assert.equal((await ask(session, '/implicit'))['error-claim'], 'owned;why=local;hops=0');
  assert.equal((await ask(session, '/written'))['error-claim'], 'owned;why=local;hops=0');
  session.destroy();
  assert.deepEqual(installed.metrics().hookFaults, {});
});
