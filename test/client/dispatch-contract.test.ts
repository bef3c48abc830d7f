import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { errors, request, upgrade } from 'undici';
import type { Dispatcher } from 'undici';
import type { ClientOptions } from '../../src/client/client-options.ts';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { OriginScript } from '../support/origin-script.ts';
import type { ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

interface Fixture {
  readonly origin: ScriptedOrigin;
  readonly dispatcher: Dispatcher;
  readonly url: string;
}

async function start(t: TestContext, script: OriginScript = {}, options: ClientOptions = {}): Promise<Fixture> {
  const origin = await startOrigin(script, { t });
  const dispatcher = createDispatcher(options);
  t.after(() => dispatcher.destroy());
  return { origin, dispatcher, url: `http://${origin.address}` };
}

/** A handler that writes down what it is told. */
class Recorder implements Dispatcher.DispatchHandler {
  readonly told: string[] = [];
  readonly controllers = new Set<unknown>();
  controller: Dispatcher.DispatchController | undefined;
  error: Error | undefined;
  text = '';
  readonly done: Promise<void>;
  onHead: ((controller: Dispatcher.DispatchController) => void) | undefined;
  #settle!: () => void;

  constructor() {
    this.done = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    this.#tell(controller, 'start');
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    this.#tell(controller, String(status));
    if (status >= 200) this.onHead?.(controller);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#tell(controller, 'data');
    this.text += chunk.toString('latin1');
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.#tell(controller, 'end');
    this.#settle();
  }

  onResponseError(controller: Dispatcher.DispatchController | null, error: Error): void {
    this.told.push('error');
    if (controller !== null) this.controllers.add(controller);
    this.error = error;
    this.#settle();
  }

  #tell(controller: unknown, what: string): void {
    this.controllers.add(controller);
    if (what !== 'data' || this.told.at(-1) !== 'data') this.told.push(what);
  }
}

const BUSY = { do: 'respond', status: 503, body: 'busy' } as const;
const FINE = { do: 'respond', body: 'fine' } as const;
const AGAIN: ClientOptions = { retry: { codes: [503], maxRetries: 2, backoffMs: 0, maxBackoffMs: 0 } };

