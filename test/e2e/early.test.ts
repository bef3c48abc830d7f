import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patternBytes } from '../support/fields.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { Then } from '../support/origin-script.ts';
import { requestRaw } from '../support/raw-client.ts';
import { startRig } from '../support/running-gateway.ts';

failOnLeaks();

const bold = {
  retry: { attempts: 5, codes: [500, 502, 503], on: ['unsent', 'stale', 'reset', 'timeout'], backoff: '1ms' },
};

for (const then of ['close', 'keep-alive', 'destroy', 'reset', 'stop-reading'] as const satisfies readonly Then[]) {
  test(`an early 413 in the middle of an upload, then ${then}, reaches the client with its body`, async (t) => {
    const { origin, client, gateway } = await startRig(
      t,
      [{ do: 'respond', at: { bodyBytes: 1000 }, status: 413, body: 'too large', then }, { do: 'respond' }],
      { route: bold },
    );
    const response = await client.request({ method: 'PUT', body: patternBytes(10 * 1024 * 1024) });
    // After a reset the kernel may throw away what it had received: then there is nothing to pass on but our own answer.
    if (then !== 'reset' && then !== 'destroy') assert.deepEqual([response.status, response.text], [413, 'too large']);
    else assert.ok(response.status === 413 || response.status === 502, `status ${response.status}`);
    assert.equal(origin.requestCount(), 1);
    assert.equal((await requestRaw(gateway.port)).status, 200);
  });
}

test('an early 401 with Connection: close right after the head is passed on and not retried', async (t) => {
  const { origin, client } = await startRig(
    t,
    { do: 'respond', at: 'head', status: 401, headers: { Connection: 'close' }, body: 'who?', then: 'close' },
    { route: bold },
  );
  const response = await client.request({ method: 'POST', body: patternBytes(1024 * 1024) });
  assert.deepEqual([response.status, response.text, origin.requestCount()], [401, 'who?', 1]);
});

test('Expect: 100-continue: the client gets one 100, then the answer, and the upstream gets the body once', async (t) => {
  const { origin, client } = await startRig(t, {
    do: 'steps',
    steps: [
      { step: 'until', point: 'head' },
      { step: 'send', bytes: 'HTTP/1.1 100 Continue\r\n\r\n' },
      { step: 'until', point: 'complete' },
      { step: 'send', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok' },
      { step: 'answered' },
    ],
  });
  await client.send('POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n', ['POST']);
  await client.waitFor(() => client.interim.length > 0);
  await client.send('hello');
  const response = await client.response();
  assert.deepEqual([response.status, response.interim.map((head) => head.status)], [200, [100]]);
  assert.deepEqual([origin.requestCount(), origin.request().body.toString()], [1, 'hello']);
});

test('Expect: 100-continue: a refusal of the upstream comes without a 100 and without the body', async (t) => {
  const { origin, client } = await startRig(t, { do: 'respond', at: 'head', status: 401, body: 'no' });
  await client.send('POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n', ['POST']);
  const response = await client.response();
  assert.deepEqual([response.status, response.text, response.interim.length], [401, 'no', 0]);
  // What the client sends now is a late body, or a request of its own after a close: never a request "hello".
  await client.send('hello');
  assert.equal(origin.requestCount(), 1);
});

test('Expect: 100-continue: an upstream that never says 100 gets the body all the same', async (t) => {
  const { origin, client } = await startRig(t, {});
  await client.send('POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n', ['POST']);
  await client.waitFor(() => client.interim.length > 0 || origin.requestCount() > 0);
  await client.send('hello');
  assert.deepEqual([(await client.response()).status, origin.request().body.toString()], [200, 'hello']);
});

test('Expect: 100-continue: a retry after a refusal needs no copy of a body that was never sent', async (t) => {
  const expecting = { ...bold, replayBuffer: '0B' };
  const { origin, client } = await startRig(t, [{ do: 'respond', at: 'head', status: 503 }, { do: 'respond' }], {
    route: expecting,
  });
  await client.send('PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n', ['PUT']);
  await client.waitFor(() => client.interim.length > 0 || client.responses.length > 0);
  await client.send('hello');
  assert.equal((await client.response()).status, 200);
  assert.deepEqual([origin.requestCount(), origin.request(2).body.toString()], [2, 'hello']);
});

test('an unknown expectation is answered 417 and reaches no origin', async (t) => {
  const { origin, client } = await startRig(t, {});
  assert.equal((await client.request({ headers: { Expect: 'the-unexpected' } })).status, 417);
  assert.equal(origin.requestCount(), 0);
});

test('an upstream that stops reading a large upload is given up after the idle timeout, with an answer', async (t) => {
  const { origin, client } = await startRig(
    t,
    { do: 'stop-reading', at: 'head' },
    { route: { timeouts: { idle: '300ms' } } },
  );
  const response = await client.request({ method: 'PUT', body: patternBytes(32 * 1024 * 1024) });
  assert.ok(response.status === 504 || response.status === 502, `status ${response.status}`);
  assert.equal(origin.requestCount(), 1);
});

test('a client that does not read holds the upstream back: what is sent stays bounded', async (t) => {
  const { origin, client, gateway } = await startRig(t, {
    rules: [{ when: { target: '/endless' }, behave: { do: 'endless' } }],
  });
  client.pauseReading();
  await client.sendRequest({ target: '/endless' });
  await origin.waitForRequest();
  for (let i = 0; i < 200; i++) await requestRaw(gateway.port);
  const sentBytes = origin.journal.connections[0]!.bytesSent;
  assert.ok(sentBytes < 32 * 1024 * 1024, `${sentBytes} bytes were taken from the upstream`);
});
