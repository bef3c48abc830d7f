import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { bytesBody } from '../../src/transport/body/bytes-body.ts';
import type { Clock } from '../../src/transport/clock.ts';
import { createTransport } from '../../src/transport/create-transport.ts';
import type { ComposedTransport } from '../../src/transport/create-transport.ts';
import { createReplayBody } from '../../src/transport/body/replay-body.ts';
import { createReplayMemory } from '../../src/transport/body/replay-memory.ts';
import type { BodySink, RequestBody } from '../../src/transport/body/request-body.ts';
import { createSystemClock } from '../../src/transport/system-time.ts';
import { createTestCertificates } from '../support/certificates.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createSignal } from '../support/signal.ts';
import { startWireOrigin } from '../support/wire-origin.ts';
import type { Wire, WireOrigin, WireRequest, WireResponse } from '../support/wire-origin.ts';
import { endpointOf, hasFailed, send } from '../transport/attempt-recorder.ts';

interface Stage {
  readonly origin: WireOrigin;
  readonly transport: ComposedTransport;
}

/** What every transport must do for the engine above it, whatever is spoken below. */
export function transportContract(wire: Wire): void {
  const isHttp2 = wire.startsWith('http2');

  async function stage(
    t: TestContext,
    handle: (request: WireRequest, response: WireResponse) => void,
    clock: Clock = createSystemClock(),
  ): Promise<Stage> {
    const origin = await startWireOrigin(t, wire, handle);
    const transport = createTransport({
      clock,
      protocol: isHttp2 ? 'http2' : 'http1',
      tls: wire.endsWith('+tls') ? { ca: createTestCertificates().ca } : undefined,
    });
    t.after(() => transport.dispose());
    return { origin, transport };
  }

  describe(wire, () => {
    test('an answer comes whole, and its connection says what was spoken', async (t) => {
      const { origin, transport } = await stage(t, (_, response) => {
        response.setHeader('X-Twice', ['one', 'two']);
        response.end('hello');
      });
      const sent = await send(transport, endpointOf(origin)).ended();
      assert.deepEqual(sent.calls, ['connected', 'head:200', 'data', 'complete']);
      assert.equal(sent.body, 'hello');
      const twice = sent.head?.fields.filter((_, index, all) => index % 2 === 1 && /^x-twice$/i.test(all[index - 1]!));
      assert.deepEqual(twice, ['one', 'two']);
      const [connection] = sent.connections;
      assert.equal(connection?.protocol, isHttp2 ? '2' : '1.1');
      assert.equal(connection.reused, false);
      if (wire.endsWith('+tls')) {
        assert.deepEqual(
          [connection.tls?.version, connection.tls?.alpn, connection.tls?.authorized, connection.tls?.subject],
          ['TLSv1.3', isHttp2 ? 'h2' : 'http/1.1', true, 'localhost'],
        );
        assert.match(connection.tls?.fingerprint ?? '', /^([0-9A-F]{2}:){31}/);
      } else assert.equal(connection.tls, undefined);
    });

    test('a second request takes the connection of the first', async (t) => {
      const { origin, transport } = await stage(t, (_, response) => void response.end('x'));
      const first = await send(transport, endpointOf(origin)).ended();
      const second = await send(transport, endpointOf(origin), { method: 'POST', body: bytesBody('b') }).ended();
      assert.equal(second.head?.status, 200);
      assert.equal(second.attempt.reused, true);
      assert.equal(second.connections[0]?.localPort, first.connections[0]?.localPort);
      assert.equal(origin.connectionCount, 1);
    });

    test('a fresh connection is another one', async (t) => {
      const { origin, transport } = await stage(t, (_, response) => void response.end('x'));
      await send(transport, endpointOf(origin)).ended();
      const second = await send(transport, endpointOf(origin), { fresh: true }).ended();
      assert.equal(second.attempt.reused, false);
      assert.equal(origin.connectionCount, 2);
    });

    test('a body of known length arrives with its length', async (t) => {
      const seen: string[] = [];
      const { origin, transport } = await stage(t, (request, response) => {
        request.setEncoding('latin1');
        request.on('data', (text: string) => seen.push(text));
        request.on('end', () => response.end(String(request.headers['content-length'])));
      });
      const sent = await send(transport, endpointOf(origin), {
        method: 'POST',
        body: bytesBody('twelve bytes'),
      }).ended();
      assert.equal(seen.join(''), 'twelve bytes');
      assert.equal(sent.body, '12');
      assert.ok(sent.attempt.bytesSent >= 12);
    });

    test('a POST without a body says so', async (t) => {
      const { origin, transport } = await stage(t, (request, response) => {
        response.end(String(request.headers['content-length']));
      });
      assert.equal((await send(transport, endpointOf(origin), { method: 'POST' }).ended()).body, '0');
    });

    test('trailers arrive on both sides', async (t) => {
      const { origin, transport } = await stage(t, (request, response) => {
        request.resume();
        request.on('end', () => {
          response.setHeader('Trailer', 'x-sum');
          (response as { write(text: string): void }).write('body');
          response.addTrailers({ 'x-sum': String(request.trailers['x-count']) });
          response.end();
        });
      });
      const body = streamedBody((sink) => {
        sink.chunk(Buffer.from('one'));
        sink.end(['X-Count', '3']);
      });
      const sent = await send(transport, endpointOf(origin), {
        method: 'POST',
        fields: ['Host', 'h', 'Trailer', 'X-Count', 'TE', 'trailers'],
        body,
      }).ended();
      assert.deepEqual(
        sent.trailers?.map((text) => text.toLowerCase()),
        ['x-sum', '3'],
      );
    });

    test('two megabytes go up while the peer reads slowly, and none is lost', async (t) => {
      const bytes = Buffer.alloc(2_000_000, 'u');
      const { origin, transport } = await stage(t, (request, response) => {
        let count = 0;
        request.on('data', (chunk: Buffer) => {
          count += chunk.length;
          request.pause();
          setImmediate(() => request.resume());
        });
        request.on('end', () => response.end(String(count)));
      });
      const sent = await send(transport, endpointOf(origin), { method: 'PUT', body: bytesBody(bytes) }).ended();
      assert.equal(sent.body, '2000000');
    });

    test('two megabytes come down to a reader that pauses, and none is lost', async (t) => {
      const { origin, transport } = await stage(t, (_, response) => void response.end(Buffer.alloc(2_000_000, 'd')));
      const sent = send(transport, endpointOf(origin), {
        onData: () => {
          setImmediate(() => sent.attempt.resume());
          return false;
        },
      });
      await sent.ended();
      assert.equal(sent.bodyBytes, 2_000_000);
      assert.equal(sent.calls.at(-1), 'complete');
    });

    for (const [what, method, status] of [
      ['HEAD', 'HEAD', 200],
      ['204', 'GET', 204],
      ['304', 'GET', 304],
    ] as const) {
      test(`${what} ends without a body, and the connection lives on`, async (t) => {
        const { origin, transport } = await stage(t, (_, response) => {
          response.statusCode = status;
          if (status !== 204) response.setHeader('Content-Length', '5');
          response.end();
        });
        const sent = await send(transport, endpointOf(origin), { method }).ended();
        assert.deepEqual(sent.calls, ['connected', `head:${String(status)}`, 'complete']);
        assert.equal(sent.head?.bodyKind, 'none');
        assert.equal((await send(transport, endpointOf(origin), { method }).ended()).attempt.reused, true);
      });
    }

    test('an interim response comes before the final one', async (t) => {
      const { origin, transport } = await stage(t, (_, response) => {
        response.writeEarlyHints({ link: '</a.css>; rel=preload' });
        response.end('x');
      });
      const sent = await send(transport, endpointOf(origin)).ended();
      assert.deepEqual(sent.calls, ['connected', '1xx:103', 'head:200', 'data', 'complete']);
    });

    test('a body that is held back goes out with the 100', async (t) => {
      const { origin, transport } = await stage(t, (request, response) => {
        response.writeContinue();
        request.setEncoding('latin1');
        let text = '';
        request.on('data', (part: string) => (text += part));
        request.on('end', () => response.end(text));
      });
      const sent = await send(transport, endpointOf(origin), {
        method: 'POST',
        fields: ['Host', 'h', 'Expect', '100-continue'],
        body: bytesBody('held'),
        expectContinueMs: 60_000,
      }).ended();
      assert.deepEqual(sent.calls, ['connected', '1xx:100', 'head:200', 'data', 'complete']);
      assert.equal(sent.body, 'held');
    });

    test('a final answer in place of the 100 leaves the body unsent', async (t) => {
      let bodyBytes = 0;
      const { origin, transport } = await stage(t, (request, response) => {
        request.on('data', (chunk: Buffer) => (bodyBytes += chunk.length));
        response.statusCode = 417;
        response.end();
      });
      const sent = await send(transport, endpointOf(origin), {
        method: 'POST',
        fields: ['Host', 'h', 'Expect', '100-continue'],
        body: bytesBody('never'),
        expectContinueMs: 60_000,
      }).ended();
      assert.equal(sent.head?.status, 417);
      assert.equal(sent.calls.at(-1), 'complete');
      assert.equal(bodyBytes, 0);
    });

    test('an error in the middle of an upload is delivered, and the upload ends', async (t) => {
      const { origin, transport } = await stage(t, (_, response) => {
        response.statusCode = 413;
        response.setHeader('Connection', 'close');
        response.end('too much');
      });
      const body = streamedBody((sink) => sink.chunk(Buffer.from('and more to come')));
      t.after(() => body.destroy());
      const sent = await send(transport, endpointOf(origin), { method: 'POST', body }).ended();
      assert.deepEqual([sent.head?.status, sent.body, sent.calls.at(-1)], [413, 'too much', 'complete']);
    });

    test('the peer learns of an abort, and the handler hears no more', async (t) => {
      const signal = createSignal();
      let arrived = false;
      let closed = false;
      const { origin, transport } = await stage(t, (_, response) => {
        arrived = true;
        response.on('close', () => {
          closed = true;
          signal.changed();
        });
        signal.changed();
      });
      const sent = send(transport, endpointOf(origin));
      await signal.until(() => arrived, { what: 'the request', describe: () => '' });
      sent.attempt.abort();
      await signal.until(() => closed, { what: 'the peer to see the abort', describe: () => '' });
      assert.deepEqual(sent.calls, ['connected']);
    });

    test('a peer that does not answer in time is a timeout with all bytes sent', async (t) => {
      const clock = createManualClock();
      const signal = createSignal();
      const { origin, transport } = await stage(t, () => signal.changed(), clock);
      const sent = send(transport, endpointOf(origin), { timeouts: { attemptMs: 300 } });
      await signal.until(() => origin.requestCount === 1, { what: 'the request', describe: () => '' });
      clock.advance(299);
      assert.equal(hasFailed(sent), false);
      clock.advance(20);
      await sent.ended();
      assert.equal(sent.failure?.kind, 'http_response_timeout');
      assert.equal(sent.failure.phase, 'wait');
      assert.ok(sent.failure.bytesSent > 0);
    });

    test('a body that stalls is a read timeout, and what came before was delivered', async (t) => {
      const clock = createManualClock();
      const { origin, transport } = await stage(
        t,
        (_, response) => {
          response.setHeader('Content-Length', '10');
          (response as { write(text: string): void }).write('half');
        },
        clock,
      );
      const sent = send(transport, endpointOf(origin), { timeouts: { idleMs: 300 } });
      await sent.until(() => sent.body === 'half');
      clock.advance(320);
      await sent.ended();
      assert.equal(sent.failure?.kind, 'connection_read_timeout');
      assert.equal(sent.failure.phase, 'body');
    });

    test('an answer that is cut is never complete', async (t) => {
      const { origin, transport } = await stage(t, (_, response) => {
        (response as { write(text: string, taken: () => void): void }).write('half', () => setImmediate(origin.cut));
      });
      const sent = await send(transport, endpointOf(origin)).ended();
      assert.equal(sent.calls.includes('complete'), false);
      if (sent.head !== undefined) assert.equal(sent.failure?.kind, 'http_response_incomplete');
    });

    test('a connection that dies before an answer says that the request was sent once', async (t) => {
      const { origin, transport } = await stage(t, () => origin.cut());
      const sent = await send(transport, endpointOf(origin), { method: 'POST', body: bytesBody('x') }).ended();
      assert.equal(sent.failure?.kind, 'connection_terminated');
      assert.equal(sent.failure.reused, false);
      assert.ok(sent.failure.bytesSent > 0);
      assert.equal(sent.failure.bytesReceived, 0);
      assert.equal(origin.requestCount, 1);
    });

    test('when onConnected throws, nothing is sent and the connection stays good', async (t) => {
      const { origin, transport } = await stage(t, (_, response) => void response.end('x'));
      const sent = await send(transport, endpointOf(origin), {
        onConnected: () => Promise.reject(new Error('no thanks')),
      }).ended();
      assert.deepEqual(sent.calls, ['connected', 'failure:hook_error']);
      const next = await send(transport, endpointOf(origin)).ended();
      assert.equal(next.head?.status, 200);
      assert.deepEqual([origin.requestCount, origin.connectionCount], [1, 1]);
    });

    test('a request that cannot be written fails before any connection is made', async (t) => {
      const { origin, transport } = await stage(t, (_, response) => void response.end('x'));
      const sent = await send(transport, endpointOf(origin), { fields: ['Host', 'h', 'X', 'a\r\nb: c'] }).ended();
      assert.deepEqual(sent.calls, ['failure:http_request_error']);
      assert.equal(origin.connectionCount, 0);
    });

    test('an attempt that is aborted at once leaves nothing behind', async (t) => {
      const { origin, transport } = await stage(t, (_, response) => void response.end('x'));
      await send(transport, endpointOf(origin)).ended();
      const sent = send(transport, endpointOf(origin));
      sent.attempt.abort();
      await transport.dispose();
      assert.deepEqual(sent.calls, []);
      assert.equal(origin.requestCount, 1);
      assert.equal(transport.socketCount, 0);
    });
  });
}

function streamedBody(give: (sink: BodySink) => void): RequestBody {
  return createReplayBody({
    source: { start: give, pause() {}, resume() {} },
    contentLength: undefined,
    capBytes: 65_536,
    memory: createReplayMemory(1 << 20),
  });
}
