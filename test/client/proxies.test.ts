import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { upgrade } from 'undici';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { readProxy } from '../../src/client/env-proxy.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import { fetch } from '../../src/client/fetch.ts';
import { readOrigin } from '../../src/client/origin.ts';
import { refusedAddress } from '../support/addresses.ts';
import { createTestCertificates } from '../support/certificates.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

const { ca, server: identity } = createTestCertificates();

interface TestProxy {
  readonly url: string;
  /** `METHOD target authorization` of each request. */
  readonly seen: string[];
}

/** A proxy that opens tunnels, or answers every CONNECT with this status. */
async function startProxy(t: TestContext, refusal?: number): Promise<TestProxy> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const note = ({ method, url, headers }: IncomingMessage): number =>
    seen.push(`${method} ${url} ${headers['proxy-authorization'] ?? '-'}`);
  const server = createServer((request, response) => {
    note(request);
    response.end('by the proxy');
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    note(request);
    socket.on('error', () => {});
    if (refusal !== undefined) {
      socket.end(`HTTP/1.1 ${refusal} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const [host, port] = request.url!.split(':');
    const target = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(target).pipe(socket);
    });
    target.on('error', () => socket.destroy());
    socket.on('close', () => target.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
  return { url: `http://user:pass%21@127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

function client(t: TestContext, proxy: string): ReturnType<typeof createDispatcher> {
  const dispatcher = createDispatcher({ proxy, tls: { ca } });
  t.after(() => dispatcher.destroy());
  return dispatcher;
}

const CREDENTIALS = `Basic ${Buffer.from('user:pass!').toString('base64')}`;

test('a plain request is told to the proxy with its whole URL', async (t) => {
  const proxy = await startProxy(t);
  const response = await fetch('http://far.example/path?q=1', { dispatcher: client(t, proxy.url) });
  assert.equal(await response.text(), 'by the proxy');
  assert.deepEqual(proxy.seen, [`GET http://far.example/path?q=1 ${CREDENTIALS}`]);
});

test('a request with TLS goes through a tunnel, as HTTP/2 too, and its tunnel is used again', async (t) => {
  const proxy = await startProxy(t);
  const large = 'l'.repeat(300_000);
  const origin = createSecureServer({ ...identity, allowHTTP1: true }, (request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => response.end(`${request.httpVersion} ${bytes} ${large}`));
  });
  await new Promise<void>((listening) => origin.listen(0, '127.0.0.1', listening));
  const dispatcher = client(t, proxy.url);
  t.after(() => new Promise((closed) => origin.close(closed)));
  const { port } = origin.address() as AddressInfo;
  for (let i = 0; i < 2; i += 1) {
    const response = await fetch(`https://localhost:${port}/`, { dispatcher, method: 'PUT', body: large });
    assert.equal(await response.text(), `2.0 ${large.length} ${large}`);
  }
  assert.deepEqual(proxy.seen, [`CONNECT localhost:${port} ${CREDENTIALS}`]);
  await dispatcher.destroy();
});

test('a proxy that opens no tunnel fails the request before it is sent', async (t) => {
  const proxy = await startProxy(t, 407);
  const call = fetch('https://far.example/', {
    dispatcher: client(t, proxy.url),
    retry: false,
    method: 'POST',
    body: 'x',
  });
  await assert.rejects(call, (error) => {
    assert.ok(isRequestFailedError(error));
    assert.equal(error.kind, 'destination_unavailable');
    assert.match(error.message, /answered CONNECT with 407/);
    return true;
  });
});

test('an upgrade goes through the tunnel too', async (t) => {
  const proxy = await startProxy(t);
  const bytes = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';
  const origin = await startOrigin({ requests: { do: 'raw', bytes, then: 'hang' } }, { t });
  const { socket } = await upgrade(`http://${origin.address}`, { dispatcher: client(t, proxy.url), protocol: 'echo' });
  socket.destroy();
  assert.deepEqual(proxy.seen, [`CONNECT ${origin.address} ${CREDENTIALS}`]);
});

test('a proxy that cannot be reached is told apart, and the origin is not asked', async (t) => {
  const origin = await startOrigin({}, { t });
  const proxy = `http://${(await refusedAddress({ t })).address}`;
  const call = fetch(`http://${origin.address}/`, { dispatcher: client(t, proxy), retry: false });
  await assert.rejects(call, (error) => isRequestFailedError(error) && error.kind === 'connection_refused');
  assert.equal(origin.requestCount(), 0);
});

describe('the environment', () => {
  const both = { http_proxy: 'http://p1:8080', HTTPS_PROXY: 'p2' };
  const rows: readonly (readonly [Record<string, string>, string, string | undefined])[] = [
    [{}, 'http://a/', undefined],
    [both, 'http://a/', 'http://p1:8080'],
    [both, 'https://a/', 'http://p2'],
    [{ http_proxy: 'http://p1' }, 'https://a/', undefined],
    [{ ...both, no_proxy: 'a, b.example' }, 'http://a/', undefined],
    [{ ...both, no_proxy: 'a, b.example' }, 'http://c.b.example/', undefined],
    [{ ...both, no_proxy: 'b.example' }, 'http://xb.example/', 'http://p1:8080'],
    [{ ...both, no_proxy: '.b.example' }, 'http://b.example/', undefined],
    [{ ...both, no_proxy: '*.b.example' }, 'http://b.example/', 'http://p1:8080'],
    [{ ...both, NO_PROXY: '*' }, 'http://a/', undefined],
    [{ ...both, no_proxy: 'a:81' }, 'http://a/', 'http://p1:8080'],
    [{ ...both, no_proxy: 'a:81' }, 'http://a:81/', undefined],
    [{ ...both, no_proxy: '[::1]:81' }, 'http://[::1]:81/', undefined],
    [{ ...both, no_proxy: '::1' }, 'http://[::1]/', undefined],
    [{ HTTP_PROXY: 'http://stranger', REQUEST_METHOD: 'GET' }, 'http://a/', undefined],
  ];
  for (const [environment, url, expected] of rows) {
    test(`${JSON.stringify(environment)} leads ${url} ${expected === undefined ? 'past every proxy' : `to ${expected}`}`, () => {
      assert.equal(readProxy('environment', environment)(readOrigin(url))?.key, expected);
    });
  }

  test('with a proxy that is to be spoken to with TLS is refused', () => {
    assert.throws(() => readProxy('environment', { https_proxy: 'https://p' }), /spoken to over http/);
    assert.throws(() => createDispatcher({ proxy: 'http://' }), /not a URL of a proxy/);
  });
});
