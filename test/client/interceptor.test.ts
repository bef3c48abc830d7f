import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { attemptsOf } from '../../src/client/attempts.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import { retry } from '../../src/client/interceptor/retry.ts';
import type { LayerOptions } from '../../src/client/layer-options.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import type { OriginScript, ScriptedOrigin } from '../support/scripted-origin.ts';
import { MAJORS } from './undici-majors.ts';
import type { ComposableDispatcher, UndiciMajor } from './undici-majors.ts';

failOnLeaks();

const RETRY = {
  maxRetries: 2,
  codes: [503],
  on: ['unsent', 'rejected', 'stale', 'reset', 'timeout'],
  backoffMs: 0,
  maxBackoffMs: 0,
} as const;

interface Setting {
  readonly origin: ScriptedOrigin;
  readonly dispatcher: ComposableDispatcher;
  readonly url: string;
}

async function setUp(
  t: TestContext,
  major: UndiciMajor,
  script: OriginScript,
  options: LayerOptions = { retry: RETRY },
): Promise<Setting> {
  const origin = await startOrigin(script, { t });
  const agent = major.agent();
  t.after(() => agent.destroy());
  return { origin, dispatcher: agent.compose(retry(options)), url: `http://${origin.address}/a` };
}

const THEN_SERVED = [
  { do: 'respond', status: 503, body: 'busy' },
  { do: 'respond', body: 'served' },
] as const;

