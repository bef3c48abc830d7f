import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { RawClient } from '../support/raw-client.ts';
import type { RawServer } from '../support/raw-peer.ts';
import { startRawServer } from '../support/raw-peer.ts';
import { gatewayFile, startGateway } from '../support/running-gateway.ts';
import type { FileObject, RunningGateway, ServerEngine } from '../support/running-gateway.ts';

for (const engine of ['own', 'node'] as const) describe(`${engine}: CONNECT`, () => tunnels(engine));

/** What is asked for is an address of nobody: only the route says where a tunnel ends. */
const ASK = 'CONNECT db.example:5432 HTTP/1.1\r\nHost: db.example:5432\r\n\r\n';

function tunnels(server: ServerEngine): void {
  async function stage(
    t: TestContext,
    {
      route = { connect: true },
      before = [],
    }: { readonly route?: FileObject; readonly before?: readonly string[] } = {},
  ): Promise<{ readonly client: RawClient; readonly gateway: RunningGateway; readonly raw: RawServer }> {
    const raw = await startRawServer(t);
    const gateway = await startGateway(t, {
      ...gatewayFile([...before, raw.address], { route }),
      listeners: [{ address: '127.0.0.1:0', server }],
    });
    return { client: await gateway.connect(), gateway, raw };
  }

  const afterHead = (client: RawClient): string => {
    const text = client.received.toString('latin1');
    return text.slice(text.indexOf('\r\n\r\n') + 4);
  };

  test('opens a tunnel to the upstream of the route, and no byte of the request goes there', async (t) => {
    const { client, gateway, raw } = await stage(t);
    await client.send(`${ASK}early`, ['CONNECT']);
    assert.equal((await client.head()).status, 200);
    const peer = await raw.peer();
    await peer.until(() => peer.text === 'early', 'the first words of the client');
    peer.send('hello');
    await client.waitFor(() => afterHead(client) === 'hello');
    assert.doesNotMatch(client.received.toString('latin1'), /content-length|transfer-encoding/i);
    client.halfClose();
    await peer.until(() => peer.ending === 'fin', 'the end of the client');
    peer.socket.end(' bye');
    assert.equal(await client.waitForEnd(), 'fin');
    assert.equal(afterHead(client), 'hello bye');
    const record = await gateway.record();
    assert.deepEqual([record.method, record.host, record.status], ['CONNECT', 'db.example:5432', 200]);
    assert.deepEqual([record.bytesIn, record.bytesOut, record.truncated], [5, 9, false]);
  });

  test('a server that speaks first is heard', async (t) => {
    const { client, raw } = await stage(t);
    await client.send(ASK, ['CONNECT']);
    (await raw.peer()).send('220 ready');
    await client.waitFor(() => afterHead(client) === '220 ready');
  });

  test('an endpoint that refuses the connection is replaced by another', async (t) => {
    const { client, gateway, raw } = await stage(t, { before: ['127.0.0.1:1'] });
    await client.send(ASK, ['CONNECT']);
    assert.equal((await client.head()).status, 200);
    await raw.peer();
    client.reset();
    const record = await gateway.record();
    assert.deepEqual(
      record.attempts.map(({ failure }) => failure),
      ['connection_refused', undefined],
    );
  });

  test('no endpoint that can be reached is a 502', async (t) => {
    const { client, gateway, raw } = await stage(t);
    await raw.close();
    await client.send(ASK, ['CONNECT']);
    assert.equal((await client.response()).status, 502);
    assert.equal((await gateway.record()).reason, 'attempts-exhausted');
  });

  test('a route matches by the host that the client names', async (t) => {
    const { client, raw } = await stage(t, { route: { connect: true, match: { hosts: ['other.example'] } } });
    await client.send(ASK, ['CONNECT']);
    assert.equal((await client.response()).status, 404);
    assert.equal(raw.peers.length, 0);
  });

  test('a route that does not allow it answers 405, and leaves a record', async (t) => {
    const { client, gateway, raw } = await stage(t, { route: {} });
    await client.send(ASK, ['CONNECT']);
    const answer = await client.response();
    assert.equal(answer.status, 405);
    assert.ok(answer.value('allow')?.includes('GET'));
    assert.equal((await gateway.record()).status, 405);
    assert.equal(raw.peers.length, 0);
  });
}
