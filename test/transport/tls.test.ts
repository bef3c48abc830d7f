import assert from 'node:assert/strict';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { classifyFailure } from '../../src/core/safety.ts';
import { bytesBody } from '../../src/transport/body/bytes-body.ts';
import { createTransport } from '../../src/transport/create-transport.ts';
import type { ComposedTransport, TransportOptions } from '../../src/transport/create-transport.ts';
import { createSystemClock } from '../../src/transport/system-time.ts';
import type { EndpointAddress } from '../../src/transport/transport.ts';
import type { CertifiedKey } from '../support/certificates.ts';
import { createTestCertificates } from '../support/certificates.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { startWireOrigin } from '../support/wire-origin.ts';
import type { WireRequest, WireResponse } from '../support/wire-origin.ts';
import { send } from './attempt-recorder.ts';

failOnLeaks();

const certificates = createTestCertificates();
const { ca, client, strangerCa } = certificates;

interface TlsOrigin {
  readonly endpoint: EndpointAddress;
  readonly requestCount: number;
  readonly connectionCount: number;
  /** Server names that clients asked for. */
  readonly serverNames: readonly string[];
  /** Common names of client certificates. */
  readonly clients: readonly string[];
}

/** Answers over HTTP/1.1, and over HTTP/2 where the client offers it. */
async function startTlsOrigin(
  t: TestContext,
  certified: CertifiedKey,
  options: { readonly http1Only?: boolean; readonly clientCa?: string } = {},
): Promise<TlsOrigin> {
  let requestCount = 0;
  let connectionCount = 0;
  const serverNames: string[] = [];
  const clients: string[] = [];
  const sockets = new Set<Socket>();
  const { clientCa, http1Only = false } = options;
  const settings = {
    ...certified,
    ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
  };
  const onRequest = (request: WireRequest, response: WireResponse): void => {
    requestCount += 1;
    response.end(request.httpVersion);
  };
  const server = http1Only
    ? createHttpsServer(settings, onRequest)
    : createSecureServer({ ...settings, allowHTTP1: true }, onRequest);
  server.on('connection', (socket: Socket) => {
    connectionCount += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    if (typeof socket.servername === 'string') serverNames.push(socket.servername);
    const { subject } = socket.getPeerCertificate() as { readonly subject?: { readonly CN?: string } };
    if (subject?.CN !== undefined) clients.push(subject.CN);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: { host: '127.0.0.1', port, key: `127.0.0.1:${String(port)}` },
    serverNames,
    clients,
    get requestCount() {
      return requestCount;
    },
    get connectionCount() {
      return connectionCount;
    },
  };
}

function transportFor(t: TestContext, options: Partial<TransportOptions>): ComposedTransport {
  const transport = createTransport({ clock: createSystemClock(), ...options });
  t.after(() => transport.dispose());
  return transport;
}

for (const protocol of ['http1', 'http2', 'auto'] as const) {
  for (const [what, certified, trusted] of [
    ['is over', certificates.expired, ca],
    ['is for another host', certificates.wrongHost, ca],
    ['comes from nobody we trust', certificates.stranger, ca],
  ] as const) {
    test(`${protocol}: a certificate that ${what} is refused with nothing sent`, async (t) => {
      const origin = await startTlsOrigin(t, certified);
      const transport = transportFor(t, { protocol, tls: { ca: trusted } });
      const sent = await send(transport, origin.endpoint, { method: 'POST', body: bytesBody('x') }).ended();
      assert.equal(sent.failure?.kind, 'tls_certificate_error');
      assert.deepEqual([sent.failure.phase, sent.failure.bytesSent], ['tls', 0]);
      assert.equal(classifyFailure(sent.failure), 'unsent');
      assert.equal(origin.requestCount, 0);
    });
  }
}

test('who is told not to verify sees that nobody vouches for the peer', async (t) => {
  const origin = await startTlsOrigin(t, certificates.stranger);
  const sent = await send(transportFor(t, { tls: { verify: false } }), origin.endpoint).ended();
  assert.equal(sent.head?.status, 200);
  assert.equal(sent.connections[0]?.tls?.authorized, false);
});

test('a certificate of an authority that is named is believed', async (t) => {
  const origin = await startTlsOrigin(t, certificates.stranger);
  const sent = await send(transportFor(t, { tls: { ca: strangerCa } }), origin.endpoint).ended();
  assert.equal(sent.connections[0]?.tls?.authorized, true);
});

test('the server is asked for by the name that is configured, and its certificate must be for it', async (t) => {
  const origin = await startTlsOrigin(t, certificates.wrongHost);
  const transport = transportFor(t, { tls: { ca, serverName: 'elsewhere.test' } });
  assert.equal((await send(transport, origin.endpoint).ended()).head?.status, 200);
  assert.deepEqual(origin.serverNames, ['elsewhere.test']);
});

test('without one it is the name that led to the address, and none for an address alone', async (t) => {
  const origin = await startTlsOrigin(t, certificates.server);
  const transport = transportFor(t, { tls: { ca } });
  assert.equal((await send(transport, { ...origin.endpoint, name: 'localhost' }).ended()).head?.status, 200);
  await send(transport, origin.endpoint, { fresh: true }).ended();
  assert.deepEqual(origin.serverNames, ['localhost']);
});

for (const protocol of ['http1', 'http2'] as const) {
  test(`${protocol}: the client certificate is shown to a server that asks for one`, async (t) => {
    const origin = await startTlsOrigin(t, certificates.server, { clientCa: ca });
    const transport = transportFor(t, { protocol, tls: { ca, cert: client.cert, key: client.key } });
    assert.equal((await send(transport, origin.endpoint).ended()).head?.status, 200);
    assert.deepEqual(origin.clients, ['test client']);
  });

  test(`${protocol}: without a client certificate such a server gets no request`, async (t) => {
    const origin = await startTlsOrigin(t, certificates.server, { clientCa: ca });
    const sent = await send(transportFor(t, { protocol, tls: { ca } }), origin.endpoint).ended();
    assert.notEqual(sent.failure, undefined);
    assert.equal(origin.requestCount, 0);
  });
}

test('auto speaks what the server chooses, and asks a server of HTTP/1.1 only once', async (t) => {
  const both = await startTlsOrigin(t, certificates.server);
  const old = await startTlsOrigin(t, certificates.server, { http1Only: true });
  const transport = transportFor(t, { protocol: 'auto', tls: { ca } });
  const two = await send(transport, both.endpoint, { method: 'POST', body: bytesBody('x') }).ended();
  assert.deepEqual([two.body, two.connections[0]?.protocol], ['2.0', '2']);
  for (const connectionCount of [2, 2]) {
    const one = await send(transport, old.endpoint, { method: 'POST', body: bytesBody('x') }).ended();
    assert.deepEqual([one.body, one.connections[0]?.protocol, one.calls.at(-1)], ['1.1', '1.1', 'complete']);
    assert.equal(old.connectionCount, connectionCount, 'one that chose, one that carries the requests');
  }
  assert.equal(old.requestCount, 2);
});

test('auto: an attempt that is aborted while the server chooses leaves nothing behind', async (t) => {
  const old = await startTlsOrigin(t, certificates.server, { http1Only: true });
  const transport = transportFor(t, { protocol: 'auto', tls: { ca } });
  const sent = send(transport, old.endpoint);
  sent.attempt.abort();
  await transport.dispose();
  assert.deepEqual([sent.calls, old.requestCount], [[], 0]);
});

test('auto without TLS is HTTP/1.1', async (t) => {
  const origin = await startWireOrigin(t, 'http1', (request, response) => void response.end(request.httpVersion));
  const sent = await send(transportFor(t, { protocol: 'auto' }), { ...origin }).ended();
  assert.equal(sent.body, '1.1');
});

test('http2 over TLS is not spoken with a server that does not agree to it', async (t) => {
  const old = await startTlsOrigin(t, certificates.server, { http1Only: true });
  const sent = await send(transportFor(t, { protocol: 'http2', tls: { ca } }), old.endpoint).ended();
  assert.equal(sent.failure?.bytesSent, 0);
  assert.equal(classifyFailure(sent.failure), 'unsent');
  assert.equal(old.requestCount, 0);
});

test('keys that cannot be used are refused when the transport is made', () => {
  const clock = createSystemClock();
  assert.throws(() => createTransport({ clock, tls: { cert: client.cert, key: certificates.server.key } }), Error);
});