for (const major of MAJORS) {
  const { name } = major;

  test(`${name}: request retries a 503 and gives the next answer with the story of the attempts`, async (t) => {
    const { origin, dispatcher, url } = await setUp(t, major, THEN_SERVED);
    const response = await major.request(url, { dispatcher, headers: { 'X-A': ['1', '2'] } });
    assert.deepEqual([response.statusCode, await response.body.text()], [200, 'served']);
    assert.deepEqual(
      attemptsOf(response)?.attempts.map(({ status }) => status),
      [503, 200],
    );
    assert.equal(attemptsOf(response)?.reason, 'success');
    assert.deepEqual(origin.request(2).values('x-a'), ['1', '2']);
    assert.equal(origin.request(2).value('request-attempt'), 'n=2, lineage=1');
    assert.equal(origin.request(1).value('request-attempt'), undefined);
  });

  test(`${name}: its own fetch runs over it`, async (t) => {
    const { origin, dispatcher, url } = await setUp(t, major, THEN_SERVED);
    const response = await major.fetch(url, { dispatcher, method: 'PUT', body: 'once' });
    assert.equal(await response.text(), 'served');
    assert.deepEqual(
      [1, 2].map((n) => origin.request(n).body.toString()),
      ['once', 'once'],
    );
  });

  test(`${name}: a POST that is answered 503 passes through untouched, with fetch as with request`, async (t) => {
    const { origin, dispatcher, url } = await setUp(t, major, { do: 'respond', status: 503, body: 'busy' });
    const response = await major.request(url, { dispatcher, method: 'POST', body: 'x' });
    assert.deepEqual([response.statusCode, await response.body.text()], [503, 'busy']);
    assert.equal(attemptsOf(response)?.reason, 'not-idempotent');
    const fetched = await major.fetch(url, { dispatcher, method: 'POST', body: 'x' });
    assert.deepEqual([fetched.status, await fetched.text()], [503, 'busy']);
    assert.equal(origin.requestCount(), 2);
  });

  test(`${name}: a POST is repeated after a refused connection, and never after a reset`, async (t) => {
    const { origin, dispatcher, url } = await setUp(t, major, { do: 'reset' });
    const send = async (): Promise<unknown> => {
      const error = await major.request(url, { dispatcher, method: 'POST', body: 'x' }).catch((e: unknown) => e);
      const { attempts, reason } = attemptsOf(error as object)!;
      return [(error as NodeJS.ErrnoException).code, attempts.length, reason];
    };
    const [code, ...rest] = (await send()) as unknown[];
    assert.match(String(code), /ECONNRESET|UND_ERR_SOCKET/);
    assert.deepEqual(rest, [1, 'not-idempotent']);
    assert.equal(origin.requestCount(), 1);
    await origin.stopListening();
    assert.deepEqual(await send(), ['ECONNREFUSED', 3, 'attempts-exhausted']);
    assert.equal(origin.requestCount(), 1);
  });

  test(`${name}: idempotent: true is taken at its word, and idempotent: false too`, async (t) => {
    const { origin, dispatcher, url } = await setUp(t, major, { do: 'respond', status: 503 });
    const send = async (options: object): Promise<number> => {
      const before = origin.requestCount();
      await (await major.request(url, { dispatcher, ...options })).body.dump();
      return origin.requestCount() - before;
    };
    assert.equal(await send({ method: 'POST', body: 'x', idempotent: true }), 3);
    assert.equal(await send({ method: 'GET', idempotent: false }), 1);
  });

  test(`${name}: 1xx pass, raw fields keep order and repeats, trailers arrive`, async (t) => {
    const { dispatcher, url } = await setUp(t, major, [
      { do: 'respond', status: 503, interim: [{ status: 103, headers: { Link: '<a>' } }] },
      {
        do: 'respond',
        interim: [{ status: 103, headers: { Link: '<b>' } }],
        headers: [
          ['Set-Cookie', 'a=1'],
          ['X-Latin', 'caf\u00e9'],
          ['Set-Cookie', 'b=2'],
        ],
        framing: 'chunked',
        body: 'served',
        trailers: { 'X-Sum': '7' },
      },
    ]);
    const seen: [number, string[]][] = [];
    const controllers = new Set<unknown>();
    let body = '';
    const trailers = await new Promise<Record<string, unknown>>((resolve, reject) => {
      const { origin, pathname } = new URL(url);
      dispatcher.dispatch(
        { origin, path: pathname, method: 'GET' },
        {
          onRequestStart: (controller: unknown) => controllers.add(controller),
          onResponseStart(controller: { rawHeaders: Buffer[] }, status: number) {
            controllers.add(controller);
            seen.push([status, controller.rawHeaders.map((bytes) => bytes.toString('latin1'))]);
          },
          onResponseData(controller: unknown, chunk: Buffer) {
            controllers.add(controller);
            body += chunk.toString();
          },
          onResponseEnd: (_: unknown, fields: Record<string, unknown>) => resolve(fields),
          onResponseError: (_: unknown, error: Error) => reject(error),
        },
      );
    });
    assert.deepEqual(
      seen.map(([status]) => status),
      [103, 103, 200],
    );
    const [, , [, fields]] = seen as [unknown, unknown, [number, string[]]];
    assert.deepEqual(fields.slice(0, 6), ['Set-Cookie', 'a=1', 'X-Latin', 'caf\u00e9', 'Set-Cookie', 'b=2']);
    assert.equal(controllers.size, 1);
    assert.deepEqual([body, trailers], ['served', { 'x-sum': '7' }]);
  });

  test(`${name}: headers as an object, a flat list or an iterable survive the retry`, async (t) => {
    const once = function* (): Generator<[string, string]> {
      yield ['X-A', '1'];
    };
    for (const headers of [{ 'X-A': '1' }, ['X-A', '1'], new Map([['X-A', '1']]), once()]) {
      const { origin, dispatcher, url } = await setUp(t, major, THEN_SERVED);
      await (await major.request(url, { dispatcher, headers })).body.dump();
      assert.deepEqual(
        [1, 2].map((n) => origin.request(n).value('x-a')),
        ['1', '1'],
      );
    }
  });

  test(`${name}: an abort in the wait ends the request now, with its reason`, async (t) => {
    const aborter = new AbortController();
    const reason = new Error('changed my mind');
    const { origin, dispatcher, url } = await setUp(
      t,
      major,
      { do: 'respond', status: 503 },
      {
        retry: { ...RETRY, backoffMs: 60_000, maxBackoffMs: 60_000, jitter: 'none' },
        onRetry: () => setImmediate(() => aborter.abort(reason)),
      },
    );
    await assert.rejects(major.request(url, { dispatcher, signal: aborter.signal }), reason);
    assert.equal(origin.requestCount(), 1);
  });

  test(`${name}: when the dispatcher is closed in the wait, the last answer comes back`, async (t) => {
    const origin = await startOrigin({ do: 'respond', status: 503, body: 'busy' }, { t });
    const agent = major.agent();
    const dispatcher = agent.compose(
      retry({
        retry: { ...RETRY, backoffMs: 100, maxBackoffMs: 100, jitter: 'none' },
        onRetry: () => void agent.close(),
      }),
    );
    const response = await major.request(`http://${origin.address}/`, { dispatcher });
    assert.deepEqual([response.statusCode, await response.body.text()], [503, 'busy']);
    assert.equal(origin.requestCount(), 1);
  });

  test(`${name}: the last real answer comes back when the retry dies`, async (t) => {
    const { dispatcher, url } = await setUp(t, major, [THEN_SERVED[0], { do: 'reset' }], {
      retry: { ...RETRY, maxRetries: 1 },
    });
    const response = await major.request(url, { dispatcher });
    assert.deepEqual([response.statusCode, await response.body.text()], [503, 'busy']);
  });

  test(`${name}: a large answer meets a slow reader and arrives whole`, async (t) => {
    const body = Buffer.alloc(1_000_000, 'ab');
    const { dispatcher, url } = await setUp(t, major, [THEN_SERVED[0], { do: 'respond', body }]);
    const response = await major.request(url, { dispatcher });
    let bytes = 0;
    for await (const chunk of response.body) {
      bytes += chunk.length;
      await new Promise((turn) => setImmediate(turn));
    }
    assert.equal(bytes, body.length);
  });

  test(`${name}: an answer that breaks after it began is not sent again`, async (t) => {
    const { origin, dispatcher, url } = await setUp(t, major, {
      do: 'respond',
      body: 'hello world',
      cut: { bodyBytes: 5 },
      then: 'reset',
    });
    const response = await major.request(url, { dispatcher });
    await assert.rejects(response.body.text());
    assert.equal(origin.requestCount(), 1);
  });

  test(`${name}: an attempt's own timeout and the deadline`, async (t) => {
    const { origin, dispatcher, url } = await setUp(t, major, [{ do: 'hang' }, { do: 'respond', body: 'served' }], {
      retry: RETRY,
      timeout: { attemptMs: 50 },
    });
    assert.equal(await (await major.request(url, { dispatcher })).body.text(), 'served');
    origin.setScript({ do: 'hang' });
    const late = major.agent();
    t.after(() => late.destroy());
    const error = await major
      .request(url, { dispatcher: late.compose(retry({ timeout: 50 })) })
      .catch((thrown: unknown) => thrown);
    assert.ok(isRequestFailedError(error));
    assert.deepEqual([error.kind, error.reason], ['deadline_exceeded', 'deadline']);
  });

  test(`${name}: an endless answer of a failed attempt holds nothing up`, async (t) => {
    const { dispatcher, url } = await setUp(t, major, [{ do: 'endless', status: 503 }, THEN_SERVED[1]]);
    assert.equal(await (await major.request(url, { dispatcher })).body.text(), 'served');
  });

  test(`${name}: a handler that throws at the very end is told so`, async (t) => {
    const { dispatcher, url } = await setUp(t, major, [{ do: 'respond', body: 'served' }]);
    const told = Promise.withResolvers<Error>();
    const handler = {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData() {},
      onResponseEnd() {
        throw new Error('mine');
      },
      onResponseError: (_controller: unknown, error: Error) => told.resolve(error),
    };
    dispatcher.dispatch({ origin: new URL(url).origin, path: '/', method: 'GET' }, handler);
    assert.equal((await told.promise).message, 'mine');
  });

  test(`${name}: an onRetry that throws ends the request with its error`, async (t) => {
    const onRetry = (): never => {
      throw new Error('mine');
    };
    const { origin, dispatcher, url } = await setUp(t, major, THEN_SERVED, { retry: RETRY, timeout: 0, onRetry });
    await assert.rejects(major.request(url, { dispatcher }), /mine/);
    assert.equal(origin.requestCount(), 1);
  });

  test(`${name}: two layers do not multiply`, async (t) => {
    const origin = await startOrigin({ do: 'respond', status: 503 }, { t });
    const agent = major.agent();
    t.after(() => agent.destroy());
    const dispatcher = agent.compose(retry({ retry: RETRY }), retry({ retry: RETRY }));
    await (await major.request(`http://${origin.address}/`, { dispatcher })).body.dump();
    // The outer one retries; what it hands down is marked as not to be repeated below. Not nine.
    assert.equal(origin.requestCount(), 3);
  });
}

test('a handler of an unknown shape is refused loudly', () => {
  const dispatch = retry()(() => assert.fail('nothing is dispatched'));
  assert.throws(() => dispatch({ origin: 'http://a.example', path: '/', method: 'GET' }, { onAnswer() {} }), {
    code: 'UND_ERR_INVALID_ARG',
    message: /unknown shape/,
  });
});