describe('a handler', () => {
  test('gets one controller for all attempts, and hears nothing of those that were given up', async (t) => {
    const { dispatcher, url } = await start(t, { requests: [BUSY, FINE] }, AGAIN);
    const handler = new Recorder();
    dispatcher.dispatch({ origin: url, path: '/', method: 'GET' }, handler);
    await handler.done;
    assert.deepEqual(handler.told, ['start', '200', 'data', 'end']);
    assert.equal(handler.controllers.size, 1);
  });

  test('hears of informational responses, and they count as no attempt', async (t) => {
    const early = { do: 'respond', interim: [{ status: 103, headers: { link: '</a>' } }], body: 'fine' } as const;
    const { origin, dispatcher, url } = await start(t, early);
    const handler = new Recorder();
    dispatcher.dispatch({ origin: url, path: '/', method: 'GET' }, handler);
    await handler.done;
    assert.deepEqual(handler.told, ['start', '103', '200', 'data', 'end']);
    assert.equal(origin.requestCount(), 1);
  });

  test('sees raw fields in order, with repeats and latin-1 bytes', async (t) => {
    const bytes = Buffer.from(
      'HTTP/1.1 200 OK\r\nSet-Cookie: a=\xe9\r\nX-B: 1\r\nSet-Cookie: b\r\nContent-Length: 0\r\n\r\n',
      'latin1',
    );
    const { dispatcher, url } = await start(t, { requests: { do: 'raw', bytes } });
    const handler = new Recorder();
    let raw: string[] = [];
    handler.onHead = ({ rawHeaders }) => {
      raw = (rawHeaders as Buffer[]).map((one) => one.toString('latin1'));
    };
    dispatcher.dispatch({ origin: url, path: '/', method: 'GET' }, handler);
    await handler.done;
    assert.deepEqual(raw, ['Set-Cookie', 'a=\xe9', 'X-B', '1', 'Set-Cookie', 'b', 'Content-Length', '0']);
  });

  test('gets nothing while it is paused, and the rest when it resumes', async (t) => {
    const body = 'x'.repeat(1_000_000);
    const { dispatcher, url } = await start(t, { requests: { do: 'respond', body } });
    const handler = new Recorder();
    const headed = new Promise<void>((resolve) => {
      handler.onHead = (controller) => {
        controller.pause();
        resolve();
      };
    });
    dispatcher.dispatch({ origin: url, path: '/', method: 'GET' }, handler);
    await headed;
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    assert.deepEqual(handler.told, ['start', '200']);
    handler.controller?.resume();
    await handler.done;
    assert.equal(handler.text, body);
  });

  test('of the older shape gets its own calls, and stops the body by returning false', async (t) => {
    const body = 'y'.repeat(300_000);
    const { dispatcher, url } = await start(t, { requests: { do: 'respond', headers: { 'X-A': 'b' }, body } });
    const told: unknown[] = [];
    let bytes = 0;
    await new Promise<void>((resolve, reject) => {
      let resume = (): void => {};
      const handler = {
        onConnect: (abort: unknown) => told.push(typeof abort),
        onHeaders(status: number, headers: Buffer[], proceed: () => void): boolean {
          told.push(status, headers[0]?.toString());
          resume = proceed;
          return true;
        },
        onData(chunk: Buffer): boolean {
          bytes += chunk.length;
          setImmediate(resume);
          return false;
        },
        onComplete: () => resolve(),
        onError: reject,
      };
      dispatcher.dispatch({ origin: url, path: '/', method: 'GET' }, handler as Dispatcher.DispatchHandler);
    });
    assert.deepEqual(told, ['function', 200, 'X-A']);
    assert.equal(bytes, body.length);
  });

  test('of an unknown shape is refused at once', async (t) => {
    const { origin, dispatcher, url } = await start(t);
    const options = { origin: url, path: '/', method: 'GET' };
    assert.throws(
      () => dispatcher.dispatch(options, { onSomething() {} } as Dispatcher.DispatchHandler),
      /unknown shape/,
    );
    assert.throws(() => dispatcher.dispatch(options, { onRequestStart() {} }), /invalid onResponseStart/);
    assert.equal(origin.requestCount(), 0);
  });

  test('that throws ends its request with its own error', async (t) => {
    const { dispatcher, url } = await start(t);
    const handler = new Recorder();
    handler.onHead = () => {
      throw new Error('mine');
    };
    dispatcher.dispatch({ origin: url, path: '/', method: 'GET' }, handler);
    await handler.done;
    assert.equal(handler.error?.message, 'mine');
  });

  test('that throws at the very end is told so once', async (t) => {
    const origin = await startOrigin({}, { t });
    let ends = 0;
    const dispatcher = createDispatcher({ onRequestEnd: () => (ends += 1) });
    const handler = new Recorder();
    const own = Object.assign(handler, {
      onResponseEnd() {
        throw new Error('mine');
      },
    });
    dispatcher.dispatch({ origin: `http://${origin.address}`, path: '/', method: 'GET' }, own);
    await handler.done;
    await dispatcher.close();
    assert.deepEqual([handler.error?.message, ends], ['mine', 1]);
  });

  test('that wants to know gets every byte that goes out, in each attempt', async (t) => {
    const { origin, dispatcher, url } = await start(t, { requests: [BUSY, FINE] }, AGAIN);
    const handler = Object.assign(new Recorder(), {
      sent: '',
      wholes: 0,
      onBodySent(this: { sent: string }, chunk: Buffer) {
        this.sent += chunk.toString();
      },
      onRequestSent(this: { wholes: number }) {
        this.wholes += 1;
      },
    });
    dispatcher.dispatch({ origin: url, path: '/', method: 'PUT', body: 'abc' }, handler);
    await handler.done;
    assert.deepEqual([handler.sent, handler.wholes, origin.requestCount()], ['abcabc', 2, 2]);
  });
});

