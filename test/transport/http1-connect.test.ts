import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { bytesBody } from '../../src/transport/body/bytes-body.ts';
import { blackHoleAddress, refusedAddress } from '../support/addresses.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { endpointOf, hasFailed, send, testTransport } from './attempt-recorder.ts';

failOnLeaks();

test('a refused connection is a failure with nothing sent', async (t) => {
  const address = await refusedAddress({ t });
  const sent = await send(testTransport(t), endpointOf(address), { method: 'POST', body: bytesBody('x') }).ended();
  assert.deepEqual(sent.calls, ['failure:connection_refused']);
  assert.equal(sent.failure?.phase, 'connect');
  assert.equal(sent.failure.bytesSent, 0);
  assert.equal(sent.failure.reused, false);
  assert.match(sent.failure.context ?? '', /^connect to 127\.0\.0\.1:\d+$/);
});

test('a port nobody can have is a failure, not an exception', async (t) => {
  const sent = send(testTransport(t), { host: '127.0.0.1', port: 70_000, key: '127.0.0.1:70000' });
  assert.deepEqual(sent.calls, []);
  await sent.ended();
  assert.deepEqual(sent.calls, ['failure:proxy_configuration_error']);
});

test('a connection that does not come about in time is given up', async (t) => {
  const clock = createManualClock();
  const hole = await blackHoleAddress({ t });
  const transport = testTransport(t, { clock });
  const sent = send(transport, endpointOf(hole), { timeouts: { connectMs: 300 } });
  clock.advance(299);
  assert.equal(hasFailed(sent), false);
  clock.advance(1);
  await sent.ended();
  assert.equal(sent.failure?.kind, 'connection_timeout');
  assert.equal(sent.failure?.phase, 'connect');
  assert.equal(transport.stats(endpointOf(hole)).open, 0);
});

test('an attempt that is aborted while it connects calls nobody', async (t) => {
  const hole = await blackHoleAddress({ t });
  const transport = testTransport(t);
  const sent = send(transport, endpointOf(hole));
  sent.attempt.abort();
  await transport.dispose();
  assert.deepEqual(sent.calls, []);
});

test('an attempt that is aborted at once leaves nothing behind', async (t) => {
  const origin = await startOrigin({}, { t });
  const transport = testTransport(t);
  await send(transport, endpointOf(origin)).ended();
  const onPooled = send(transport, endpointOf(origin));
  onPooled.attempt.abort();
  await transport.dispose();
  assert.deepEqual(onPooled.calls, []);
  assert.equal(origin.requestCount(), 1);
});

test('the write waits for what onConnected promises', async (t) => {
  const origin = await startOrigin({}, { t });
  let release: (() => void) | undefined;
  const sent = send(testTransport(t), endpointOf(origin), {
    onConnected: () =>
      new Promise<void>((resolve) => {
        release = resolve;
      }),
  });
  await sent.until(() => sent.calls.includes('connected'));
  await origin.waitFor((journal) => journal.connections.length === 1);
  assert.equal(sent.attempt.bytesSent, 0);
  release?.();
  await sent.ended();
  assert.equal(sent.head?.status, 200);
  assert.equal(origin.requestCount(), 1);
});

for (const how of ['throws', 'rejects'] as const) {
  test(`when onConnected ${how}, nothing is sent and the connection stays good`, async (t) => {
    const origin = await startOrigin({}, { t });
    const transport = testTransport(t);
    const sent = await send(transport, endpointOf(origin), {
      onConnected() {
        if (how === 'throws') throw new Error('no thanks');
        return Promise.reject(new Error('no thanks'));
      },
    }).ended();
    assert.deepEqual(sent.calls, ['connected', 'failure:hook_error']);
    assert.equal(sent.failure?.source, 'internal');
    assert.equal(sent.failure.bytesSent, 0);
    assert.equal(sent.failure.cause?.cause?.message, 'no thanks');
    const next = await send(transport, endpointOf(origin)).ended();
    assert.equal(next.attempt.reused, false, 'it has carried no request');
    assert.equal(next.head?.status, 200);
    assert.equal(origin.journal.connections.length, 1);
    assert.equal(origin.requestCount(), 1);
  });
}

test('a connection that dies while onConnected still thinks is a failure with nothing sent', async (t) => {
  const origin = await startOrigin({ connections: 'reset' }, { t });
  const sent = send(testTransport(t), endpointOf(origin), { onConnected: () => new Promise<void>(() => {}) });
  await sent.ended();
  assert.equal(sent.failure?.kind, 'connection_terminated');
  assert.equal(sent.failure?.bytesSent, 0);
});

test('the sender learns both ends of its connection', async (t) => {
  const origin = await startOrigin({}, { t });
  const endpoint = endpointOf(origin);
  const transport = testTransport(t);
  const first = await send(transport, endpoint).ended();
  const second = await send(transport, endpoint).ended();
  assert.equal(first.connections[0]?.localPort, origin.journal.connections[0]?.remotePort);
  assert.equal(first.connections[0]?.localAddress, '127.0.0.1');
  assert.deepEqual({ ...first.connections[0], reused: true }, second.connections[0]);
  assert.equal(first.connections[0]?.endpoint, endpoint);
});

for (const [what, input] of [
  ['a line break in a field', { fields: ['Host', 'h', 'X-Evil', 'a\r\nInjected: 1'] }],
  ['no Host', { fields: [] }],
  ['a space in the target', { target: '/a b' }],
  ['CONNECT', { method: 'CONNECT', target: 'a:1' }],
] as const) {
  test(`a request that cannot be written (${what}) fails before any connection is made`, async (t) => {
    const origin = await startOrigin({}, { t });
    const sent = await send(testTransport(t), endpointOf(origin), {
      ...input,
      fields: [...('fields' in input ? input.fields : ['Host', 'h'])],
    }).ended();
    assert.deepEqual(sent.calls, ['failure:http_request_error']);
    assert.equal(sent.failure?.source, 'internal');
    assert.equal(origin.journal.connections.length, 0);
  });
}

test('a socket that comes from elsewhere is as good, which is where TLS will enter', async (t) => {
  const origin = await startOrigin({}, { t });
  const { connect } = await import('node:net');
  const sent = await send(
    testTransport(t, { connect: () => connect({ port: origin.port, host: origin.host, allowHalfOpen: true }) }),
    {
      host: 'name.invalid',
      port: 1,
      key: 'name.invalid:1',
    },
  ).ended();
  assert.equal(sent.head?.status, 200);
});

test('a name is resolved, and one that does not exist is a DNS failure', async (t) => {
  const server = createServer((socket: Socket) =>
    socket.resume().end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n'),
  );
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const transport = testTransport(t);
  const found = await send(transport, { host: 'localhost', port, key: `localhost:${String(port)}` }).ended();
  assert.equal(found.head?.status, 204);
  const lost = await send(transport, { host: 'no-such-host.invalid', port, key: 'no-such-host.invalid' }).ended();
  assert.equal(lost.failure?.kind, 'dns_error');
  assert.equal(lost.failure?.phase, 'connect');
});
