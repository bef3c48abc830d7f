import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { attemptsOf } from '../../src/client/attempts.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import { wrapFetch } from '../../src/client/wrap-fetch.ts';
import { createBudget } from '../../src/client/options.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

const RETRY = {
  maxRetries: 2,
  codes: [503],
  on: ['unsent', 'rejected', 'stale', 'reset', 'timeout'],
  backoffMs: 0,
  maxBackoffMs: 0,
} as const;

const failThenServe = (t: TestContext) =>
  startOrigin(
    [
      { do: 'respond', status: 503, body: 'busy' },
      { do: 'respond', body: 'served' },
    ],
    { t },
  );

test('a status that the policy names is retried, and the answer tells what happened before', async (t) => {
  const origin = await failThenServe(t);
  const response = await wrapFetch(fetch, { retry: RETRY })(`http://${origin.address}/a`);
  assert.equal(await response.text(), 'served');
  assert.equal(response.url, `http://${origin.address}/a`);
  const report = attemptsOf(response);
  assert.deepEqual(
    report?.attempts.map(({ status }) => status),
    [503, 200],
  );
  assert.deepEqual([report?.reason, report?.retryCount], ['success', 1]);
  assert.equal(origin.requestCount(), 2);
  assert.equal(origin.request(2).value('request-attempt'), 'n=2, lineage=1');
});

test('a POST is not repeated after a 503, and the answer passes untouched', async (t) => {
  const origin = await startOrigin({ do: 'respond', status: 503, body: 'busy' }, { t });
  const response = await wrapFetch(fetch, { retry: RETRY })(`http://${origin.address}/`, { method: 'POST', body: 'x' });
  assert.deepEqual([response.status, await response.text()], [503, 'busy']);
  assert.equal(attemptsOf(response)?.reason, 'not-idempotent');
  assert.equal(origin.requestCount(), 1);
});

