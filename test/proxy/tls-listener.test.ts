import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { Listener, ListenerEngine, ListenerLimits } from '../../src/proxy/downstream.ts';
import type { ClientCertificate } from '../../src/proxy/client-peer.ts';
import type { Proxy } from '../../src/proxy/proxy.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import type { ListenerTls } from '../../src/proxy/listener/tls-settings.ts';
import { createTestCertificates } from '../support/certificates.ts';
import { ask, connectHttp2 } from '../support/http2-client.ts';
import { connectFrames } from '../support/http2-frames.ts';
import type { OriginScript, ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { createSignal } from '../support/signal.ts';

const certificates = createTestCertificates();
const settings: ListenerTls = { certificates: [{ hosts: [], ...certificates.server }] };
const mutual: ListenerTls = { ...settings, clientCa: certificates.ca };

interface Stage {
  readonly port: number;
  readonly listener: Listener;
  readonly proxy: Proxy;
  readonly origin: ScriptedOrigin;
  readonly seen: (ClientCertificate | undefined)[];
  /** The first line for people. */
  line(): Promise<string>;
}

async function stage(
  t: TestContext,
  server: ListenerEngine,
  tls: ListenerTls = settings,
  limits: Partial<ListenerLimits> = {},
  script: OriginScript = { do: 'respond', body: 'secret' },
): Promise<Stage> {
  const origin = await startOrigin(script);
  const lines: string[] = [];
  const seen: (ClientCertificate | undefined)[] = [];
  const signal = createSignal();
  const proxy = createProxy(
    {
      selectUpstream: () => origin.address,
      requestFilter: (exchange) => void seen.push(exchange.request.clientCertificate),
    },
    {
      limits,
      diagnostics(_level, text) {
        lines.push(text);
        signal.changed();
      },
    },
  );
  const listener = await proxy.listen('127.0.0.1:0', { server, tls });
  t.after(async () => {
    await proxy.close();
    await origin.close();
  });
  const line = (): Promise<string> => signal.until(() => lines[0], { what: 'a line' });
  return { port: listener.address.port, listener, proxy, origin, seen, line };
}

async function handshake(t: TestContext, port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ca: certificates.ca, servername: 'localhost', ...options });
  t.after(() => void socket.destroy());
  await Promise.race([
    once(socket, 'secureConnect'),
    once(socket, 'error').then(([error]) => Promise.reject(error as Error)),
  ]);
  return socket;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    socket.once('close', () => resolve());
  });
}

