import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patternBytes } from '../support/fields.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { startRigOf } from '../support/running-gateway.ts';

failOnLeaks();

/** The first request pays for a copy at once. */
const upstream = { retryBudget: { percent: 100 } };
const route = { hedge: { delay: '50ms' } };

test('delay: a slow first endpoint is overtaken by a copy at the second, and sees its connection closed', async (t) => {
  const { origins, client, gateway } = await startRigOf(t, [{ do: 'hang' }, { do: 'respond', body: 'fast' }], {
    upstream,
    route,
  });
  const response = await client.request({});
  assert.deepEqual([response.status, response.text], [200, 'fast']);
  await origins[0]!.waitForNoConnection();
  const { attempts, retryAttempts } = await gateway.record();
  assert.deepEqual(
    attempts.map(({ endpoint, hedge, superseded, status }) => [endpoint, hedge, superseded, status]),
    [
      [origins[0]!.address, undefined, true, undefined],
      [origins[1]!.address, true, undefined, 200],
    ],
  );
  assert.equal(retryAttempts, 0);
  assert.deepEqual(origins[1]!.request().values('request-attempt'), ['n=2, lineage=1']);
});

test('a fast answer needs no copy', async (t) => {
  const { origins, client } = await startRigOf(t, [{}, {}], { upstream, route });
  for (let i = 0; i < 5; i += 1) assert.equal((await client.request({})).status, 200);
  assert.equal(origins[1]!.requestCount(), 0);
});

test('when the first endpoint answers first the copy is given up and its body goes on', async (t) => {
  const { origins, client } = await startRigOf(
    t,
    [{ do: 'respond', gate: 'go', body: 'slow but first', bodyDelayMs: 20 }, { do: 'hang' }],
    { upstream, route },
  );
  const response = client.request({});
  await origins[1]!.waitForRequest();
  origins[0]!.open('go');
  assert.equal((await response).text, 'slow but first');
  await origins[1]!.waitForNoConnection();
});

test('a keyed POST is copied with its whole body, read twice at the same time', async (t) => {
  const body = patternBytes(40_000);
  const { origins, client } = await startRigOf(t, [{ do: 'hang', at: 'complete' }, {}], { upstream, route });
  const response = await client.request({ method: 'POST', headers: { 'Idempotency-Key': 'k' }, body });
  assert.equal(response.status, 200);
  const [first, second] = origins.map((origin) => origin.request());
  assert.deepEqual([first!.bodyBytes, second!.bodyBytes], [40_000, 40_000]);
  assert.equal(first!.bodySha256, second!.bodySha256);
  assert.deepEqual(second!.values('idempotency-key'), ['k']);
});

test('a POST is never copied, nor a body that is not kept whole; the record says why', async (t) => {
  const { origins, client, gateway } = await startRigOf(t, [{ do: 'respond', delayMs: 150 }, {}], {
    upstream,
    route: { ...route, replayBuffer: '1KiB' },
  });
  assert.equal((await client.request({ method: 'POST', body: 'x' })).status, 200);
  assert.equal((await client.request({ method: 'PUT', body: patternBytes(5000) })).status, 200);
  assert.equal(origins[1]!.requestCount(), 0);
  assert.equal((await gateway.record(1)).hedgeRefused, 'not-idempotent');
  assert.equal((await gateway.record(2)).hedgeRefused, 'body-not-replayable');
});

test('an upload that is still arriving is not copied', async (t) => {
  const { origins, client, gateway } = await startRigOf(t, [{}, {}], { upstream, route });
  await client.send('PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\none', ['PUT']);
  await origins[0]!.waitFor(({ requests }) => requests[0]?.bodyBytes === 3);
  await new Promise((resolve) => setTimeout(resolve, 120));
  await client.send('two');
  assert.equal((await client.response()).status, 200);
  assert.equal(origins[1]!.requestCount(), 0);
  assert.equal((await gateway.record()).hedgeRefused, 'body-not-replayable');
});

test('copies come out of the budget without its reserve: a fifth of the requests at most', async (t) => {
  const { origins, client, gateway } = await startRigOf(t, [{ do: 'respond', delayMs: 60 }, {}], {
    upstream: { retryBudget: { percent: 20 } },
    route: { hedge: { delay: '20ms' } },
  });
  for (let i = 0; i < 10; i += 1) assert.equal((await client.request({})).status, 200);
  assert.equal(origins[1]!.requestCount(), 2);
  assert.equal((await gateway.record(1)).hedgeRefused, 'budget-exhausted');
});

test('a failing copy is let pass, and the slow answer arrives', async (t) => {
  const { origins, client, gateway } = await startRigOf(
    t,
    [
      { do: 'respond', gate: 'go', body: 'slow' },
      { do: 'respond', status: 503 },
    ],
    { upstream, route: { ...route, retry: { codes: [503], attempts: 0 } } },
  );
  const response = client.request({});
  await origins[1]!.waitForRequest();
  origins[0]!.open('go');
  assert.deepEqual([(await response).status, (await response).text], [200, 'slow']);
  assert.deepEqual(
    (await gateway.record()).attempts.map((attempt) => attempt.status),
    [200, 503],
  );
});

test('a client that leaves ends both attempts, and no more is sent', async (t) => {
  const { origins, client, gateway } = await startRigOf(t, [{ do: 'hang' }, { do: 'hang' }], { upstream, route });
  await client.sendRequest({});
  await origins[1]!.waitForRequest();
  client.reset();
  const record = await gateway.record();
  assert.deepEqual([record.status, record.flags, record.attempts.length], [499, ['DC'], 2]);
  await Promise.all(origins.map((origin) => origin.waitForNoConnection()));
});

test('max and attempts: a request is sent at most 1 + attempts + max times', async (t) => {
  const { origins, client, gateway } = await startRigOf(
    t,
    Array.from({ length: 6 }, () => ({ do: 'respond', status: 503, delayMs: 80 }) as const),
    {
      upstream: { retryBudget: { kind: 'none' } },
      route: { hedge: { delay: '20ms', max: 2 }, retry: { codes: [503], attempts: 1, backoff: '1ms' } },
    },
  );
  assert.equal((await client.request({})).status, 503);
  const sends = origins.reduce((sum, origin) => sum + origin.requestCount(), 0);
  assert.equal(sends, 4);
  const { attempts, retryAttempts, reason } = await gateway.record();
  assert.deepEqual(
    [attempts.filter((one) => one.hedge === true).length, retryAttempts, reason],
    [2, 1, 'attempts-exhausted'],
  );
});
