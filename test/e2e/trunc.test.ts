import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { patternBytes } from '../support/fields.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { Then } from '../support/origin-script.ts';
import { startRig, startRigOf } from '../support/running-gateway.ts';

failOnLeaks();

const bold = {
  retry: { attempts: 5, codes: [500, 502, 503], on: ['unsent', 'stale', 'reset', 'timeout'], backoff: '1ms' },
};
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

for (const framing of ['length', 'chunked'] as const) {
  for (const then of ['reset', 'close', 'destroy'] as const satisfies readonly Then[]) {
    test(`a ${framing} body that ends with ${then} is visibly cut for the client and not repeated`, async (t) => {
      const body = patternBytes(100);
      const { origin, client, gateway } = await startRig(
        t,
        { do: 'respond', framing, body, chunkBytes: 10, cut: { bodyBytes: 30 }, then },
        { route: bold },
      );
      const response = await client.request({});
      assert.deepEqual([response.status, response.complete, origin.requestCount()], [200, false, 1]);
      assert.notEqual(response.ending, undefined);
      // No padding, no text of ours: what came is a prefix of what the origin sent.
      assert.equal(Buffer.compare(response.body, body.subarray(0, response.body.length)), 0);
      const record = await gateway.record();
      assert.deepEqual([record.status, record.truncated], [200, true]);
    });
  }
}

test('a body that stalls is cut after the idle timeout', async (t) => {
  const { origin, client } = await startRig(
    t,
    { do: 'respond', body: 'abcdef', cut: { bodyBytes: 3 }, then: 'hang' },
    { route: { ...bold, timeouts: { idle: '200ms' } } },
  );
  const response = await client.request({});
  assert.deepEqual([response.status, response.text, response.complete, origin.requestCount()], [200, 'abc', false, 1]);
  await origin.waitForNoConnection();
});

test('a body that drips stays alive while it is faster than the idle timeout', async (t) => {
  const { client } = await startRig(
    t,
    { do: 'respond', body: 'x'.repeat(40), drip: { part: 'body', pieceBytes: 1, everyMs: 20 } },
    { route: { timeouts: { idle: '500ms' } } },
  );
  const response = await client.request({});
  assert.deepEqual([response.complete, response.body.length], [true, 40]);
});

test('a JSON list that is cut in its middle is never a whole 200', async (t) => {
  const body = JSON.stringify(Array.from({ length: 1000 }, (_, id) => ({ id })));
  const { client } = await startRig(t, {
    do: 'respond',
    body,
    framing: 'chunked',
    chunkBytes: 1000,
    cut: { bodyBytes: 5000 },
    then: 'close',
  });
  assert.equal((await client.request({})).complete, false);
});

test('a slow client gets every byte of a large chunked response', async (t) => {
  const body = patternBytes(8 * 1024 * 1024);
  const { client } = await startRig(t, { do: 'respond', body, framing: 'chunked', chunkBytes: 10_000 });
  await client.sendRequest({});
  for (let bytes = 500_000; bytes < body.length; bytes += 500_000) {
    await client.waitForBytes(bytes);
    client.pauseReading();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    client.resumeReading();
  }
  const response = await client.response();
  assert.equal(sha256(response.body), sha256(body));
});

test('after a cut response the record and the next request are clean', async (t) => {
  const { client, gateway } = await startRig(t, [
    { do: 'respond', body: 'abcdef', cut: { bodyBytes: 3 }, then: 'reset' },
    { do: 'respond', body: 'whole' },
  ]);
  assert.equal((await client.request({})).complete, false);
  const next = await (await gateway.connect()).request({});
  assert.deepEqual([next.text, next.complete], ['whole', true]);
});

test('nothing of a failed attempt is on the wire when another endpoint answers', async (t) => {
  const failing = {
    do: 'respond',
    status: 500,
    headers: { 'X-From': 'a', 'Set-Cookie': 'a=1' },
    body: 'from a',
  } as const;
  const { origins, client } = await startRigOf(
    t,
    [failing, { do: 'respond', headers: { 'X-From': 'b' }, body: 'from b' }],
    { route: bold },
  );
  const response = await client.request({});
  assert.deepEqual(
    [response.status, response.values('x-from'), response.values('set-cookie'), response.text],
    [200, ['b'], [], 'from b'],
  );
  assert.deepEqual(
    origins.map((origin) => origin.requestCount()),
    [1, 1],
  );
});

test('when every endpoint fails the client gets the last answer, status, fields and body', async (t) => {
  const answer = (name: string) =>
    ({ do: 'respond', status: 503, headers: { 'Retry-After': '0', 'X-From': name }, body: `from ${name}` }) as const;
  const { client, gateway } = await startRigOf(t, [answer('a'), answer('b')], {
    route: { retry: { codes: [503], attempts: 1, backoff: '1ms' } },
  });
  const response = await client.request({});
  assert.deepEqual([response.status, response.values('x-from'), response.text], [503, ['b'], 'from b']);
  assert.equal((await gateway.record()).reason, 'attempts-exhausted');
});

test('a HEAD whose answer declares a length is complete after one attempt', async (t) => {
  const { origin, client } = await startRig(t, { do: 'respond', body: 'x'.repeat(50) }, { route: bold });
  const response = await client.request({ method: 'HEAD' });
  assert.deepEqual(
    [response.status, response.value('content-length'), response.complete, origin.requestCount()],
    [200, '50', true, 1],
  );
});

test('an endless error body of a failed attempt does not hold back the retry', async (t) => {
  const { origin, client } = await startRig(t, [{ do: 'endless', status: 503 }, { do: 'respond' }], { route: bold });
  const response = await client.request({});
  assert.deepEqual([response.status, origin.requestCount()], [200, 2]);
});

test('an error body that stalls does not hold back the retry', async (t) => {
  const { origin, client } = await startRig(
    t,
    [{ do: 'respond', status: 503, body: 'abc', cut: { bodyBytes: 1 }, then: 'hang' }, { do: 'respond' }],
    { route: bold },
  );
  const response = await client.request({});
  assert.deepEqual([response.status, origin.requestCount()], [200, 2]);
});
