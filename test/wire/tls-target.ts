import { createSecureServer } from 'node:http2';
import type { Http2Server } from 'node:http2';
import { createServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { createTestCertificates } from '../support/certificates.ts';
import type { Wait } from '../support/origin-connection.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { startHttp2Target } from './http2-target.ts';
import type { OriginPlan, Wire } from './scenario.ts';
import type { Seen, Target } from './target.ts';
import { unread } from './target.ts';

type Certificate = Extract<OriginPlan, { kind: 'tls' }>['certificate'];

/** An origin behind TLS that answers 200 to whoever believes its certificate; or one that never ends its handshake. */
export async function startTlsTarget(
  t: TestContext,
  certificate: Certificate,
  wire: Wire,
  wait: Wait,
): Promise<Target> {
  if (certificate === 'stalls') {
    const silent = await startOrigin({ connections: 'hang' }, { t });
    return {
      address: silent.address,
      // What arrives is no request but a greeting.
      seen: [],
      get openCount() {
        return silent.journal.connections.filter((one) => (one.finByClientAtMs ?? one.resetByClientAtMs) === undefined)
          .length;
      },
      openGate() {},
      close: () => silent.close(),
    };
  }
  const certified = createTestCertificates()[certificate];
  if (wire === '2') {
    const server = createSecureServer(certified) as unknown as Http2Server;
    server.on('sessionError', () => {});
    return startHttp2Target({ kind: 'server', says: { do: 'respond', body: certificate } }, wait, server);
  }
  return startHttpsTarget(certificate);
}

async function startHttpsTarget(certificate: Exclude<Certificate, 'stalls'>): Promise<Target> {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer(createTestCertificates()[certificate], (request, response) => {
    const { headers } = request;
    seen.push({
      ...unread,
      key: headers['idempotency-key'] as string | undefined,
      attempt: headers['request-attempt'] as string | undefined,
    });
    request.resume();
    response.end(certificate);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    seen,
    get openCount() {
      return sockets.size;
    },
    openGate() {},
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