describe('what cannot be sent', () => {
  const rows: readonly (readonly [string, object, RegExp])[] = [
    ['a path that is none', { path: 'x' }, /path must be/],
    ['a path with a blank', { path: '/a b' }, /invalid request path/],
    ['half a pair of headers', { headers: ['a'] }, /even/],
    ['a header of the connection', { headers: { 'transfer-encoding': 'chunked' } }, /invalid transfer-encoding/],
    ['an object for a header', { headers: { a: {} } }, /invalid a header/],
    ['a length that is not the body’s', { body: 'abc', headers: { 'content-length': '5' } }, /Request body length/],
    ['a body that is none', { body: 7 }, /body must be/],
    ['an option that would do nothing', { reset: true }, /not supported: reset/],
    ['an origin with a path', { origin: 'http://127.0.0.1:1/x' }, /more than an origin/],
    ['an unknown scheme', { origin: 'ftp://127.0.0.1' }, /not an http or https/],
    ['a budget of its own', { budget: { kind: 'none' } }, /createBudget/],
    ['a retry option that is none', { retry: { attempts: 3 } }, /no option "attempts"/],
  ];
  for (const [name, options, message] of rows) {
    test(`${name} is told to the handler, not thrown`, async (t) => {
      const { origin, dispatcher, url } = await start(t);
      const handler = new Recorder();
      const all = { origin: url, path: '/', method: 'PUT', ...options };
      assert.equal(dispatcher.dispatch(all as Dispatcher.DispatchOptions, handler), true);
      assert.match(String(handler.error?.message), message);
      assert.deepEqual(handler.told, ['error']);
      assert.equal(origin.requestCount(), 0);
    });
  }

  test('a line break in a header ends the request before anything is sent', async (t) => {
    const { origin, dispatcher, url } = await start(t);
    const call = request(url, { dispatcher, headers: { a: 'b\r\nc: d' } });
    await assert.rejects(call, (error) => isRequestFailedError(error) && error.kind === 'http_request_error');
    assert.equal(origin.requestCount(), 0);
  });
});

test('headers as an object, a flat list and an iterable arrive the same, in every attempt', async (t) => {
  const shapes: readonly unknown[] = [
    { 'x-a': ['1', '2'], 'x-n': 3 },
    ['x-a', '1', 'x-a', '2', 'x-n', '3'],
    new Map<string, unknown>([
      ['x-a', ['1', '2']],
      ['x-n', '3'],
    ]),
  ];
  for (const headers of shapes) {
    const { origin, dispatcher, url } = await start(t, { requests: [BUSY, FINE] }, AGAIN);
    const { body } = await request(url, { dispatcher, headers: headers as Record<string, string> });
    await body.dump();
    assert.equal(origin.requestCount(), 2);
    for (const seen of origin.journal.requests) {
      assert.deepEqual(seen.values('x-a'), ['1', '2']);
      assert.deepEqual(seen.values('x-n'), ['3']);
      assert.deepEqual(seen.values('host'), [origin.address]);
    }
  }
});

describe('an abort', () => {
  test('before the answer ends the request with its reason and closes the connection', async (t) => {
    const { origin, dispatcher, url } = await start(t, { requests: { do: 'hang' } });
    const aborter = new AbortController();
    const call = request(url, { dispatcher, signal: aborter.signal });
    await origin.waitForRequest();
    const reason = new Error('enough');
    aborter.abort(reason);
    await assert.rejects(call, reason);
    await origin.waitForNoConnection();
  });

  test('in the wait between two attempts ends the request now, and nothing more is sent', async (t) => {
    const retry = {
      codes: [503],
      maxRetries: 5,
      curve: 'fixed',
      backoffMs: 60_000,
      maxBackoffMs: 60_000,
      jitter: 'none',
    } as const;
    const { origin, dispatcher, url } = await start(t, { requests: [BUSY] }, { retry });
    const aborter = new AbortController();
    const call = request(url, { dispatcher, signal: aborter.signal });
    await origin.waitFor(({ requests }) => requests[0]?.answeredAtMs !== undefined);
    await new Promise(setImmediate);
    aborter.abort();
    await assert.rejects(call, { name: 'AbortError' });
    assert.equal(origin.requestCount(), 1);
  });

  test('from within onRequestStart sends nothing', async (t) => {
    const { origin, dispatcher, url } = await start(t);
    const handler = new Recorder();
    const own = Object.assign(handler, {
      onRequestStart: (controller: Dispatcher.DispatchController) => controller.abort(new Error('never')),
    });
    dispatcher.dispatch({ origin: url, path: '/', method: 'GET' }, own);
    await handler.done;
    assert.equal(handler.error?.message, 'never');
    await dispatcher.close();
    assert.equal(origin.requestCount(), 0);
  });

  test('while the body comes in is told once', async (t) => {
    const { dispatcher, url } = await start(t, { requests: { do: 'endless' } });
    const handler = new Recorder();
    handler.onHead = (controller) => setImmediate(() => controller.abort(new Error('stop')));
    dispatcher.dispatch({ origin: url, path: '/', method: 'GET' }, handler);
    await handler.done;
    assert.equal(handler.told.filter((one) => one === 'error').length, 1);
    assert.equal(handler.controller?.aborted, true);
  });
});

