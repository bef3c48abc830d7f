import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { createTunnelStream } from '../../src/transport/proxy-tunnel.ts';
import { failOnLeaks } from '../support/leak-check.ts';

failOnLeaks();

/** A stream to far.example:443 through a proxy that reads the head of a CONNECT and then does what it is told. */
async function open(t: TestContext, answer: (socket: Socket, head: string) => void): Promise<Duplex> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    t.after(() => socket.destroy());
    let head = '';
    const read = (chunk: Buffer): void => {
      head += chunk.toString('latin1');
      if (!head.endsWith('\r\n\r\n')) return;
      socket.off('data', read);
      answer(socket, head);
    };
    socket.on('data', read);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const openStream = createTunnelStream(() => ({ host: '127.0.0.1', port, authorization: 'Basic eA==' }));
  const stream = openStream({ host: 'far.example', port: 443, key: 'far.example:443' });
  t.after(() => stream.destroy());
  return stream;
}

test('a tunnel is asked for by name and port, and by who asks', async (t) => {
  let head = '';
  const stream = await open(t, (socket, text) => {
    head = text;
    socket.write('HTTP/1.1 200 OK\r\n\r\n!');
  });
  await once(stream, 'data');
  assert.equal(
    head,
    'CONNECT far.example:443 HTTP/1.1\r\nHost: far.example:443\r\nProxy-Authorization: Basic eA==\r\n\r\n',
  );
});

test('bytes that are written early wait for the tunnel, and those behind its answer are the peer’s first', async (t) => {
  const stream = await open(t, (socket) => {
    socket.write('HTTP/1.1 200 ');
    setImmediate(() => socket.write('OK\r\nX: y\r\n\r\nfirst'));
    socket.on('data', (chunk: Buffer) => socket.end(`echo ${chunk.toString()}`));
  });
  stream.write('early');
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  assert.equal(text, 'firstecho early');
});

describe('no tunnel, and an error that says why,', () => {
  const rows: readonly (readonly [string, (socket: Socket) => void, RegExp])[] = [
    ['after a refusal', (socket) => socket.write('HTTP/1.1 407 No\r\n\r\n'), /answered CONNECT with 407/],
    ['after something else than HTTP', (socket) => socket.write('SSH-2.0-x\r\n\r\n'), /does not speak HTTP/],
    ['after an end', (socket) => socket.end(), /closed the connection instead/],
    [
      'after a head without an end',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`),
      /too long/,
    ],
  ];
  for (const [name, answer, message] of rows) {
    test(name, async (t) => {
      const stream = await open(t, answer);
      const [error] = (await once(stream, 'error')) as [Error & { code?: string }];
      assert.match(error.message, message);
      assert.equal(error.code, 'ERR_PROXY_TUNNEL');
    });
  }
});

test('a slow reader holds the peer back, and gets everything', async (t) => {
  const large = Buffer.alloc(4_000_000, 'x');
  const stream = await open(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.end(large);
  });
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += (chunk as Buffer).length;
    await new Promise(setImmediate);
  }
  assert.equal(bytes, large.length);
});