async function request(socket: TLSSocket, version = '1.1'): Promise<string> {
  let text = '';
  socket.on('data', (piece: Buffer) => {
    text += piece.toString('latin1');
  });
  socket.write(`GET / HTTP/${version}\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  await closed(socket);
  return text;
}

for (const server of ['own', 'node'] as const) {
  describe(`${server}: TLS`, () => {
    test('HTTP/1.1 is served to a client that names no protocol, and the origin is told how it came', async (t) => {
      const { port, origin } = await stage(t, server);
      const answer = await request(await handshake(t, port));
      assert.match(answer, /^HTTP\/1\.1 200 [^]*secret/);
      assert.deepEqual(origin.request().values('x-forwarded-proto'), ['https']);
      assert.match(origin.request().value('forwarded') ?? '', /proto=https/);
    });

    test('the protocol is the one that both sides prefer', async (t) => {
      const { port } = await stage(t, server);
      const both = await handshake(t, port, { ALPNProtocols: ['http/1.1', 'h2'] });
      assert.equal(both.alpnProtocol, 'h2');
      const old = await handshake(t, port, { ALPNProtocols: ['http/1.1'] });
      assert.equal(old.alpnProtocol, 'http/1.1');
      both.destroy();
      old.destroy();
    });

    test('a client of TLS 1.1 is refused, counted and told', async (t) => {
      const { port, proxy, line } = await stage(t, server);
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
      await assert.rejects(handshake(t, port, old));
      assert.match(await line(), /^closed a connection of 127\.0\.0\.1: tls-handshake \(ERR_SSL/);
      assert.equal(proxy.refusedConnectionCounts.get('tls-handshake'), 1);
    });

    test('plain text on a TLS listener is refused, counted and told', async (t) => {
      const { port, line } = await stage(t, server);
      const socket = connectPlain({ host: '127.0.0.1', port });
      t.after(() => void socket.destroy());
      socket.on('error', () => {});
      socket.resume();
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await closed(socket);
      assert.match(await line(), /^closed a connection of 127\.0\.0\.1: tls-handshake/);
    });

    test('a handshake that does not end is closed', async (t) => {
      const { port, line } = await stage(t, server, settings, { headerTimeoutMs: 100 });
      const socket = connectPlain({ host: '127.0.0.1', port });
      t.after(() => void socket.destroy());
      socket.on('error', () => {});
      socket.resume();
      await closed(socket);
      assert.match(await line(), /tls-handshake \(ERR_TLS_HANDSHAKE_TIMEOUT\)/);
    });

    test('a client without a certificate is refused where one is asked for', async (t) => {
      const { port, origin, line } = await stage(t, server, mutual);
      // In TLS 1.3 the client believes in the handshake until the server's verdict arrives.
      const socket = await handshake(t, port).catch(() => undefined);
      if (socket !== undefined) {
        socket.on('error', () => {});
        socket.resume();
        await closed(socket);
      }
      assert.match(await line(), /tls-handshake/);
      assert.equal(origin.requestCount(), 0);
    });

    test('a certificate of somebody else is refused', async (t) => {
      const { port, origin, line } = await stage(t, server, mutual);
      const { cert, key } = certificates.stranger;
      const socket = await handshake(t, port, { cert, key }).catch(() => undefined);
      if (socket !== undefined) {
        socket.on('error', () => {});
        socket.resume();
        await closed(socket);
      }
      assert.match(await line(), /tls-handshake/);
      assert.equal(origin.requestCount(), 0);
    });

    test("hooks see the client's certificate, over HTTP/1.1 and HTTP/2", async (t) => {
      const { port, seen } = await stage(t, server, mutual);
      const { cert, key } = certificates.client;
      await request(await handshake(t, port, { cert, key }));
      const client = connectHttp2(port, { t, ca: certificates.ca, cert, key });
      await ask(client);
      client.destroy();
      assert.equal(seen.length, 2);
      for (const certificate of seen) {
        assert.equal(certificate?.subject, 'CN=test client');
        assert.match(certificate?.fingerprint ?? '', /^[0-9A-F]{2}(:[0-9A-F]{2}){31}$/);
      }
    });

    test('another certificate is shown to new connections, and open ones go on', async (t) => {
      const { port, listener } = await stage(t, server);
      const before = await handshake(t, port);
      listener.setTls({ certificates: [{ hosts: [], ...certificates.renewed }] });
      const after = await handshake(t, port);
      assert.notEqual(after.getPeerCertificate().fingerprint256, before.getPeerCertificate().fingerprint256);
      assert.match(await request(before), /secret/);
      after.destroy();
    });

    test('certificates that are no good change nothing', async (t) => {
      const { port, listener } = await stage(t, server);
      const { cert } = certificates.server;
      const { key } = certificates.renewed;
      assert.throws(() => listener.setTls({ certificates: [{ hosts: [], cert, key }] }));
      assert.throws(() => listener.setTls(mutual), RangeError);
      assert.match(await request(await handshake(t, port)), /secret/);
    });

    test('a client gets the certificate of the name that it asks for', async (t) => {
      const { port } = await stage(t, server, {
        certificates: [
          { hosts: [], ...certificates.server },
          { hosts: ['elsewhere.test', '*.wild.test'], ...certificates.wrongHost },
        ],
      });
      const named = async (servername: string): Promise<string> => {
        const socket = await handshake(t, port, { servername, checkServerIdentity: () => undefined });
        const { subject } = socket.getPeerCertificate();
        socket.destroy();
        return String(subject.CN);
      };
      assert.equal(await named('localhost'), 'localhost');
      assert.equal(await named('elsewhere.test'), 'elsewhere.test');
      assert.equal(await named('a.wild.test'), 'elsewhere.test');
      assert.equal(await named('a.b.wild.test'), 'localhost');
    });

    test('closing the listener ends connections and handshakes', async (t) => {
      const { port, proxy } = await stage(t, server);
      const idle = await handshake(t, port);
      const half = connectPlain({ host: '127.0.0.1', port });
      t.after(() => void half.destroy());
      for (const socket of [idle, half]) {
        socket.on('error', () => {});
        socket.resume();
      }
      await once(half, 'connect');
      await proxy.close();
      for (const socket of [idle, half]) await closed(socket);
    });
  });
}

test('a truncated answer to an HTTP/1.0 client over TLS ends in a reset', async (t) => {
  const { port } = await stage(
    t,
    'own',
    settings,
    {},
    {
      do: 'raw',
      bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
      then: 'close',
    },
  );
  const socket = await handshake(t, port);
  let ending = '';
  socket.on('error', (error: NodeJS.ErrnoException) => {
    ending = error.code ?? '';
  });
  const text = await request(socket, '1.0');
  assert.match(text, /^HTTP\/1\.1 200/);
  assert.equal(ending, 'ECONNRESET');
});

test('the safe mode refuses HTTP/2 without TLS in words', async (t) => {
  const origin = await startOrigin({});
  const proxy = createProxy({ selectUpstream: () => origin.address });
  const listener = await proxy.listen('127.0.0.1:0', { server: 'node' });
  t.after(async () => {
    await proxy.close();
    await origin.close();
  });
  const socket = connectPlain({ host: '127.0.0.1', port: listener.address.port });
  let text = '';
  socket.on('data', (piece: Buffer) => {
    text += piece.toString('latin1');
  });
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  await closed(socket);
  assert.match(text, /^HTTP\/1\.1 505 [^]*`server: own` does/);
});

test('a TLS listener without a certificate does not open', async () => {
  const proxy = createProxy({});
  await assert.rejects(proxy.listen('127.0.0.1:0', { tls: { certificates: [] } }), RangeError);
  await proxy.close();
});

test('HTTP/2 by ALPN is served without its preface being looked for', async (t) => {
  const { port } = await stage(t, 'own');
  const client = await connectFrames(port, { t, ca: certificates.ca });
  await client.waitFor(() => client.frames.length > 0, 'SETTINGS');
  client.destroy();
});
