import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusedAddress } from '../support/addresses.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { requestRaw } from '../support/raw-client.ts';
import { gatewayFile, startGateway, startRig } from '../support/running-gateway.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

interface RetryCase {
  readonly fails: number;
  readonly code: number;
  readonly codes: readonly number[];
  readonly attempts: number;
  readonly status: number;
  readonly sends: number;
}

const retryCases: readonly RetryCase[] = [
  { fails: 2, code: 500, codes: [500], attempts: 3, status: 200, sends: 3 },
  { fails: 4, code: 500, codes: [500], attempts: 3, status: 500, sends: 4 },
  { fails: 2, code: 503, codes: [500], attempts: 3, status: 503, sends: 1 },
  { fails: 2, code: 500, codes: [500], attempts: 0, status: 500, sends: 1 },
  ...[500, 502, 503, 504].flatMap((code): RetryCase[] => [
    { fails: 1, code, codes: [500, 502, 503, 504], attempts: 2, status: 200, sends: 2 },
    { fails: 3, code, codes: [500, 502, 503, 504], attempts: 2, status: code, sends: 3 },
  ]),
];

for (const { fails, code, codes, attempts, status, sends } of retryCases) {
  test(`${fails} answers of ${code} with ${attempts} attempts for ${codes.join()} end in ${status} after ${sends} sends`, async (t) => {
    const { origin, client } = await startRig(
      t,
      { do: 'retry-echo' },
      { route: { retry: { codes, attempts, backoff: '1ms' } } },
    );
    const response = await client.request({ target: `/retry/?uuid=u&succeedAfter=${fails}&responseCode=${code}` });
    assert.deepEqual([response.status, response.complete, origin.requestCount()], [status, true, sends]);
    // The last real response is delivered with its body, never an answer of our own in its place.
    assert.equal(response.text, status === 200 ? `succeeded at request ${sends}` : `failing at request ${sends}`);
  });
}

const timeoutRetry = { timeouts: { backendRequest: '300ms' }, retry: { on: ['timeout'], attempts: 2, backoff: '1ms' } };

test('two attempts that time out and a third that answers end in 200', async (t) => {
  const { origin, client } = await startRig(t, { do: 'retry-echo' }, { route: timeoutRetry });
  const response = await client.request({ target: '/retry/?uuid=u&succeedAfter=2&responseCode=500&delayRetry=60s' });
  assert.deepEqual([response.status, origin.requestCount()], [200, 3]);
});

test('three attempts that time out end in 504, and the origin sees each of them closed', async (t) => {
  const { origin, client, gateway } = await startRig(t, { do: 'retry-echo' }, { route: timeoutRetry });
  const response = await client.request({ target: '/retry/?uuid=u&succeedAfter=3&responseCode=500&delayRetry=60s' });
  assert.deepEqual([response.status, origin.requestCount()], [504, 3]);
  await origin.waitForNoConnection();
  const record = await gateway.record();
  assert.equal(record.reason, 'attempts-exhausted');
  assert.deepEqual(
    record.attempts.map((attempt) => attempt.failure),
    Array(3).fill('http_response_timeout'),
  );
});

test('one failing answer within the request timeout is retried', async (t) => {
  const route = {
    timeouts: { request: '5s', backendRequest: '2s' },
    retry: { codes: [500], attempts: 5, backoff: '1ms' },
  };
  const { origin, client } = await startRig(t, { do: 'retry-echo' }, { route });
  const response = await client.request({ target: '/retry/?uuid=u&succeedAfter=1&responseCode=500' });
  assert.deepEqual([response.status, origin.requestCount()], [200, 2]);
});

test('failing answers are not retried past the request timeout, which ends in 504', async (t) => {
  const route = {
    timeouts: { request: '400ms', backendRequest: '300ms' },
    retry: { codes: [500], attempts: 50, backoff: '1ms' },
  };
  const { origin, client } = await startRig(t, { do: 'retry-echo' }, { route });
  const sentMs = performance.now();
  const response = await client.request({ target: '/retry/?uuid=u&succeedAfter=50&responseCode=500&delayRetry=150ms' });
  assert.equal(response.status, 504);
  assert.ok(performance.now() - sentMs >= 399, 'not before its time');
  // 150 ms an attempt: the third one is under way when the time is over.
  assert.ok(origin.requestCount() <= 3, `${origin.requestCount()} sends`);
  await origin.waitForNoConnection();
});

test('ten requests in a row reach the healthy one of two endpoints when the other refuses', async (t) => {
  const origin = await startOrigin({}, { t });
  const refused = await refusedAddress({ t });
  const endpoints = [refused.address, origin.address];
  const gateway = await startGateway(
    t,
    gatewayFile([], { upstream: { endpoints, loadBalancing: 'round-robin' }, route: { retry: { attempts: 100 } } }),
  );
  for (let i = 0; i < 10; i++) assert.equal((await requestRaw(gateway.port)).status, 200);
  assert.equal(origin.requestCount(), 10);
});

test('a POST that meets a reset after it was accepted reaches the origin exactly once', async (t) => {
  const { origin, client } = await startRig(
    t,
    { do: 'retry-echo' },
    { route: { retry: { attempts: 3, on: ['unsent', 'stale', 'reset'] } } },
  );
  const response = await client.request({ method: 'POST', target: '/retry/?uuid=u&succeedAfter=1', body: 'x' });
  assert.deepEqual([response.status, origin.requestCount()], [502, 1]);
});

test('a GET that meets a reset is retried only under a policy that names resets', async (t) => {
  const rig = await startRig(
    t,
    { do: 'retry-echo' },
    { route: { retry: { attempts: 3, on: ['reset'], backoff: '1ms' } } },
  );
  assert.equal((await rig.client.request({ target: '/retry/?uuid=u&succeedAfter=1' })).status, 200);
  assert.equal(rig.origin.requestCount(), 2);
  const other = await startRig(t, { do: 'retry-echo' }, { route: { retry: { attempts: 3 } } });
  assert.equal((await other.client.request({ target: '/retry/?uuid=u&succeedAfter=1' })).status, 502);
  assert.equal(other.origin.requestCount(), 1);
});

for (const name of ['request', 'backendRequest']) {
  test(`timeouts.${name} ends an answer that takes too long with 504`, async (t) => {
    const { origin, client, gateway } = await startRig(t, { do: 'hang' }, { route: { timeouts: { [name]: '200ms' } } });
    const sentMs = performance.now();
    const response = await client.request({});
    assert.deepEqual([response.status, response.complete, origin.requestCount()], [504, true, 1]);
    assert.ok(performance.now() - sentMs >= 199, 'not before its time');
    await origin.waitForNoConnection();
    assert.ok((await gateway.record()).flags.includes('UT'));
  });

  test(`timeouts.${name} of 0s is no timeout`, async (t) => {
    const { client } = await startRig(t, { do: 'respond', delayMs: 300 }, { route: { timeouts: { [name]: '0s' } } });
    assert.equal((await client.request({})).status, 200);
  });
}
