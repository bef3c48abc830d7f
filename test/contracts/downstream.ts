import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import type { ListenerEngine, ListenerLimits } from '../../src/proxy/downstream.ts';
import type { ProxyHooks } from '../../src/proxy/phases.ts';
import type { Proxy } from '../../src/proxy/proxy.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { createTestCertificates } from '../support/certificates.ts';
import type { OriginScript, ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { connectRaw } from '../support/raw-client.ts';
import { malformedRequests } from '../support/malformed.ts';
import { patternBytes } from '../support/fields.ts';

interface Stage {
  readonly port: number;
  readonly origin: ScriptedOrigin;
  readonly proxy: Proxy;
  readonly records: AccessRecord[];
}

/**
 * What `node:http` reads leniently and hands on without a trace. It is harmless for us, for every request is written
 * anew; our own listener refuses it.
 */
const READ_LENIENTLY: Readonly<Record<ListenerEngine, readonly string[]>> = {
  own: [],
  node: ['two spaces before the target'],
};

/** What every listener must do for the proxy behind it, whoever reads the bytes. */
export function downstreamContract(server: ListenerEngine, encrypted = false): void {
  const certificates = encrypted ? createTestCertificates() : undefined;
  const ca = certificates?.ca;
  const tls = certificates === undefined ? undefined : { certificates: [{ hosts: [], ...certificates.server }] };
  const listener = encrypted ? `${server} over TLS` : server;

  async function stage(
    t: TestContext,
    script: OriginScript,
    options: { readonly limits?: Partial<ListenerLimits>; readonly hooks?: ProxyHooks<undefined> } = {},
  ): Promise<Stage> {
    const origin = await startOrigin(script);
    const records: AccessRecord[] = [];
    const proxy = createProxy(
      { selectUpstream: () => origin.address, ...options.hooks },
      { limits: options.limits, onRecord: (record) => void records.push(record) },
    );
    const { address } = await proxy.listen('127.0.0.1:0', { server, tls });
    t.after(async () => {
      await proxy.close();
      await origin.close();
    });
    return { port: address.port, origin, proxy, records };
  }

  describe(`${listener}: requests`, () => {
    test('two requests on one connection are answered one after the other', async (t) => {
      const { port, origin } = await stage(t, [
        { do: 'respond', body: 'one' },
        { do: 'respond', body: 'two' },
      ]);
      const client = await connectRaw(port, { t, ca });
      assert.equal((await client.request({ target: '/1' })).text, 'one');
      assert.equal((await client.request({ target: '/2' })).text, 'two');
      assert.equal(origin.requestCount(), 2);
    });

    test('pipelined requests are answered in their order', async (t) => {
      const { port } = await stage(t, (request) => ({ do: 'respond', body: request.target }));
      const client = await connectRaw(port, { t, ca });
      const one = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
      await client.send(one('/a') + one('/b') + one('/c'), ['GET', 'GET', 'GET']);
      const texts = [(await client.response()).text, (await client.response()).text, (await client.response()).text];
      assert.deepEqual(texts, ['/a', '/b', '/c']);
    });

    test('a request that arrives byte by byte is read', async (t) => {
      const { port, origin } = await stage(t, { do: 'respond', body: 'ok' });
      const client = await connectRaw(port, { t, ca });
      await client.sendPieces('PUT /p HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc', 1);
      assert.equal((await client.response()).text, 'ok');
      assert.equal(origin.journal.requests[0]?.bodyBytes, 3);
    });

    test('a body that comes with its head reaches the upstream whole', async (t) => {
      const { port, origin } = await stage(t, { do: 'respond' });
      const body = patternBytes(3000);
      const client = await connectRaw(port, { t, ca });
      await client.request({ method: 'POST', body });
      assert.equal(origin.journal.requests[0]?.bodyBytes, 3000);
      assert.equal(origin.journal.requests[0]?.complete, true);
    });

    test('a large chunked body streams through unchanged, trailers included', async (t) => {
      const { port, origin } = await stage(t, { do: 'respond' });
      const pieces = Array.from({ length: 50 }, (_, i) => patternBytes(10_000, i));
      const client = await connectRaw(port, { t, ca });
      const answer = await client.request({ method: 'PUT', body: pieces, trailers: { 'X-Sum': 'abc' } });
      assert.equal(answer.status, 200);
      assert.equal(origin.journal.requests[0]?.bodyBytes, 500_000);
    });

    test('HEAD keeps the declared length and has no body', async (t) => {
      const { port } = await stage(t, { do: 'respond', headers: { 'Content-Length': '1234' }, framing: 'none' });
      const client = await connectRaw(port, { t, ca });
      const answer = await client.request({ method: 'HEAD' });
      assert.equal(answer.value('content-length'), '1234');
      assert.equal(answer.value('transfer-encoding'), undefined);
      assert.equal(answer.body.length, 0);
    });

    test('an HTTP/1.0 client gets a body delimited by the close', async (t) => {
      const { port } = await stage(t, { do: 'respond', body: 'hello', framing: 'chunked' });
      const client = await connectRaw(port, { t, ca });
      await client.send('GET / HTTP/1.0\r\n\r\n');
      const answer = await client.response();
      assert.equal(answer.text, 'hello');
      assert.equal(answer.value('transfer-encoding'), undefined);
      assert.equal(await client.waitForEnd(), 'fin');
    });

    test('an answer that is cut behind its head still shows the head', async (t) => {
      const { port } = await stage(t, { do: 'respond', body: 'hello', cut: { bodyBytes: 0 }, then: 'destroy' });
      const client = await connectRaw(port, { t, ca });
      await client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      assert.equal((await client.head()).status, 200);
      await client.waitForEnd();
    });

    test('an HTTP/1.0 client sees that a body without a length was cut', async (t) => {
      const { port, origin } = await stage(t, {
        do: 'respond',
        body: 'hello world',
        framing: 'chunked',
        bodyGate: 'head arrived',
        cut: { bodyBytes: 8 },
        then: 'destroy',
      });
      const client = await connectRaw(port, { t, ca });
      await client.send('GET / HTTP/1.0\r\n\r\n');
      await client.head();
      origin.open('head arrived');
      assert.equal(await client.waitForEnd(), 'reset');
    });

    test('a client that waits for 100 gets it once, then the answer', async (t) => {
      const { port, origin } = await stage(t, { do: 'respond', interim: [{ status: 100 }], body: 'done' });
      const client = await connectRaw(port, { t, ca });
      await client.send('POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n', ['POST']);
      await client.waitFor(() => client.interim.length > 0);
      await client.send('hello', []);
      assert.equal((await client.response()).text, 'done');
      assert.deepEqual(
        client.interim.map((head) => head.status),
        [100],
      );
      assert.equal(origin.requestCount(), 1);
    });

    test('103 is passed on before the answer', async (t) => {
      const { port } = await stage(t, {
        do: 'respond',
        interim: [{ status: 103, headers: { Link: '</a.css>; rel=preload' } }],
        body: 'ok',
      });
      const client = await connectRaw(port, { t, ca });
      const answer = await client.request({});
      assert.deepEqual(
        answer.interim.map((head) => head.status),
        [103],
      );
      assert.equal(answer.text, 'ok');
    });

    test('CONNECT is refused', async (t) => {
      const { port, origin } = await stage(t, { do: 'respond' });
      const client = await connectRaw(port, { t, ca });
      await client.send('CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', ['CONNECT']);
      assert.equal((await client.response()).status, 405);
      assert.equal(origin.requestCount(), 0);
    });
  });

  describe(`${listener}: bad input`, () => {
    for (const { name, bytes } of malformedRequests) {
      if (READ_LENIENTLY[server].includes(name)) continue;
      test(`${name} is refused with a 4xx or 5xx, closed, and reaches no origin`, async (t) => {
        const { port, origin } = await stage(t, { do: 'respond' });
        const client = await connectRaw(port, { t, ca });
        await client.send(bytes);
        const answer = await client.response();
        assert.ok(answer.status >= 400, `status ${answer.status}`);
        await client.waitForEnd();
        assert.equal(client.responses.length, 1);
        assert.equal(origin.journal.requests.filter((request) => request.complete).length, 0);
      });
    }

    test('a refused request leaves a record', async (t) => {
      const { port, records } = await stage(t, { do: 'respond' });
      const client = await connectRaw(port, { t, ca });
      await client.send('GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n');
      const answer = await client.response();
      assert.equal(answer.status, 400);
      assert.equal(records[0]?.status, 400);
      assert.deepEqual(records[0]?.flags, ['DPE']);
      assert.equal(records[0]?.error, JSON.parse(answer.text).detail);
    });

    test('a CONNECT that opens no tunnel says so in its record', async (t) => {
      const { port, records } = await stage(t, { do: 'respond' });
      const client = await connectRaw(port, { t, ca });
      await client.send('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', ['CONNECT']);
      assert.equal((await client.response()).status, 405);
      assert.equal(records[0]?.error, 'No tunnel is opened here.');
    });

    test('a head larger than the limit is answered 431', async (t) => {
      const { port, origin } = await stage(t, { do: 'respond' }, { limits: { headerBytes: 4096 } });
      const client = await connectRaw(port, { t, ca });
      await client.send(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(5000)}\r\n\r\n`);
      assert.equal((await client.response()).status, 431);
      assert.equal(origin.requestCount(), 0);
    });

    test('a head that does not end in time is answered 408 and closed', async (t) => {
      const { port, origin } = await stage(t, { do: 'respond' }, { limits: { headerTimeoutMs: 100 } });
      const client = await connectRaw(port, { t, ca });
      await client.send('GET / HTTP/1.1\r\nHost:');
      assert.equal((await client.response()).status, 408);
      await client.waitForEnd();
      assert.equal(origin.requestCount(), 0);
    });

    test('a body that stands still is given up and never counts against the upstream', async (t) => {
      const { port, origin, records } = await stage(t, { do: 'respond' }, { limits: { bodyIdleMs: 100 } });
      const client = await connectRaw(port, { t, ca });
      await client.send('PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc', ['PUT']);
      assert.equal((await client.response()).status, 408);
      await client.waitForEnd();
      assert.deepEqual(records[0]?.flags, ['DPE']);
      assert.equal(origin.journal.requests.filter((request) => request.complete).length, 0);
    });

    test('an idle connection is closed without an answer', async (t) => {
      const { port } = await stage(t, { do: 'respond' }, { limits: { keepAliveMs: 50, headerTimeoutMs: 50 } });
      const client = await connectRaw(port, { t, ca });
      await client.request({});
      await client.waitForEnd();
      assert.equal(client.responses.length, 1);
    });
  });

  describe(`${listener}: ends`, () => {
    test('a client that closes its side with the request is still answered', async (t) => {
      const { port } = await stage(t, { do: 'respond', delayMs: 60, body: 'still' });
      const client = await connectRaw(port, { t, ca });
      void client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      client.halfClose();
      assert.equal((await client.response()).text, 'still');
    });

    test('a client that leaves while it waits takes the upstream request with it', async (t) => {
      const { port, origin, records } = await stage(t, { do: 'hang' });
      const client = await connectRaw(port, { t, ca });
      await client.sendRequest({});
      await origin.waitFor((journal) => journal.requests.length === 1);
      client.reset();
      await origin.waitFor((journal) => journal.connections[0]?.closedAtMs !== undefined);
      assert.equal(records[0]?.status, 499);
      assert.deepEqual(records[0]?.flags, ['DC']);
      assert.equal(origin.requestCount(), 1);
    });

    test('a client that leaves within the response stops the upstream', async (t) => {
      const { port, origin, records } = await stage(t, { do: 'endless' });
      const client = await connectRaw(port, { t, ca });
      await client.sendRequest({});
      await client.waitForBytes(10_000);
      client.destroy();
      await origin.waitFor((journal) => journal.connections[0]?.closedAtMs !== undefined);
      assert.equal(records[0]?.status, 200);
      assert.deepEqual(records[0]?.flags, ['DC']);
    });

    test('a truncated response is visibly cut', async (t) => {
      const { port } = await stage(t, {
        do: 'respond',
        declaredBytes: 100,
        body: 'only this',
        then: 'reset',
      });
      const client = await connectRaw(port, { t, ca });
      await client.sendRequest({});
      const answer = await client.response();
      assert.equal(answer.complete, false);
      assert.notEqual(answer.ending, undefined);
    });

    test('a truncated chunked response gets no last chunk', async (t) => {
      const { port } = await stage(t, {
        do: 'raw',
        bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
        then: 'close',
      });
      const client = await connectRaw(port, { t, ca });
      await client.sendRequest({});
      const answer = await client.response();
      assert.equal(answer.text, 'hello');
      assert.equal(answer.complete, false);
    });

    test('an early answer to a large upload is delivered whole', async (t) => {
      const { port } = await stage(t, {
        do: 'respond',
        at: 'head',
        status: 413,
        headers: { Connection: 'close' },
        body: 'too much',
        then: 'destroy',
      });
      const client = await connectRaw(port, { t, ca });
      void client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n', ['POST']);
      for (let i = 0; i < 100 && client.responses.length === 0 && client.ending === undefined; i += 1) {
        await client.send(patternBytes(100_000), []);
      }
      const answer = await client.response();
      assert.equal(answer.status, 413);
      assert.equal(answer.text, 'too much');
    });

    test('a slow reader gets every byte', async (t) => {
      const body = patternBytes(3_000_000);
      const { port } = await stage(t, { do: 'respond', body, framing: 'chunked' });
      const client = await connectRaw(port, { t, ca });
      client.pauseReading();
      await client.sendRequest({});
      for (let i = 0; i < 20; i += 1) {
        client.resumeReading();
        await client.waitForBytes(Math.min(3_000_000, client.receivedBytes + 1));
        client.pauseReading();
      }
      client.resumeReading();
      const answer = await client.response();
      assert.equal(answer.body.equals(body), true);
    });

    test('a client that takes nothing is given up, and the upstream with it', async (t) => {
      const { port, origin, proxy } = await stage(t, { do: 'endless' }, { limits: { bodyIdleMs: 100 } });
      const client = await connectRaw(port, { t, ca });
      client.pauseReading();
      await client.sendRequest({});
      await origin.waitForRequest();
      await origin.waitForNoConnection();
      assert.equal(proxy.inflightCount, 0);
    });

    test('drain closes idle connections, lets the running request end and says close', async (t) => {
      const { port, origin, proxy } = await stage(t, { do: 'respond', gate: 'go', body: 'last' });
      const idle = await connectRaw(port, { t, ca });
      const busy = await connectRaw(port, { t, ca });
      await busy.sendRequest({});
      await origin.waitFor((journal) => journal.requests.length === 1);
      const drained = proxy.drain(10_000);
      await idle.waitForEnd();
      origin.open('go');
      const answer = await busy.response();
      assert.equal(answer.text, 'last');
      assert.equal(answer.value('connection'), 'close');
      assert.equal(await drained, true);
      await busy.waitForEnd();
    });

    test('a filter that throws answers 500 and the next request is served', async (t) => {
      let calls = 0;
      const { port, records } = await stage(
        t,
        { do: 'respond', body: 'fine' },
        {
          hooks: {
            requestFilter() {
              calls += 1;
              if (calls === 1) throw new Error('bug in a filter');
            },
          },
        },
      );
      const client = await connectRaw(port, { t, ca });
      assert.equal((await client.request({})).status, 500);
      assert.equal((await client.request({})).text, 'fine');
      assert.match(records[0]?.error ?? '', /bug in a filter/);
    });
  });
}
