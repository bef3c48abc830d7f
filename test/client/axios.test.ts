import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import axios, { AxiosError, CanceledError } from 'axios';
import type { AxiosInstance } from 'axios';
import { attemptsOf } from '../../src/client/attempts.ts';
import { wrapAxiosAdapter } from '../../src/client/axios/wrap-axios-adapter.ts';
import type { LayerOptions } from '../../src/client/layer-options.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import type { OriginScript, ScriptedOrigin } from '../support/scripted-origin.ts';

const RETRY = {
  maxRetries: 2,
  codes: [503],
  on: ['unsent', 'rejected', 'stale', 'reset', 'timeout'],
  backoffMs: 0,
  maxBackoffMs: 0,
} as const;

const THEN_SERVED = [
  { do: 'respond', status: 503, body: 'busy' },
  { do: 'respond', body: 'served' },
] as const;

for (const adapter of ['http', 'fetch'] as const) {
  const setUp = async (
    t: TestContext,
    script: OriginScript,
    options: LayerOptions = { retry: RETRY },
  ): Promise<{ origin: ScriptedOrigin; client: AxiosInstance }> => {
    const origin = await startOrigin(script, { t });
    const client = axios.create({
      baseURL: `http://${origin.address}/`,
      adapter: wrapAxiosAdapter(axios.getAdapter(adapter), options),
    });
    return { origin, client };
  };

  test(`${adapter}: a GET is retried, and the response tells the story`, async (t) => {
    const { origin, client } = await setUp(t, THEN_SERVED);
    const response = await client.get('/a', { headers: { 'X-A': '1' } });
    assert.equal(response.data, 'served');
    assert.deepEqual(
      attemptsOf(response)?.attempts.map(({ status }) => status),
      [503, 200],
    );
    assert.deepEqual([origin.request(2).value('x-a'), origin.request(2).target], ['1', '/a']);
  });

  test(`${adapter}: a POST is never doubled, and axios's own error comes back`, async (t) => {
    for (const script of [{ do: 'respond', status: 503 }, { do: 'reset' }] as const) {
      const { origin, client } = await setUp(t, script);
      const error = await client.post('/', { a: 1 }).catch((thrown: unknown) => thrown);
      assert.ok(error instanceof AxiosError);
      assert.equal(attemptsOf(error)?.reason, 'not-idempotent');
      assert.equal(origin.requestCount(), 1);
    }
  });

  test(`${adapter}: a POST with a key is repeated with the same key and the same bytes`, async (t) => {
    const { origin, client } = await setUp(t, THEN_SERVED, { retry: RETRY, idempotencyKey: true });
    await client.post('/', { a: 1 });
    const [one, two] = [origin.request(1), origin.request(2)];
    assert.equal(one.value('idempotency-key'), two.value('idempotency-key'));
    assert.deepEqual([one.body.toString(), two.body.toString()], ['{"a":1}', '{"a":1}']);
  });

  test(`${adapter}: an abort in the wait ends the request at once`, async (t) => {
    const aborter = new AbortController();
    const { origin, client } = await setUp(
      t,
      { do: 'respond', status: 503 },
      {
        retry: { ...RETRY, backoffMs: 60_000, maxBackoffMs: 60_000, jitter: 'none' },
        onRetry: () => setImmediate(() => aborter.abort()),
      },
    );
    await assert.rejects(client.get('/', { signal: aborter.signal }), CanceledError);
    assert.equal(origin.requestCount(), 1);
  });

  test(`${adapter}: a cancel token in the wait ends the request at once, and is let go`, async (t) => {
    const source = axios.CancelToken.source();
    const { origin, client } = await setUp(
      t,
      { do: 'respond', status: 503 },
      {
        retry: { ...RETRY, backoffMs: 60_000, maxBackoffMs: 60_000, jitter: 'none' },
        onRetry: () => setImmediate(() => source.cancel('enough')),
      },
    );
    const call = client.get('/', { cancelToken: source.token });
    await assert.rejects(call, (error) => error instanceof CanceledError && error.message === 'enough');
    assert.equal(origin.requestCount(), 1);
  });
}

test('http: a POST is repeated after a refused connection', async (t) => {
  const origin = await startOrigin({}, { t });
  await origin.stopListening();
  const client = axios.create({ adapter: wrapAxiosAdapter(axios.getAdapter('http'), { retry: RETRY }) });
  const error = await client.post(`http://${origin.address}/`, 'x').catch((thrown: unknown) => thrown as object);
  assert.equal(attemptsOf(error as object)?.attempts.length, 3);
});

test('http: a POST whose redirect leads to a refused connection is sent once', async (t) => {
  const gone = await startOrigin({}, { t });
  await gone.stopListening();
  const origin = await startOrigin(
    { do: 'respond', status: 303, headers: { Location: `http://${gone.address}/` } },
    { t },
  );
  const client = axios.create({ adapter: wrapAxiosAdapter(axios.getAdapter('http'), { retry: RETRY }) });
  await assert.rejects(client.post(`http://${origin.address}/`, 'x'));
  assert.equal(origin.requestCount(), 1);
});

test('an answer that streams is given up before the next attempt', async (t) => {
  const origin = await startOrigin(
    [
      { do: 'endless', status: 503 },
      { do: 'respond', body: 'served' },
    ],
    { t },
  );
  const client = axios.create({ adapter: wrapAxiosAdapter(axios.getAdapter('http'), { retry: RETRY }) });
  const { data } = await client.get<AsyncIterable<Buffer>>(`http://${origin.address}/`, { responseType: 'stream' });
  let text = '';
  for await (const chunk of data) text += chunk.toString();
  assert.equal(text, 'served');
});
