import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { ListenerLimits } from '../../src/proxy/downstream.ts';
import type { Proxy } from '../../src/proxy/proxy.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { ask, begin, connectHttp2 } from '../support/http2-client.ts';
import { flood, floods } from '../support/http2-floods.ts';
import {
  connectFrames,
  endHeaders,
  endStream,
  frame,
  frameTypes,
  number32,
  preface,
  requestBlock,
} from '../support/http2-frames.ts';
import { createSignal } from '../support/signal.ts';
import type { OriginScript, ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';

/** A bound, so that a server that never has enough fails the test. */
const BATCH_COUNT = 200;

interface Stage {
  readonly port: number;
  readonly proxy: Proxy;
  readonly origin: ScriptedOrigin;
  /** Resolves when a connection was refused. */
  refusal(): Promise<readonly string[]>;
}

async function stage(t: TestContext, script: OriginScript, limits: Partial<ListenerLimits> = {}): Promise<Stage> {
  const origin = await startOrigin(script);
  const signal = createSignal();
  const proxy = createProxy({ selectUpstream: () => origin.address }, { limits, diagnostics: () => signal.changed() });
  const listener = await proxy.listen('127.0.0.1:0');
  t.after(async () => {
    await proxy.close();
    await origin.close();
  });
  const refusal = (): Promise<readonly string[]> =>
    signal.until(() => proxy.refusedConnectionCounts.size > 0 && [...proxy.refusedConnectionCounts.keys()], {
      what: 'a refused connection',
    });
  return { port: listener.address.port, proxy, origin, refusal };
}

describe('HTTP/2 floods', () => {
  for (const probe of floods) {
    test(`${probe.name}: the connection is closed and counted, others are served`, async (t) => {
      const { port, refusal } = await stage(t, { do: 'respond', body: 'served' });
      const other = connectHttp2(port, { t });
      assert.equal((await ask(other)).text, 'served');
      const attacker = await connectFrames(port, { t });
      await flood(attacker, probe, BATCH_COUNT);
      await attacker.waitForClose();
      assert.deepEqual(await refusal(), [probe.reason]);
      assert.equal((await ask(other)).text, 'served');
      other.destroy();
      attacker.destroy();
    });
  }

  test('a client that resets many requests among many that it lets end is served on', async (t) => {
    const { port, proxy } = await stage(t, { do: 'respond', body: 'ok' });
    const client = connectHttp2(port, { t });
    for (let round = 0; round < 300; round += 1) {
      const reset = begin(client);
      reset.close(8);
      assert.equal((await ask(client)).text, 'ok');
    }
    assert.equal(proxy.refusedConnectionCounts.size, 0);
    client.destroy();
  });

  test('rapid resets reach the origin no oftener than their allowance', async (t) => {
    const { port, origin } = await stage(t, { do: 'hang' });
    const attacker = await connectFrames(port, { t });
    await flood(attacker, floods[0]!, BATCH_COUNT);
    await attacker.waitForClose();
    await origin.waitForNoConnection();
    assert.ok(origin.requestCount() <= 101, `${origin.requestCount()} requests`);
    attacker.destroy();
  });

  test('streams beyond maxStreams are reset as not processed, and the others go on', async (t) => {
    const { port, origin } = await stage(t, { do: 'respond', gate: 'go', body: 'ok' }, { maxStreams: 2 });
    const client = await connectFrames(port, { t });
    for (const id of [1, 3, 5])
      await client.send(frame(frameTypes.headers, endHeaders | endStream, id, requestBlock('GET', '/')));
    await client.waitFor(() => client.resetCode(5) !== undefined, 'the third stream to be reset');
    assert.equal(client.resetCode(5), 7);
    origin.open('go');
    assert.deepEqual([await client.status(1), await client.status(3)], [200, 200]);
    client.destroy();
  });

  test('readers that open no window are given up, and hold no more than a piece each', async (t) => {
    const { port, origin, proxy } = await stage(t, { do: 'endless' }, { bodyIdleMs: 200 });
    const client = await connectFrames(port, { t });
    const noWindow = Buffer.concat([Buffer.from([0, 4]), number32(0)]);
    await client.send(frame(frameTypes.settings, 0, 0, noWindow));
    for (let id = 1; id < 41; id += 2)
      await client.send(frame(frameTypes.headers, endHeaders | endStream, id, requestBlock('GET', '/')));
    await origin.waitFor((journal) => journal.requests.length === 20);
    await client.waitFor(() => client.resetCode(39) !== undefined, 'the last stream to be reset');
    await origin.waitForNoConnection();
    assert.equal(proxy.inflightCount, 0);
    client.destroy();
  });

  test('a client that reads nothing at all is closed', async (t) => {
    const { port, origin, proxy } = await stage(t, { do: 'endless' }, { bodyIdleMs: 200, keepAliveMs: 200 });
    const client = await connectFrames(port, { t });
    client.pauseReading();
    const window = frame(frameTypes.windowUpdate, 0, 0, number32(0x7fff0000));
    const wide = frame(frameTypes.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), number32(0x7fffffff)]));
    await client.send(wide, window, frame(frameTypes.headers, endHeaders | endStream, 1, requestBlock('GET', '/')));
    await origin.waitForRequest();
    await origin.waitForNoConnection();
    await client.waitFor(() => proxy.inflightCount === 0, 'the end of the request');
    client.destroy();
  });
});

describe('HTTP/2: slow heads', () => {
  const limits = { headerTimeoutMs: 100 };
  const cases: readonly (readonly [string, readonly Uint8Array[]])[] = [
    ['a preface that does not end', [preface.subarray(0, 10)]],
    ['a preface without SETTINGS', [preface]],
    [
      'a head that its last frame does not follow',
      [preface, frame(frameTypes.settings, 0, 0), frame(frameTypes.headers, endStream, 1, requestBlock('GET', '/'))],
    ],
    [
      'a head whose frame does not end',
      [
        preface,
        frame(frameTypes.settings, 0, 0),
        frame(frameTypes.headers, endStream | endHeaders, 1, requestBlock('GET', '/')).subarray(0, 15),
      ],
    ],
  ];
  for (const [name, bytes] of cases) {
    test(`${name} closes the connection`, async (t) => {
      const { port, origin } = await stage(t, { do: 'respond' }, limits);
      const client = await connectFrames(port, { t, silent: true });
      await client.send(...bytes);
      await client.waitForClose();
      assert.equal(origin.requestCount(), 0);
      client.destroy();
    });
  }

  test('a preface in pieces is recognised', async (t) => {
    const { port } = await stage(t, { do: 'respond' });
    const client = await connectFrames(port, { t, silent: true });
    const head = frame(frameTypes.headers, endStream | endHeaders, 1, requestBlock('GET', '/'));
    for (const byte of Buffer.concat([preface, frame(frameTypes.settings, 0, 0), head])) {
      await client.send(Buffer.from([byte]));
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    assert.equal(await client.status(1), 200);
    client.destroy();
  });

  test('what begins like the preface and goes on differently is HTTP/1.1', async (t) => {
    const { port } = await stage(t, { do: 'respond' });
    const client = await connectFrames(port, { t, silent: true });
    await client.send(Buffer.from('PRI * HTTP/2.0\r\n\r\nSMALL', 'latin1'));
    await client.waitForClose();
    client.destroy();
  });

  test('an idle connection leaves nothing behind when its client goes', async (t) => {
    const { port } = await stage(t, { do: 'respond' });
    const client = connectHttp2(port, { t });
    await ask(client);
    client.close();
    await once(client, 'close');
  });
});
