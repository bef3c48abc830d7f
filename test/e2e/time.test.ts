import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { startRig } from '../support/running-gateway.ts';

failOnLeaks();

const on503 = { retry: { codes: [503, 429], attempts: 1, backoff: '1ms' } };
const gapMs = (requests: readonly { readonly atMs: number }[]): number => requests[1]!.atMs - requests[0]!.atMs;

test('Retry-After in seconds is waited for', async (t) => {
  const { origin, client } = await startRig(
    t,
    [{ do: 'respond', status: 503, headers: { 'Retry-After': '1' } }, { do: 'respond' }],
    { route: on503 },
  );
  assert.equal((await client.request({})).status, 200);
  assert.ok(gapMs(origin.journal.requests) >= 990, `${gapMs(origin.journal.requests)} ms`);
});

test('Retry-After as a date is waited for by the clock of the server that sent it', async (t) => {
  // The server's clock is years off; only the second between its two dates counts.
  const headers = { Date: 'Sun, 06 Nov 1994 08:49:37 GMT', 'Retry-After': 'Sun, 06 Nov 1994 08:49:38 GMT' };
  const { origin, client } = await startRig(t, [{ do: 'respond', status: 503, headers }, { do: 'respond' }], {
    route: on503,
  });
  assert.equal((await client.request({})).status, 200);
  assert.ok(gapMs(origin.journal.requests) >= 990, `${gapMs(origin.journal.requests)} ms`);
});

test('Retry-After in the past does not hold up the retry', async (t) => {
  const headers = { 'Retry-After': 'Sun, 06 Nov 1994 08:49:37 GMT' };
  const { origin, client } = await startRig(t, [{ do: 'respond', status: 503, headers }, { do: 'respond' }], {
    route: on503,
  });
  assert.deepEqual([(await client.request({})).status, origin.requestCount()], [200, 2]);
});

for (const value of ['-1', '1.5', 'soon', '99999999999999999999999', '1e3', '0x10', '']) {
  test(`Retry-After: ${value || '(empty)'} neither crashes nor freezes the request`, async (t) => {
    const { origin, client } = await startRig(
      t,
      [{ do: 'respond', status: 503, headers: { 'Retry-After': value }, body: 'busy' }, { do: 'respond' }],
      { route: on503 },
    );
    const response = await client.request({});
    assert.ok(
      (response.status === 200 && origin.requestCount() === 2) ||
        (response.text === 'busy' && origin.requestCount() === 1),
    );
  });
}

for (const [status, value] of [
  [503, '3600'],
  [429, '11'],
] as const) {
  test(`a ${status} that asks for ${value} s, above the cap, is delivered at once with its Retry-After`, async (t) => {
    const { origin, client, gateway } = await startRig(
      t,
      { do: 'respond', status, headers: { 'Retry-After': value }, body: 'later' },
      { route: on503 },
    );
    const response = await client.request({});
    assert.deepEqual(
      [response.status, response.value('retry-after'), response.text, origin.requestCount()],
      [status, value, 'later', 1],
    );
    assert.equal((await gateway.record()).reason, 'retry-after-too-long');
  });
}

test('a Retry-After beyond the deadline of the request is delivered at once', async (t) => {
  const route = { ...on503, timeouts: { request: '2s' } };
  const { origin, client, gateway } = await startRig(
    t,
    { do: 'respond', status: 503, headers: { 'Retry-After': '5' } },
    { route },
  );
  assert.deepEqual([(await client.request({})).status, origin.requestCount()], [503, 1]);
  assert.equal((await gateway.record()).reason, 'retry-after-too-long');
});

test('retries end with the request timeout, however many are allowed', async (t) => {
  const route = {
    timeouts: { request: '300ms' },
    retry: { codes: [503], attempts: 100, backoff: '20ms', jitter: 'none' },
  };
  const { origin, client, gateway } = await startRig(
    t,
    { do: 'respond', status: 503, body: 'busy' },
    { upstream: { retryBudget: { kind: 'none' } }, route },
  );
  const response = await client.request({});
  assert.ok(response.status === 503 || response.status === 504);
  assert.ok(origin.requestCount() > 1 && origin.requestCount() < 16, `${origin.requestCount()} sends`);
  assert.equal((await gateway.record()).reason, 'deadline');
  assert.ok((await gateway.record()).retryBackoff <= 300);
});

test('a head that drips is bounded by the request timeout, not by each of its bytes', async (t) => {
  const { origin, client } = await startRig(
    t,
    { do: 'respond', headers: { 'X-Long': 'x'.repeat(2000) }, drip: { part: 'head', pieceBytes: 1, everyMs: 20 } },
    { route: { timeouts: { request: '400ms' } } },
  );
  assert.deepEqual([(await client.request({})).status, origin.requestCount()], [504, 1]);
  await origin.waitForNoConnection();
});

test('the attempt timeout does not run while a slow client is still sending its body', async (t) => {
  const { origin, client } = await startRig(t, {}, { route: { timeouts: { backendRequest: '300ms' } } });
  const text = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n';
  await client.send(text, ['POST']);
  await client.sendPieces('0123456789', 1, 80);
  assert.deepEqual([(await client.response()).status, origin.request().body.toString()], [200, '0123456789']);
});

test('the attempt timeout ends with the first byte of the head: a slow body is not its business', async (t) => {
  const { client } = await startRig(
    t,
    { do: 'respond', body: 'x'.repeat(20), drip: { part: 'body', pieceBytes: 1, everyMs: 30 } },
    { route: { timeouts: { backendRequest: '300ms' } } },
  );
  const response = await client.request({});
  assert.deepEqual([response.status, response.complete], [200, true]);
});

test('a client that drips its head is cut off after the header timeout and reaches no origin', async (t) => {
  const { origin, client } = await startRig(t, {}, { limits: { headerTimeout: '300ms' } });
  void client.sendPieces(`GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(2000)}\r\n\r\n`, 1, 20);
  await client.waitForEnd();
  const response = await client.response();
  assert.ok(response.status === 408 || response.status === 0, `status ${response.status}`);
  assert.equal(origin.requestCount(), 0);
});

test('a client that stops in the middle of its body is answered 408, or cut off, and the upstream is freed', async (t) => {
  const { origin, client } = await startRig(t, {}, { limits: { bodyIdle: '300ms' } });
  await client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc', ['POST']);
  const response = await client.response();
  assert.ok(response.status === 408 || response.status === 0, `status ${response.status}`);
  await client.waitForEnd();
  await origin.waitForNoConnection();
  assert.equal(origin.requestCount({ complete: true }), 0);
});

test('an idle client connection is closed after keepAlive', async (t) => {
  const { client } = await startRig(t, {}, { limits: { keepAlive: '300ms' } });
  assert.equal((await client.request({})).status, 200);
  assert.equal(await client.waitForEnd(), 'fin');
});
