import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { createProxy } from '../../src/proxy/proxy.ts';
import { patternBytes } from '../support/fields.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { connectRaw } from '../support/raw-client.ts';
import { startRawServer } from '../support/raw-peer.ts';
import { gatewayFile, startGateway } from '../support/running-gateway.ts';

failOnLeaks();

/** What one end says, and when it says its last byte. */
interface Part {
  readonly pieces: readonly number[];
  /** It ends only after the other side has ended. */
  readonly endsLast: boolean;
  readonly readsSlowly: boolean;
}

const part = fc.record({
  pieces: fc.array(fc.integer({ min: 1, max: 200_000 }), { maxLength: 6 }),
  endsLast: fc.boolean(),
  readsSlowly: fc.boolean(),
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Plays one end to its end; resolves with everything that was heard. */
async function play(socket: Socket, { pieces, endsLast, readsSlowly }: Part, seed: number): Promise<Buffer> {
  const heard: Buffer[] = [];
  const ended = once(socket, 'end');
  socket.on('data', (chunk: Buffer) => {
    heard.push(chunk);
    if (!readsSlowly) return;
    socket.pause();
    setImmediate(() => socket.resume());
  });
  for (const [index, bytes] of pieces.entries()) {
    if (!socket.write(patternBytes(bytes, seed + index))) await once(socket, 'drain');
    else await turn();
  }
  if (endsLast) await ended;
  socket.end();
  await ended;
  return Buffer.concat(heard);
}

const said = ({ pieces }: Part, seed: number): Buffer =>
  Buffer.concat(pieces.map((bytes, index) => patternBytes(bytes, seed + index)));

test('whatever both ends say, and whoever ends first, each hears all of the other and the record counts it', async (t) => {
  const waiting: ((socket: Socket) => void)[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => waiting.shift()?.(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const gateway = await startGateway(t, gatewayFile([`127.0.0.1:${port}`], { route: { connect: true } }));
  let runCount = 0;
  await fc.assert(
    fc.asyncProperty(part, part, async (ours, theirs) => {
      // One of them must begin to end.
      const last = ours.endsLast ? { ...theirs, endsLast: false } : theirs;
      const accepted = new Promise<Socket>((resolve) => waiting.push(resolve));
      const client = connect({ host: '127.0.0.1', port: gateway.port, allowHalfOpen: true });
      client.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
      const [heardThere, heardHere] = await Promise.all([
        accepted.then((socket) => play(socket, last, 100)),
        play(client, ours, 7),
      ]);
      const body = heardHere.subarray(heardHere.indexOf('\r\n\r\n') + 4);
      assert.ok(heardThere.equals(said(ours, 7)), 'the server heard the client');
      assert.ok(body.equals(said(last, 100)), 'the client heard the server');
      runCount += 1;
      const record = await gateway.record(runCount);
      assert.deepEqual(
        [record.status, record.truncated, record.flags, record.bytesIn, record.bytesOut],
        [200, false, [], heardThere.length, body.length],
      );
    }),
    { numRuns: 40 },
  );
});

for (const engine of ['own', 'node'] as const) {
  test(`${engine}: a drain lets a tunnel talk on; what is left at its end is closed on both sides`, async (t) => {
    const server = await startRawServer(t);
    const proxy = createProxy({
      requestFilter(exchange) {
        exchange.plan = { ...exchange.plan, connect: true };
      },
      selectUpstream: () => server.address,
    });
    t.after(() => proxy.close());
    const { address } = await proxy.listen('127.0.0.1:0', { server: engine });
    const client = await connectRaw(address.port, { t });
    await client.send('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', ['CONNECT']);
    assert.equal((await client.head()).status, 200);
    const peer = await server.peer();
    const drained = proxy.drain(1_500);
    await client.send('still here');
    await peer.until(() => peer.text === 'still here', 'the words of the client');
    peer.send('and here');
    await client.waitFor(() => client.received.toString('latin1').endsWith('and here'));
    // Longer than connections without a request are kept in a drain.
    assert.equal(await drained, false);
    assert.equal(client.ending, undefined);
    await proxy.close();
    await client.waitForEnd();
    await peer.until(() => peer.ending, 'the end of the tunnel');
  });
}