test('a POST with a key is repeated with the same key', async (t) => {
  const origin = await failThenServe(t);
  const wrapped = wrapFetch(fetch, { retry: RETRY, idempotencyKey: true });
  const response = await wrapped(`http://${origin.address}/`, { method: 'POST', body: 'x', headers: { 'X-A': '1' } });
  assert.equal(await response.text(), 'served');
  assert.match(origin.request(1).value('idempotency-key') ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(origin.request(1).value('idempotency-key'), origin.request(2).value('idempotency-key'));
  assert.equal(origin.request(2).value('x-a'), '1');
});

test('a POST that was refused is repeated only where no redirect can have come before', async (t) => {
  const origin = await startOrigin({}, { t });
  await origin.stopListening();
  const wrapped = wrapFetch(fetch, { retry: RETRY });
  const send = async (redirect: 'follow' | 'manual'): Promise<unknown> => {
    const error = await wrapped(`http://${origin.address}/`, { method: 'POST', body: 'x', redirect }).then(
      () => assert.fail('nobody listens'),
      (thrown: unknown) => thrown as Error,
    );
    assert.equal((error.cause as NodeJS.ErrnoException).code, 'ECONNREFUSED');
    const report = attemptsOf(error);
    return [report?.attempts.length, report?.reason];
  };
  assert.deepEqual(await send('follow'), [1, 'not-idempotent']);
  assert.deepEqual(await send('manual'), [3, 'attempts-exhausted']);
});

test('a POST whose redirect leads to a refused connection is sent once', async (t) => {
  const gone = await startOrigin({}, { t });
  await gone.stopListening();
  const origin = await startOrigin(
    { do: 'respond', status: 303, headers: { Location: `http://${gone.address}/` } },
    { t },
  );
  const wrapped = wrapFetch(fetch, { retry: RETRY });
  await assert.rejects(wrapped(`http://${origin.address}/`, { method: 'POST', body: 'x' }), TypeError);
  assert.equal(origin.requestCount(), 1);
});

test('the last real answer comes back when a retry fails without one', async (t) => {
  const origin = await startOrigin([{ do: 'respond', status: 503, body: 'busy' }, { do: 'reset' }], { t });
  const response = await wrapFetch(fetch, { retry: { ...RETRY, maxRetries: 1 } })(`http://${origin.address}/`);
  assert.deepEqual([response.status, await response.text()], [503, 'busy']);
  assert.equal(attemptsOf(response)?.reason, 'attempts-exhausted');
  assert.equal(origin.requestCount(), 2);
});

test('an endless answer of a failed attempt holds nothing up', async (t) => {
  const origin = await startOrigin(
    [
      { do: 'endless', status: 503 },
      { do: 'respond', body: 'served' },
    ],
    { t },
  );
  const response = await wrapFetch(fetch, { retry: RETRY })(`http://${origin.address}/`);
  assert.equal(await response.text(), 'served');
});

test('Retry-After beyond the limit ends the request with its answer', async (t) => {
  const origin = await startOrigin({ do: 'respond', status: 503, headers: { 'Retry-After': '3600' } }, { t });
  const response = await wrapFetch(fetch, { retry: RETRY })(`http://${origin.address}/`);
  await response.text();
  assert.equal(attemptsOf(response)?.reason, 'retry-after-too-long');
  assert.equal(origin.requestCount(), 1);
});

test('an exhausted budget ends the request with the last answer', async (t) => {
  const origin = await startOrigin({ do: 'respond', status: 503 }, { t });
  const budget = createBudget({ kind: 'ratio', percent: 0 });
  const response = await wrapFetch(fetch, { retry: RETRY, budget })(`http://${origin.address}/`);
  await response.text();
  assert.equal(attemptsOf(response)?.reason, 'budget-exhausted');
  assert.equal(origin.requestCount(), 1);
});

test('an attempt that takes too long is ended and the next one begins', async (t) => {
  const origin = await startOrigin([{ do: 'hang' }, { do: 'respond', body: 'served' }], { t });
  const wrapped = wrapFetch(fetch, { retry: RETRY, timeout: { attemptMs: 50 } });
  const response = await wrapped(`http://${origin.address}/`);
  assert.equal(await response.text(), 'served');
  assert.equal(attemptsOf(response)?.attempts[0]?.failure, 'http_response_timeout');
  await origin.waitFor((journal) => journal.requests[0]?.closedByClientAtMs !== undefined);
});

test('the deadline ends everything with an error of its own', async (t) => {
  const origin = await startOrigin({ do: 'hang' }, { t });
  const error = await wrapFetch(fetch, { retry: RETRY, timeout: 50 })(`http://${origin.address}/`).catch(
    (e: unknown) => e,
  );
  assert.ok(isRequestFailedError(error));
  assert.deepEqual([error.kind, error.reason, error.attempts.length], ['deadline_exceeded', 'deadline', 1]);
  await origin.waitFor((journal) => journal.requests[0]?.closedByClientAtMs !== undefined);
});

test('an aborted signal sends nothing', async (t) => {
  const origin = await startOrigin({}, { t });
  const reason = new Error('changed my mind');
  const send = wrapFetch(fetch)(`http://${origin.address}/`, { signal: AbortSignal.abort(reason) });
  await assert.rejects(send, reason);
  assert.equal(origin.requestCount(), 0);
});

test('an abort in the wait between two attempts ends the request at once', async (t) => {
  const origin = await startOrigin({ do: 'respond', status: 503 }, { t });
  const aborter = new AbortController();
  const reason = new Error('changed my mind');
  const wrapped = wrapFetch(fetch, {
    retry: { ...RETRY, backoffMs: 60_000, maxBackoffMs: 60_000, jitter: 'none' },
    onRetry: () => aborter.abort(reason),
  });
  await assert.rejects(wrapped(`http://${origin.address}/`, { signal: aborter.signal }), reason);
  assert.equal(origin.requestCount(), 1);
});

test('an abort while an attempt is under way closes its connection', async (t) => {
  const origin = await startOrigin({ do: 'hang' }, { t });
  const aborter = new AbortController();
  const send = wrapFetch(fetch, { retry: RETRY })(`http://${origin.address}/`, { signal: aborter.signal });
  await origin.waitForRequest(1);
  aborter.abort();
  await assert.rejects(send, { name: 'AbortError' });
  await origin.waitFor((journal) => journal.requests[0]?.closedByClientAtMs !== undefined);
  assert.equal(origin.requestCount(), 1);
});

test('an abort while the answer streams reaches its reader', async (t) => {
  const origin = await startOrigin({ do: 'endless' }, { t });
  const aborter = new AbortController();
  const response = await wrapFetch(fetch, { retry: RETRY })(`http://${origin.address}/`, { signal: aborter.signal });
  aborter.abort();
  await assert.rejects(response.text(), { name: 'AbortError' });
});

test('what is out of scope is sent exactly once', async (t) => {
  const origin = await startOrigin({ do: 'respond', status: 503 }, { t });
  const response = await wrapFetch(fetch, { retry: { ...RETRY, scope: 'api.example.com' } })(
    `http://${origin.address}/`,
  );
  await response.text();
  assert.equal(origin.requestCount(), 1);
});

test('an open circuit sends nothing', async (t) => {
  const origin = await startOrigin({ do: 'respond', status: 503 }, { t });
  const wrapped = wrapFetch(fetch, { retry: false, circuitBreaker: { consecutiveFailures: 2 } });
  for (let i = 0; i < 2; i++) await (await wrapped(`http://${origin.address}/`)).text();
  const error = await wrapped(`http://${origin.address}/`).catch((thrown: unknown) => thrown);
  assert.ok(isRequestFailedError(error));
  assert.deepEqual([error.reason, origin.requestCount()], ['circuit-open', 2]);
});

test('an option that does not exist is refused', () => {
  assert.throws(() => wrapFetch(fetch, { retires: 2 } as object), /there is no option "retires"/);
  assert.throws(() => wrapFetch(fetch, { timeout: { connectMs: 1 } as object }), /"connectMs"/);
  assert.throws(() => wrapFetch(fetch, { idempotencyKey: 'one' }), /one string for many requests/);
});