describe('the end of a dispatcher', () => {
  test('close waits for a request, its wait and its retry included', async (t) => {
    const { origin, dispatcher, url } = await start(
      t,
      { requests: [BUSY, FINE] },
      { retry: { codes: [503], backoffMs: 30, jitter: 'none' } },
    );
    const call = request(url, { dispatcher });
    await origin.waitForRequest();
    const closing = dispatcher.close();
    const { statusCode, body } = await call;
    assert.deepEqual([statusCode, await body.text()], [200, 'fine']);
    await closing;
    await assert.rejects(request(url, { dispatcher }), errors.ClientClosedError);
    assert.equal(origin.requestCount(), 2);
  });

  test('destroy ends what is under way with its error', async (t) => {
    const { origin, dispatcher, url } = await start(t, { requests: { do: 'hang' } });
    const call = request(url, { dispatcher });
    await origin.waitForRequest();
    const reason = new Error('the end');
    await Promise.all([dispatcher.destroy(reason), assert.rejects(call, reason)]);
    await assert.rejects(request(url, { dispatcher }), errors.ClientDestroyedError);
  });

  test('both take a callback too', async (t) => {
    const { dispatcher } = await start(t);
    await new Promise<void>((resolve) => dispatcher.close(resolve));
    await new Promise<void>((resolve) => dispatcher.destroy(resolve));
  });
});

test('dispatch says when an origin has no free connection, and drain when it has one again', async (t) => {
  const { origin, dispatcher, url } = await start(t, { requests: { do: 'respond', gate: 'go' } }, { connections: 2 });
  const options = { origin: url, path: '/', method: 'GET' } as const;
  const handlers = [new Recorder(), new Recorder(), new Recorder()];
  const drained = once(dispatcher, 'drain');
  assert.deepEqual(
    handlers.map((handler) => dispatcher.dispatch(options, handler)),
    [true, false, false],
  );
  origin.open('go');
  const [drainedOrigin] = (await drained) as [URL];
  assert.equal(drainedOrigin.origin, url);
  await Promise.all(handlers.map(({ done }) => done));
  assert.equal(origin.journal.connections.length, 2);
});

test('the body is held back until the server wants it, where the caller expects that', async (t) => {
  for (const how of [{ expectContinue: true }, { headers: { expect: '100-continue' } }]) {
    const refusal = { do: 'respond', status: 417, at: 'head', then: 'close' } as const;
    const { origin, dispatcher, url } = await start(t, { requests: refusal });
    const { statusCode } = await request(url, { dispatcher, method: 'PUT', body: 'held back', ...how });
    assert.deepEqual(
      [statusCode, origin.request().value('expect'), origin.request().bodyBytes],
      [417, '100-continue', 0],
    );
  }
});

test("a request's own timeouts of undici hold", async (t) => {
  const { dispatcher, url } = await start(t, { requests: { do: 'hang' } });
  const call = request(url, { dispatcher, headersTimeout: 30 });
  await assert.rejects(call, (error) => isRequestFailedError(error) && error.kind === 'http_response_timeout');
});

test('an upgrade passes through, and is sent once', async (t) => {
  const bytes = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello';
  const { origin, dispatcher, url } = await start(t, { requests: { do: 'raw', bytes, then: 'hang' } }, AGAIN);
  const { socket } = await upgrade(url, { dispatcher, protocol: 'echo' });
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  assert.equal(chunk.toString(), 'hello');
  socket.destroy();
  assert.equal(origin.requestCount(), 1);
});
