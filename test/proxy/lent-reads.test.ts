import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { LentReads } from '../../src/proxy/listener/lent-reads.ts';

interface Read {
  /** As it was given. */
  readonly chunk: Buffer;
  readonly kept: Buffer;
}

/** Reads one message after another, each of them from a client of its own, and gives back what was read. */
async function readOfClients(messages: readonly string[]): Promise<Read[]> {
  const reads: Read[] = [];
  let onRead: (() => void) | undefined;
  const server = createServer((socket: Socket) => {
    const lent = new LentReads(socket, (chunk) => {
      reads.push({ chunk, kept: lent.kept(chunk) });
      onRead?.();
    });
    socket.on('data', () => assert.fail('the socket took memory of its own'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const clients: Socket[] = [];
  for (const message of messages) {
    const arrived = new Promise<void>((resolve) => {
      onRead = resolve;
    });
    clients.push(connect(port, '127.0.0.1').end(message));
    await arrived;
  }
  for (const client of clients) client.destroy();
  await new Promise((resolve) => server.close(resolve));
  return reads;
}

test('all clients are read into the same memory, where this version of Node lends it', async () => {
  const [first, second] = await readOfClients(['one', 'two']);
  assert.equal(first?.chunk.buffer, second?.chunk.buffer);
  assert.equal(String(first?.chunk), 'two', 'the next read takes its place');
});

test('what is kept of a read stays when another client is read', async () => {
  const reads = await readOfClients(['one', 'two', 'three']);
  assert.deepEqual(
    reads.map(({ kept }) => String(kept)),
    ['one', 'two', 'three'],
  );
});

test('a socket that lends no memory goes on with its data events, whose bytes are its own', () => {
  const stream = new Duplex({ read() {}, write() {} });
  const reads = new LentReads(stream as Socket, () => assert.fail('it has no other way to read'));
  const chunk = Buffer.from('its own');
  assert.equal(reads.kept(chunk), chunk);
  stream.destroy();
});
