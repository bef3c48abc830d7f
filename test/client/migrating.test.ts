import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test, type TestContext } from 'node:test';
import axios from 'axios';
import { Agent, getGlobalDispatcher, request, setGlobalDispatcher } from 'undici';
import * as mulligan from '../../src/client/index.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import type { Behaviour, ScriptedOrigin } from '../support/scripted-origin.ts';

const { attemptsOf, createPolicy, isRequestFailedError, retry, wrapAxiosAdapter, wrapFetch } = mulligan;

/** Every row of docs/migrating.md: what stands in its right column, run. The document is searched for each text. */
const rows = readFileSync('docs/migrating.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| (?!theirs)/.test(line));
const done = new Set<string>();

function row(theirs: string, ours: string, run: (t: TestContext) => Promise<void>): void {
  test(`${theirs}: ${ours}`, async (t) => {
    const found = rows.find((line) => line.startsWith(`| ${theirs}`) && line.includes(ours));
    assert.ok(found, 'the document has this row');
    done.add(found);
    await run(t);
  });
}

after(() =>
  assert.deepEqual(
    rows.filter((line) => !done.has(line)),
    [],
    'every row is run',
  ),
);

class NetworkError extends Error {}

/** Fails so often, then gives how often it was called. */
function failing(times: number, error: () => Error = () => new NetworkError('no')): () => Promise<number> {
  let count = 0;
  return async () => {
    count += 1;
    if (count <= times) throw error();
    return count;
  };
}

const hang = (): Promise<never> => new Promise(() => undefined);
const FAST = { backoffMs: 0, maxBackoffMs: 0 } as const;
const idempotent = true;

row('cockatiel `retry(', 'createPolicy({ retry: 3 })', async () => {
  assert.equal(await createPolicy({ retry: 3 }).execute(failing(3), { idempotent: true }), 4);
});

row('cockatiel `handleType(', 'error instanceof NetworkError', async () => {
  const policy = createPolicy({
    classifyError: (error) => (error instanceof NetworkError ? 'retryable' : 'final'),
  });
  assert.equal(await policy.execute(failing(1), { idempotent }), 2);
  await assert.rejects(
    policy.execute(
      failing(1, () => new TypeError('a fault')),
      { idempotent },
    ),
    TypeError,
  );
});

row('cockatiel `circuitBreaker(', 'consecutiveFailures: 5, openForMs: 10_000', async () => {
  const policy = createPolicy({ retry: false, circuitBreaker: { consecutiveFailures: 5, openForMs: 10_000 } });
  const work = failing(5);
  for (let i = 0; i < 5; i++) await assert.rejects(policy.execute(work), NetworkError);
  await assert.rejects(policy.execute(work), isRequestFailedError);
});

row('cockatiel `timeout(', 'attemptMs: 1_000', async () => {
  const policy = createPolicy({ retry: FAST, timeout: { attemptMs: 20 } });
  assert.equal(await policy.execute(({ attempt }) => (attempt === 1 ? hang() : attempt), { idempotent }), 2);
});

row('cockatiel `wrap(', 'one policy with all of them', async () => {
  const policy = createPolicy({
    retry: { maxRetries: 9, ...FAST },
    circuitBreaker: { consecutiveFailures: 2 },
    timeout: { attemptMs: 1_000 },
  });
  const error: unknown = await policy.execute(failing(9), { idempotent }).catch((thrown: unknown) => thrown);
  const report = attemptsOf(error as object);
  assert.deepEqual([report?.attempts.length, report?.reason], [2, 'circuit-open']);
});

row('opossum `new CircuitBreaker(', 'failurePercent: 50, minRequests: 10', async () => {
  const policy = createPolicy({
    retry: false,
    circuitBreaker: { failurePercent: 50, minRequests: 10, openForMs: 30_000 },
  });
  const work = failing(10);
  for (let i = 0; i < 10; i++) await assert.rejects(policy.execute(work), NetworkError);
  await assert.rejects(policy.execute(work), isRequestFailedError);
});

row('opossum `isOpenedError(', "error.reason === 'circuit-open'", async () => {
  const policy = createPolicy({ retry: false, circuitBreaker: { consecutiveFailures: 1 } });
  await assert.rejects(policy.execute(failing(1)), NetworkError);
  const error: unknown = await policy.execute(failing(0)).catch((thrown: unknown) => thrown);
  assert.ok(isRequestFailedError(error) && error.reason === 'circuit-open');
});

row('p-retry `pRetry(', 'maxRetries: 5, backoffMs: 100', async () => {
  const { signal } = new AbortController();
  const policy = createPolicy({ retry: { maxRetries: 5, backoffMs: 1 } });
  assert.equal(await policy.execute(failing(5), { idempotent: true, signal }), 6);
});

row('p-retry `throw new AbortError(', "classifyError: () => 'final'", async () => {
  const policy = createPolicy({ retry: 5, classifyError: () => 'final' });
  const error: unknown = await policy.execute(failing(9), { idempotent }).catch((thrown: unknown) => thrown);
  assert.equal(attemptsOf(error as object)?.attempts.length, 1);
});

row('p-retry `maxRetryTime', 'requestMs: 10_000', async () => {
  const policy = createPolicy({ timeout: { requestMs: 20 } });
  await assert.rejects(policy.execute(hang, { idempotent }), { reason: 'deadline' });
});

const BUSY: Behaviour = { do: 'respond', status: 503 };
const SERVED: Behaviour = { do: 'respond', body: 'served' };

async function serve(t: TestContext, ...script: Behaviour[]): Promise<{ origin: ScriptedOrigin; url: string }> {
  const origin = await startOrigin(script, { t });
  return { origin, url: `http://${origin.address}/` };
}

row('got `got(', 'maxRetries: 2, codes: [503]', async (t) => {
  const { url } = await serve(t, BUSY, BUSY, SERVED);
  const response = await wrapFetch(fetch, { retry: { maxRetries: 2, codes: [503] } })(url);
  assert.equal(await response.text(), 'served');
});

row('got `timeout', 'attemptMs: 1_000', async (t) => {
  const { url } = await serve(t, { do: 'hang' }, SERVED);
  const response = await wrapFetch(fetch, { retry: { on: ['timeout'] }, timeout: { attemptMs: 50 } })(url);
  assert.equal(await response.text(), 'served');
});

row('ky `ky.create(', 'attemptMs: 1_000, requestMs: 5_000', async (t) => {
  const { url } = await serve(t, { do: 'hang' });
  const wrapped = wrapFetch(fetch, { retry: 2, timeout: { attemptMs: 1_000, requestMs: 1_000 } });
  await assert.rejects(wrapped(url), isRequestFailedError);
});

row('ky `hooks', 'onRetry: log', async (t) => {
  const { url } = await serve(t, BUSY, SERVED);
  const seen: unknown[] = [];
  const wrapped = wrapFetch(fetch, { retry: { codes: [503] }, onRetry: ({ status }) => seen.push(status) });
  await (await wrapped(url)).text();
  assert.deepEqual(seen, [503]);
});

row('axios-retry `axiosRetry(', "wrapAxiosAdapter(axios.getAdapter('http')", async (t) => {
  const { origin } = await serve(t);
  await origin.stopListening();
  const client = axios.create({ adapter: wrapAxiosAdapter(axios.getAdapter('http'), { retry: 3 }) });
  const error: unknown = await client.get(`http://${origin.address}/`).catch((thrown: unknown) => thrown);
  assert.equal(attemptsOf(error as object)?.attempts.length, 4);
});

row('axios-retry `retryCondition', "(status === 423 ? 'retryable' : undefined)", async (t) => {
  const { url } = await serve(t, { do: 'respond', status: 423 }, SERVED);
  const adapter = wrapAxiosAdapter(axios.getAdapter('http'), {
    retry: { classify: ({ status }) => (status === 423 ? 'retryable' : undefined) },
  });
  assert.equal((await axios.create({ adapter }).get(url)).data, 'served');
});

const dispatcherOf = (t: TestContext, ...options: Parameters<typeof retry>): Agent => {
  const agent = new Agent();
  t.after(() => agent.destroy());
  return agent.compose(retry(...options)) as Agent;
};

row('undici `new RetryAgent(', 'maxRetries: 5, codes: [503]', async (t) => {
  const { url } = await serve(t, BUSY, BUSY, SERVED);
  const dispatcher = dispatcherOf(t, { retry: { maxRetries: 5, codes: [503] } });
  assert.equal(await (await request(url, { dispatcher })).body.text(), 'served');
});

row('undici `new Agent().compose(', 'no status is ever thrown', async (t) => {
  const { url } = await serve(t, BUSY);
  const response = await request(url, { dispatcher: dispatcherOf(t) });
  await response.body.dump();
  assert.equal(response.statusCode, 503);
});

row('undici `setGlobalDispatcher(', 'setGlobalDispatcher(new Agent().compose(retry()))', async (t) => {
  const { url } = await serve(t, SERVED);
  const before = getGlobalDispatcher();
  t.after(() => setGlobalDispatcher(before));
  setGlobalDispatcher(dispatcherOf(t));
  assert.equal(await (await fetch(url)).text(), 'served');
});
