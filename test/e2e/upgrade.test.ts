import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { patternBytes } from '../support/fields.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import type { RawClient } from '../support/raw-client.ts';
import type { RawPeer, RawServer } from '../support/raw-peer.ts';
import { startRawServer } from '../support/raw-peer.ts';
import { gatewayFile, startGateway } from '../support/running-gateway.ts';
import type { GatewayParts, RunningGateway, ServerEngine } from '../support/running-gateway.ts';

const ASK =
  'GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

interface Stage {
  readonly gateway: RunningGateway;
  readonly client: RawClient;
  readonly server: RawServer;
}

interface Opened extends Stage {
  /** The tunnel's other end. */
  readonly peer: RawPeer;
  /** Bytes after the head of the request. */
  readonly said: () => string;
  /** Bytes after the head of the 101. */
  readonly heard: () => string;
}

const afterHead = (text: string): string => text.slice(text.indexOf('\r\n\r\n') + 4);

/** `node:http` hands single requests over since Node 24.9. */
const ENGINES: readonly ServerEngine[] = 'shouldUpgradeCallback' in createServer() ? ['own', 'node'] : ['own'];

for (const engine of ENGINES) {
  describe(`${engine}: upgrade`, () => upgrades(engine));
}

function upgrades(server: ServerEngine): void {
  const file = (addresses: readonly string[], parts: GatewayParts): Record<string, unknown> => ({
    ...gatewayFile(addresses, { ...parts, route: { upgrade: ['WebSocket'], ...parts.route } }),
    listeners: [{ address: '127.0.0.1:0', server, limits: parts.limits ?? {} }],
  });

  async function stage(t: TestContext, parts: GatewayParts = {}): Promise<Stage> {
    const raw = await startRawServer(t);
    const gateway = await startGateway(t, file([raw.address], parts));
    return { gateway, client: await gateway.connect(), server: raw };
  }

  async function open(t: TestContext, parts: GatewayParts = {}, behindHead = ''): Promise<Opened> {
    const { gateway, client, server: raw } = await stage(t, parts);
    await client.send(ASK, ['GET']);
    const peer = await raw.peer();
    await peer.until(() => peer.text.endsWith('\r\n\r\n'), 'the handshake');
    peer.send(SWITCH + behindHead);
    assert.equal((await client.head()).status, 101);
    return {
      gateway,
      client,
      server: raw,
      peer,
      said: () => afterHead(peer.text),
      heard: () => afterHead(client.received.toString('latin1')),
    };
  }

  test('a WebSocket client and server talk to each other, and close', async (t) => {
    const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    t.after(() => sockets.close());
    await new Promise((resolve) => sockets.once('listening', resolve));
    sockets.on('connection', (socket) =>
      socket.on('message', (data: Buffer) => socket.send(`echo ${data.toString()}`)),
    );
    const { port } = sockets.address() as { port: number };
    const gateway = await startGateway(t, file([`127.0.0.1:${port}`], {}));
    const client = new WebSocket(`ws://127.0.0.1:${gateway.port}/chat`);
    await new Promise((resolve, reject) => {
      client.once('open', resolve);
      client.once('error', reject);
    });
    const answer = new Promise<string>((resolve) => client.once('message', (data: Buffer) => resolve(data.toString())));
    client.send('hello');
    assert.equal(await answer, 'echo hello');
    const closed = new Promise<number>((resolve) => client.once('close', resolve));
    client.close(1000);
    assert.equal(await closed, 1000);
    const record = await gateway.record();
    assert.equal(record.status, 101);
    assert.equal(record.truncated, false);
    assert.deepEqual(record.flags, []);
  });

  test('the origin sees the handshake of the client, and the client the answer of the origin', async (t) => {
    const { peer, client } = await open(t);
    const head = peer.text.toLowerCase();
    assert.match(head, /\r\nconnection: upgrade\r\n/);
    assert.match(head, /\r\nupgrade: websocket\r\n/);
    assert.match(head, /\r\nsec-websocket-key: dghlihnhbxbszsbub25jzq==\r\n/);
    assert.doesNotMatch(head, /content-length|transfer-encoding/);
    const answer = client.received.toString('latin1').toLowerCase();
    assert.match(answer, /\r\nconnection: upgrade\r\n/);
    assert.match(answer, /\r\nupgrade: websocket\r\n/);
  });

  test('bytes that come right behind the 101 reach the client', async (t) => {
    const { client, heard } = await open(t, {}, 'first words');
    await client.waitFor(() => heard() === 'first words');
  });

  test('what the client says before the 101 is held until then', async (t) => {
    const { client, server: raw } = await stage(t);
    await client.send(`${ASK}too early`, ['GET']);
    const peer = await raw.peer();
    await peer.until(() => peer.text.includes('\r\n\r\n'), 'the handshake');
    await client.send(' and more');
    assert.equal(afterHead(peer.text), '');
    peer.send(SWITCH);
    await peer.until(() => afterHead(peer.text) === 'too early and more', 'the words of the client');
  });

  test('a client that said its last byte still hears the server', async (t) => {
    const { client, peer, said, heard, gateway } = await open(t);
    await client.send('bye');
    client.halfClose();
    await peer.until(() => peer.ending === 'fin', 'the end of the client');
    assert.equal(said(), 'bye');
    peer.send('late answer');
    peer.socket.end();
    assert.equal(await client.waitForEnd(), 'fin');
    assert.equal(heard(), 'late answer');
    const record = await gateway.record();
    assert.deepEqual([record.status, record.bytesIn, record.bytesOut, record.truncated], [101, 3, 11, false]);
    assert.deepEqual(record.flags, []);
  });

  test('a server that said its last byte still hears the client', async (t) => {
    const { client, peer, said, gateway } = await open(t);
    peer.socket.end('last');
    assert.equal(await client.waitForEnd(), 'fin');
    await client.send('still here');
    client.halfClose();
    await peer.until(() => peer.ending === 'fin', 'the end of the client');
    assert.equal(said(), 'still here');
    const record = await gateway.record();
    assert.deepEqual([record.bytesIn, record.bytesOut, record.truncated], [10, 4, false]);
    assert.deepEqual(record.flags, []);
  });

  test('a client that is reset is seen at the server', async (t) => {
    const { client, peer, gateway } = await open(t);
    client.reset();
    await peer.until(() => peer.ending, 'the end of the tunnel');
    const record = await gateway.record();
    assert.equal(record.status, 101);
    assert.deepEqual(record.flags, ['DC']);
  });

  test('a server that is reset is seen at the client, and in the record', async (t) => {
    const { client, peer, gateway } = await open(t);
    peer.socket.resetAndDestroy();
    await client.waitForEnd();
    const record = await gateway.record();
    assert.equal(record.truncated, true);
    assert.deepEqual(record.flags, ['UC']);
  });

  test('how a tunnel ends does not count against the endpoint', async (t) => {
    const {
      client,
      peer,
      gateway,
      server: raw,
    } = await open(t, {
      upstream: { outlierDetection: { consecutiveFailures: 1 }, circuitBreaker: { consecutiveFailures: 1 } },
    });
    peer.socket.resetAndDestroy();
    await client.waitForEnd();
    const next = await gateway.connect();
    await next.send(ASK, ['GET']);
    const second = await raw.peer(2);
    await second.until(() => second.text.endsWith('\r\n\r\n'), 'the next handshake');
    second.send(SWITCH);
    assert.equal((await next.head()).status, 101);
    next.reset();
    const record = await gateway.record(2);
    assert.deepEqual([record.status, record.attempts[0]?.panic], [101, undefined]);
  });

  test('a slow server holds the client back, and gets every byte', async (t) => {
    const { client, peer, gateway } = await open(t);
    peer.socket.pause();
    const sent = patternBytes(20_000_000);
    let taken = false;
    const sending = client.send(sent).then(() => {
      taken = true;
    });
    // A whole turn of the event loop and more: what fits into the buffers of the system is in them.
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(taken, false);
    peer.socket.resume();
    await sending;
    client.halfClose();
    await peer.until(() => peer.ending === 'fin', 'the end of the client');
    assert.ok(Buffer.from(afterHead(peer.text), 'latin1').equals(sent));
    peer.socket.end();
    assert.equal((await gateway.record()).bytesIn, sent.length);
  });

  test('a slow client holds the server back, and gets every byte', async (t) => {
    const { client, peer, gateway } = await open(t);
    client.pauseReading();
    const sent = patternBytes(20_000_000, 3);
    peer.socket.end(sent);
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.ok(peer.socket.writableLength > 0);
    client.resumeReading();
    assert.equal(await client.waitForEnd(), 'fin');
    const received = client.received;
    assert.ok(received.subarray(received.length - sent.length).equals(sent));
    client.halfClose();
    assert.equal((await gateway.record()).bytesOut, sent.length);
  });

  test('silence in both directions ends the tunnel after the idle timeout', async (t) => {
    const { client, peer, gateway } = await open(t, { route: { timeouts: { idle: '50ms' } } });
    await client.waitForEnd();
    await peer.until(() => peer.ending, 'the end of the tunnel');
    const record = await gateway.record();
    assert.deepEqual(record.flags, ['UT']);
    assert.equal(record.status, 101);
  });

  test('the request timeout does not end a tunnel', async (t) => {
    const { client, peer, heard, gateway } = await open(t, { route: { timeouts: { request: '100ms' } } });
    await new Promise((resolve) => setTimeout(resolve, 150));
    peer.send('alive');
    await client.waitFor(() => heard() === 'alive');
    client.reset();
    const record = await gateway.record();
    assert.ok(record.attempts[0]!.durationMs < record.durationMs - 100, 'the attempt was over when the tunnel began');
  });

  test('a handshake that meets a reset goes to another endpoint, and only one of them talks', async (t) => {
    const first = await startOrigin({ do: 'reset' }, { t });
    const second = await startRawServer(t);
    const gateway = await startGateway(
      t,
      file([first.address, second.address], {
        route: { retry: { attempts: 1, on: ['unsent', 'reset'], backoff: '1ms' } },
      }),
    );
    const client = await gateway.connect();
    await client.send(ASK, ['GET']);
    const peer = await second.peer();
    await peer.until(() => peer.text.endsWith('\r\n\r\n'), 'the handshake');
    peer.send(SWITCH);
    assert.equal((await client.head()).status, 101);
    client.reset();
    const record = await gateway.record();
    assert.equal(record.attempts.length, 2);
    assert.equal(first.requestCount(), 1);
    assert.equal(second.peers.length, 1);
  });

  test('a handshake without an answer runs into the timeouts, as any request', async (t) => {
    const { client, gateway } = await stage(t, { route: { timeouts: { request: '100ms' } } });
    await client.send(ASK, ['GET']);
    assert.equal((await client.response()).status, 504);
    assert.equal((await gateway.record()).status, 504);
  });

  test('an answer other than 101 is an ordinary response, and the connection carries the next request', async (t) => {
    const origin = await startOrigin({ do: 'respond', status: 426, headers: { 'X-Why': 'old' }, body: 'no' }, { t });
    const gateway = await startGateway(t, file([origin.address], {}));
    const client = await gateway.connect();
    await client.send(ASK, ['GET']);
    const answer = await client.response();
    assert.deepEqual([answer.status, answer.text, answer.value('x-why')], [426, 'no', 'old']);
    assert.equal((await client.request({ target: '/next' })).status, 426);
    assert.equal(origin.requestCount(), 2);
  });

  test('a 101 to another protocol than the one asked for ends in 502 and a closed connection', async (t) => {
    const { client, server: raw, gateway } = await stage(t);
    await client.send(ASK, ['GET']);
    const peer = await raw.peer();
    await peer.until(() => peer.text.endsWith('\r\n\r\n'), 'the handshake');
    peer.send('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
    assert.equal((await client.response()).status, 502);
    await peer.until(() => peer.ending, 'the end of the connection');
    assert.equal((await gateway.record()).attempts.length, 1);
  });

  test('a route that does not say so passes no Upgrade on', async (t) => {
    const origin = await startOrigin({ do: 'respond', body: 'plain' }, { t });
    const gateway = await startGateway(t, {
      ...gatewayFile([origin.address]),
      listeners: [{ address: '127.0.0.1:0', server }],
    });
    const client = await gateway.connect();
    await client.send(ASK, ['GET']);
    assert.equal((await client.response()).text, 'plain');
    const [request] = origin.journal.requests;
    assert.deepEqual(request?.values('upgrade'), []);
    assert.ok(!request.values('connection').some((value) => /upgrade/i.test(value)));
  });

  test('only the protocols of the route are offered to the origin', async (t) => {
    const { client, server: raw } = await stage(t);
    await client.send(ASK.replace('Upgrade: websocket', 'Upgrade: h2c, websocket, irc/6.9'), ['GET']);
    const peer = await raw.peer();
    await peer.until(() => peer.text.endsWith('\r\n\r\n'), 'the handshake');
    assert.deepEqual(/\r\nupgrade: (.*)\r\n/i.exec(peer.text)?.[1], 'websocket');
  });

  test('an Upgrade with a body is an ordinary request', async (t) => {
    const origin = await startOrigin({ do: 'respond', body: 'read' }, { t });
    const gateway = await startGateway(t, file([origin.address], {}));
    const client = await gateway.connect();
    await client.send(
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\n\r\nhello',
      ['POST'],
    );
    assert.equal((await client.response()).text, 'read');
    assert.equal(origin.journal.requests[0]?.bodyBytes, 5);
    assert.deepEqual(origin.journal.requests[0]?.values('upgrade'), []);
  });

  test('the connection of a tunnel is not used again', async (t) => {
    const { client, peer, server: raw, gateway } = await open(t);
    client.halfClose();
    await peer.until(() => peer.ending === 'fin', 'the end of the client');
    peer.socket.end();
    await gateway.record();
    const next = await gateway.connect();
    void next.sendRequest({});
    const second = await raw.peer(2);
    await second.until(() => second.text.endsWith('\r\n\r\n'), 'the next request');
    assert.equal(raw.peers.length, 2);
  });

  test('closing the gateway closes both ends of a tunnel, and the record says why', async (t) => {
    const { client, peer, gateway } = await open(t);
    await gateway.close();
    await client.waitForEnd();
    await peer.until(() => peer.ending, 'the end of the tunnel');
    const record = await gateway.record();
    assert.equal(record.truncated, true);
    assert.match(record.error ?? '', /the process ended before the request did/);
  });
}
