import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientHttp2Session } from 'node:http2';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import type { ListenerEngine, ListenerLimits } from '../../src/proxy/downstream.ts';
import type { ProxyHooks } from '../../src/proxy/phases.ts';
import type { Proxy } from '../../src/proxy/proxy.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { createTestCertificates } from '../support/certificates.ts';
import { patternBytes } from '../support/fields.ts';
import { answerOf, ask, begin, connectHttp2 } from '../support/http2-client.ts';
import { connectFrames, endHeaders, frame, frameTypes, number32, requestBlock } from '../support/http2-frames.ts';
import { createSignal } from '../support/signal.ts';
import type { OriginScript, ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';

interface Stage {
  readonly origin: ScriptedOrigin;
  readonly proxy: Proxy;
  readonly port: number;
  /** Undefined: not encrypted. */
  readonly ca: string | undefined;
  readonly client: ClientHttp2Session;
  readonly records: readonly AccessRecord[];
  record(): Promise<AccessRecord>;
}

/** What every listener must do for the proxy behind it, as far as HTTP/2 has it: see `downstream.ts` for HTTP/1.1. */
export function http2DownstreamContract(name: string, server: ListenerEngine, encrypted: boolean): void {
  async function stage(
    t: TestContext,
    script: OriginScript,
    options: { readonly limits?: Partial<ListenerLimits>; readonly hooks?: ProxyHooks<undefined> } = {},
  ): Promise<Stage> {
    const certificates = encrypted ? createTestCertificates() : undefined;
    const origin = await startOrigin(script);
    const records: AccessRecord[] = [];
    const signal = createSignal();
    const proxy = createProxy(
      { selectUpstream: () => origin.address, ...options.hooks },
      {
        limits: options.limits,
        onRecord(record) {
          records.push(record);
          signal.changed();
        },
      },
    );
    const tls = certificates === undefined ? undefined : { certificates: [{ hosts: [], ...certificates.server }] };
    const listener = await proxy.listen('127.0.0.1:0', { server, tls });
    const { port } = listener.address;
    const client = connectHttp2(port, certificates === undefined ? { t } : { t, ca: certificates.ca });
    t.after(async () => {
      client.destroy();
      await proxy.close();
      await origin.close();
    });
    const record = (): Promise<AccessRecord> => signal.until(() => records[0], { what: 'the record' });
    return { origin, proxy, port, ca: certificates?.ca, client, records, record };
  }

  describe(`${name}: requests`, () => {
    test('requests of one connection are answered side by side', async (t) => {
      const { client, origin } = await stage(t, (request) =>
        request.target === '/slow' ? { do: 'respond', gate: 'go', body: 'slow' } : { do: 'respond', body: 'fast' },
      );
      const slow = ask(client, { path: '/slow' });
      assert.equal((await ask(client, { path: '/fast' })).text, 'fast');
      origin.open('go');
      assert.equal((await slow).text, 'slow');
    });

    test('a body that comes with its head reaches the upstream whole', async (t) => {
      const { client, origin } = await stage(t, { do: 'respond' });
      assert.equal((await ask(client, { method: 'POST', body: patternBytes(3000) })).status, 200);
      assert.equal(origin.request().bodyBytes, 3000);
      assert.equal(origin.request().complete, true);
    });

    test('a large body streams through unchanged, trailers included', async (t) => {
      const { client, origin } = await stage(t, { do: 'respond' });
      const body = patternBytes(500_000);
      const answer = await ask(client, { method: 'PUT', body, trailers: { 'x-sum': 'abc' } });
      assert.equal(answer.status, 200);
      assert.equal(origin.request().body.equals(body), true);
      assert.deepEqual(origin.request().trailers, ['x-sum', 'abc']);
    });

    test('trailers that come while a filter still thinks are not lost', async (t) => {
      const { client, origin } = await stage(
        t,
        { do: 'respond' },
        { hooks: { requestFilter: () => new Promise((resolve) => setImmediate(() => setImmediate(resolve))) } },
      );
      await ask(client, { method: 'PUT', body: 'body', trailers: { 'x-sum': 'abc' } });
      assert.deepEqual(origin.request().trailers, ['x-sum', 'abc']);
    });

    test('an answer whose status forbids content has none, whatever the upstream sent', async (t) => {
      const { client } = await stage(t, { do: 'respond', status: 205, body: 'reset!' });
      const answer = await ask(client);
      assert.deepEqual([answer.status, answer.text, answer.resetCode], [205, '', 0]);
    });

    test('a declared length is kept', async (t) => {
      const { client, origin } = await stage(t, { do: 'respond' });
      await ask(client, { method: 'PUT', body: 'hello', fields: { 'content-length': '5' } });
      assert.deepEqual(origin.request().values('content-length'), ['5']);
      assert.equal(origin.request().framing, 'length');
    });

    test('HEAD keeps the declared length and has no body', async (t) => {
      const { client } = await stage(t, { do: 'respond', headers: { 'Content-Length': '1234' }, framing: 'none' });
      const answer = await ask(client, { method: 'HEAD' });
      assert.equal(answer.fields['content-length'], '1234');
      assert.equal(answer.body.length, 0);
      assert.equal(answer.resetCode, 0);
    });

    test('fields of the connection do not cross, and names are in lower case', async (t) => {
      const { client } = await stage(t, {
        do: 'respond',
        headers: { 'X-Mixed-Case': 'Yes', 'Keep-Alive': 'timeout=5', Connection: 'keep-alive' },
        framing: 'chunked',
        body: 'ok',
      });
      const answer = await ask(client);
      assert.equal(answer.fields['x-mixed-case'], 'Yes');
      for (const field of ['connection', 'keep-alive', 'transfer-encoding'])
        assert.equal(field in answer.fields, false);
    });

    test('trailers of the answer arrive', async (t) => {
      const { client } = await stage(t, {
        do: 'raw',
        bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n',
      });
      const answer = await ask(client);
      assert.equal(answer.text, 'hello');
      assert.equal(answer.trailers['x-sum'], 'abc');
    });

    test('a client that waits for 100 gets it once, then the answer', async (t) => {
      const { client, origin } = await stage(t, { do: 'respond', interim: [{ status: 100 }], body: 'done' });
      const stream = client.request({ ':method': 'POST', ':path': '/', expect: '100-continue' }, { endStream: false });
      const answer = answerOf(stream);
      await once(stream, 'continue');
      stream.end('hello');
      assert.equal((await answer).text, 'done');
      assert.deepEqual((await answer).interim, [100]);
      assert.equal(origin.request().bodyBytes, 5);
    });

    test('103 is passed on before the answer', async (t) => {
      const { client } = await stage(t, {
        do: 'respond',
        interim: [{ status: 103, headers: { Link: '</a.css>; rel=preload' } }],
        body: 'ok',
      });
      const answer = await ask(client);
      assert.deepEqual(answer.interim, [103]);
      assert.equal(answer.text, 'ok');
    });
  });

  describe(`${name}: ends`, () => {
    test('a stream that is reset while it waits takes the upstream request with it', async (t) => {
      const { client, origin, record } = await stage(t, { do: 'hang' });
      const stream = begin(client);
      await origin.waitForRequest();
      stream.close(8);
      await origin.waitForNoConnection();
      const { status, flags } = await record();
      assert.equal(status, 499);
      assert.deepEqual(flags, ['DC']);
      assert.equal(origin.requestCount(), 1);
    });

    test('a connection that breaks takes all its upstream requests with it', async (t) => {
      const { client, origin, record } = await stage(t, { do: 'hang' });
      begin(client);
      begin(client, { method: 'PUT', body: 'abc' });
      await origin.waitFor((journal) => journal.requests.length === 2);
      client.destroy();
      await origin.waitForNoConnection();
      assert.equal((await record()).status, 499);
    });

    test('a stream that is reset within its upload leaves an incomplete request and no second one', async (t) => {
      const { port, ca, origin, record } = await stage(t, { do: 'respond' });
      // Node's client ends the upload before it resets the stream.
      const client = await connectFrames(port, ca === undefined ? { t } : { t, ca });
      await client.send(
        frame(frameTypes.headers, endHeaders, 1, requestBlock('PUT', '/')),
        frame(frameTypes.data, 0, 1, Buffer.from('abc')),
      );
      await origin.waitFor((journal) => journal.requests[0]?.bodyBytes === 3);
      await client.send(frame(frameTypes.resetStream, 0, 1, number32(8)));
      await origin.waitForNoConnection();
      assert.deepEqual([origin.requestCount(), origin.request().complete], [1, false]);
      assert.equal((await record()).status, 499);
      client.destroy();
    });

    test('a stream that is reset within the response stops the upstream', async (t) => {
      const { client, origin, record } = await stage(t, { do: 'endless' });
      const stream = begin(client);
      await once(stream, 'data');
      stream.close(8);
      await origin.waitForNoConnection();
      const { status, flags } = await record();
      assert.equal(status, 200);
      assert.deepEqual(flags, ['DC']);
    });

    test('a truncated response is reset with INTERNAL_ERROR', async (t) => {
      const { client, record } = await stage(t, {
        do: 'raw',
        bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
        then: 'close',
      });
      assert.equal((await ask(client)).resetCode, 2);
      assert.equal((await record()).truncated, true);
      assert.equal((await ask(client)).resetCode, 2, 'the connection lives on');
    });

    test('an early answer to a large upload is delivered whole, and stops the upload without an error', async (t) => {
      const body = patternBytes(200_000);
      const { client } = await stage(t, {
        do: 'respond',
        at: 'head',
        status: 413,
        body,
      });
      const stream = client.request({ ':method': 'POST', ':path': '/' }, { endStream: false });
      stream.on('error', () => {});
      stream.write(patternBytes(1_000_000));
      const answer = await answerOf(stream);
      assert.equal(answer.status, 413);
      assert.equal(answer.body.equals(body), true);
      assert.equal(answer.resetCode, 0);
    });

    test('an early answer without a length stops the upload behind its last byte, too', async (t) => {
      const { client } = await stage(t, {
        do: 'respond',
        at: 'head',
        status: 403,
        framing: 'chunked',
        body: 'no',
      });
      const stream = client.request({ ':method': 'POST', ':path': '/' }, { endStream: false });
      stream.on('error', () => {});
      stream.write(patternBytes(1_000_000));
      const answer = await answerOf(stream);
      assert.deepEqual([answer.status, answer.text, answer.resetCode], [403, 'no', 0]);
    });

    test('a slow reader gets every byte', async (t) => {
      const body = patternBytes(3_000_000);
      const { client } = await stage(t, { do: 'respond', body, framing: 'chunked' });
      const stream = begin(client);
      const pieces: Buffer[] = [];
      const ended = once(stream, 'end');
      stream.on('data', (piece: Buffer) => {
        pieces.push(piece);
        stream.pause();
        setImmediate(() => stream.resume());
      });
      await ended;
      assert.equal(Buffer.concat(pieces).equals(body), true);
    });

    test('a client that takes nothing is given up', async (t) => {
      const { client, origin, record } = await stage(t, { do: 'endless' }, { limits: { bodyIdleMs: 100 } });
      const stream = begin(client);
      await once(stream, 'response');
      await origin.waitForNoConnection();
      assert.equal((await record()).truncated, true);
      stream.resume();
      await once(stream, 'close');
      assert.equal(stream.rstCode, 8);
    });

    test('a body that stands still is given up and never counts against the upstream', async (t) => {
      const { client, origin, record } = await stage(t, { do: 'respond' }, { limits: { bodyIdleMs: 100 } });
      const stream = client.request({ ':method': 'PUT', ':path': '/' }, { endStream: false });
      stream.on('error', () => {});
      stream.write('abc');
      assert.equal((await answerOf(stream)).status, 408);
      assert.deepEqual((await record()).flags, ['DPE']);
      assert.equal(origin.journal.requests.filter((request) => request.complete).length, 0);
    });

    test('a connection without a request is closed with GOAWAY', async (t) => {
      const { client } = await stage(t, { do: 'respond' }, { limits: { keepAliveMs: 50 } });
      const [code] = (await once(client, 'goaway')) as [number];
      assert.equal(code, 0);
      if (!client.closed) await once(client, 'close');
    });

    test('drain says GOAWAY and lets the running request end', async (t) => {
      const { client, origin, proxy } = await stage(t, { do: 'respond', gate: 'go', body: 'last' });
      const running = ask(client);
      await origin.waitForRequest();
      const drained = proxy.drain(10_000);
      const [code] = (await once(client, 'goaway')) as [number];
      origin.open('go');
      const answer = await running;
      assert.deepEqual([code, answer.text, answer.resetCode], [0, 'last', 0]);
      assert.equal(await drained, true);
      if (!client.destroyed) await once(client, 'close');
    });

    test('a process that stops answers what has no answer', async (t) => {
      const { client, origin, proxy } = await stage(t, { do: 'hang' });
      const running = ask(client);
      await origin.waitForRequest();
      await proxy.close();
      assert.equal((await running).status, 503);
    });

    test('a filter that throws answers 500 and the next request is served', async (t) => {
      let calls = 0;
      const { client, records } = await stage(
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
      assert.equal((await ask(client)).status, 500);
      assert.equal((await ask(client)).text, 'fine');
      assert.match(records[0]?.error ?? '', /bug in a filter/);
    });

    test('a field that would split a message is not sent', async (t) => {
      const { client } = await stage(
        t,
        { do: 'respond', body: 'fine' },
        { hooks: { responseFilter: (_exchange, response) => void response.fields.push('X-Evil', 'a\r\nb: c') } },
      );
      assert.equal((await ask(client)).status, 500);
    });
  });
}
