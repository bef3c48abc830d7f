import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { refusedAddress } from '../support/addresses.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { RawResponse } from '../support/raw-response.ts';
import { requestRaw } from '../support/raw-client.ts';
import type { RunningGateway } from '../support/running-gateway.ts';
import type { OriginScript, ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { gateway, resource, route, service, startGatewayApi } from './support.ts';

failOnLeaks();

interface Rig {
  readonly origin: ScriptedOrigin;
  readonly gateway: RunningGateway;
  get(target: string, method?: string): Promise<RawResponse>;
}

/** One rule, one origin. */
async function startRule(
  t: TestContext,
  rule: object,
  script: OriginScript = { do: 'retry-echo' },
  more: readonly object[] = [],
): Promise<Rig> {
  const origin = await startOrigin(script, { t });
  const running = await startGatewayApi(t, gateway(), route([rule]), ...service('main', [origin.address]), ...more);
  return { origin, gateway: running, get: (target, method = 'GET') => requestRaw(running.port, { target, method }) };
}

interface RetryCase {
  readonly fails: number;
  readonly code: number;
  readonly codes: readonly number[];
  readonly attempts: number;
  readonly status: number;
}

const retryCases: readonly RetryCase[] = [
  { fails: 2, code: 500, codes: [500], attempts: 3, status: 200 },
  { fails: 4, code: 500, codes: [500], attempts: 3, status: 500 },
  { fails: 2, code: 503, codes: [500], attempts: 3, status: 503 },
  ...[500, 502, 503, 504].flatMap((code): RetryCase[] => [
    { fails: 1, code, codes: [500, 502, 503, 504], attempts: 2, status: 200 },
    { fails: 3, code, codes: [500, 502, 503, 504], attempts: 2, status: code },
  ]),
  // Beyond the published cases: an explicit 0 switches retries off.
  { fails: 1, code: 500, codes: [500], attempts: 0, status: 500 },
];

for (const { fails, code, codes, attempts, status } of retryCases) {
  test(`HTTPRouteRetry: ${fails} answers of ${code}, codes ${codes.join()}, attempts ${attempts}: ${status}`, async (t) => {
    const { origin, get } = await startRule(t, { retry: { codes, attempts, backoff: '1ms' } });
    const response = await get(`/retry/?uuid=u&succeedAfter=${fails}&responseCode=${code}`);
    const sends = codes.includes(code) ? Math.min(fails, attempts) + 1 : 1;
    assert.deepEqual([response.status, origin.requestCount()], [status, sends]);
    // The last answer is delivered whole, not one of our own with its code.
    assert.equal(response.text, status === 200 ? `succeeded at request ${sends}` : `failing at request ${sends}`);
  });
}

const withTimeout = { timeouts: { backendRequest: '200ms' }, retry: { codes: [500], attempts: 2, backoff: '1ms' } };

for (const [fails, status] of [
  [2, 200],
  [3, 504],
] as const) {
  test(`HTTPRouteRetryBackendTimeout: ${fails} backend requests that take too long end in ${status}`, async (t) => {
    const { origin, get } = await startRule(t, withTimeout);
    const response = await get(`/retry/?uuid=u&succeedAfter=${fails}&responseCode=500&delayRetry=30s`);
    assert.deepEqual([response.status, origin.requestCount()], [status, 3]);
    if (status === 504) await origin.waitForNoConnection();
  });
}

test('HTTPRouteRetry with both timeouts: one quick failure is retried', async (t) => {
  const timeouts = { request: '5s', backendRequest: '2s' };
  const { origin, get } = await startRule(t, { timeouts, retry: { codes: [500], attempts: 5, backoff: '1ms' } });
  const response = await get('/retry/?uuid=u&succeedAfter=1&responseCode=500');
  assert.deepEqual([response.status, origin.requestCount()], [200, 2]);
});

test('HTTPRouteRetry with both timeouts: the request timeout bounds all attempts, and ends in 504', async (t) => {
  const timeouts = { request: '400ms', backendRequest: '300ms' };
  const { origin, get } = await startRule(t, { timeouts, retry: { codes: [500], attempts: 50, backoff: '1ms' } });
  const response = await get('/retry/?uuid=u&succeedAfter=50&responseCode=500&delayRetry=150ms');
  assert.equal(response.status, 504);
  assert.ok(origin.requestCount() <= 3, `${origin.requestCount()} sends of 150 ms in 400 ms`);
  await origin.waitForNoConnection();
});

test('HTTPRouteRetryConnectionError: of two endpoints one refuses; ten requests in a row reach the other', async (t) => {
  const origin = await startOrigin({}, { t });
  const refused = await refusedAddress({ t });
  const { port } = await startGatewayApi(
    t,
    gateway(),
    route([{ retry: { attempts: 100 } }]),
    ...service('main', [refused.address, origin.address]),
  );
  for (let i = 0; i < 10; i++) assert.equal((await requestRaw(port)).status, 200);
  assert.equal(origin.requestCount(), 10);
});

for (const method of ['GET', 'POST']) {
  test(`a ${method} that meets a reset after it was sent is sent once, stanza or not`, async (t) => {
    const { origin, get } = await startRule(t, { retry: { codes: [500], attempts: 3, backoff: '1ms' } });
    assert.equal((await get('/retry/?uuid=u&succeedAfter=1', method)).status, 502);
    assert.equal(origin.requestCount(), 1);
  });
}

test('a POST is not sent again for its code: it may have been processed', async (t) => {
  const { origin, get } = await startRule(t, { retry: { codes: [503], attempts: 3, backoff: '1ms' } });
  assert.equal((await get('/retry/?uuid=u&succeedAfter=1&responseCode=503', 'POST')).status, 503);
  assert.equal(origin.requestCount(), 1);
});

test('without a stanza no code is retried, and a refused connection is, once', async (t) => {
  const { origin, get } = await startRule(t, {});
  assert.equal((await get('/retry/?uuid=u&succeedAfter=1&responseCode=503')).status, 503);
  assert.equal(origin.requestCount(), 1);
  const refused = await refusedAddress({ t });
  const { port, record } = await startGatewayApi(t, gateway(), route([{}]), ...service('main', [refused.address]));
  assert.equal((await requestRaw(port)).status, 502);
  assert.equal((await record()).attempts.length, 2);
});

for (const field of ['request', 'backendRequest']) {
  test(`HTTPRouteTimeouts: ${field} ends an answer that takes too long with 504`, async (t) => {
    const { origin, get, gateway: running } = await startRule(t, { timeouts: { [field]: '200ms' } }, { do: 'hang' });
    const response = await get('/');
    assert.deepEqual([response.status, response.complete, origin.requestCount()], [504, true, 1]);
    await origin.waitForNoConnection();
    assert.ok((await running.record()).flags.includes('UT'));
  });

  test(`HTTPRouteTimeouts: an answer within ${field} is delivered`, async (t) => {
    const { get } = await startRule(t, { timeouts: { [field]: '5s' } }, { do: 'respond' });
    assert.equal((await get('/')).status, 200);
  });

  test(`HTTPRouteTimeouts: ${field} of 0s is no timeout`, async (t) => {
    const { get } = await startRule(t, { timeouts: { [field]: '0s' } }, { do: 'respond', delayMs: 300 });
    assert.equal((await get('/')).status, 200);
  });
}

test('retryConstraint: when its budget is exhausted, the client gets 503 instead of the last answer', async (t) => {
  const constraint = { budget: { percent: 1, interval: '10s' }, minRetryRate: { count: 1, interval: '1h' } };
  const policy = resource('XBackendTrafficPolicy', 'limits', {
    spec: { targetRefs: [{ group: '', kind: 'Service', name: 'main' }], retryConstraint: constraint },
  });
  const {
    origin,
    get,
    gateway: running,
  } = await startRule(t, { retry: { codes: [500], attempts: 1, backoff: '1ms' } }, { do: 'respond', status: 500 }, [
    policy,
  ]);
  assert.deepEqual([(await get('/')).status, origin.requestCount()], [500, 2]);
  assert.deepEqual([(await get('/')).status, origin.requestCount()], [503, 3]);
  assert.equal((await running.record(2)).reason, 'budget-exhausted');
});

test('one retryConstraint holds for every route to the Service', async (t) => {
  const origin = await startOrigin({ do: 'respond', status: 500 }, { t });
  const retry = { codes: [500], attempts: 1, backoff: '1ms' };
  const policy = resource('BackendTrafficPolicy', 'limits', {
    spec: {
      targetRefs: [{ group: '', kind: 'Service', name: 'main' }],
      retryConstraint: { budget: { percent: 1 }, minRetryRate: { count: 1, interval: '1h' } },
    },
  });
  const { port } = await startGatewayApi(
    t,
    gateway(),
    route([{ matches: [{ path: { value: '/a' } }], retry }], {}, 'a'),
    route([{ matches: [{ path: { value: '/b' } }], retry }], {}, 'b'),
    ...service('main', [origin.address]),
    policy,
  );
  assert.equal((await requestRaw(port, { target: '/a' })).status, 500);
  assert.equal((await requestRaw(port, { target: '/b' })).status, 503);
  assert.equal(origin.requestCount(), 3);
});

test('a retryConstraint of 0 percent allows no retry at all', async (t) => {
  const policy = resource('BackendTrafficPolicy', 'limits', {
    spec: {
      targetRefs: [{ group: '', kind: 'Service', name: 'main' }],
      retryConstraint: { budget: { percent: 0 } },
    },
  });
  const retry = { codes: [500], attempts: 3, backoff: '1ms' };
  const { origin, get } = await startRule(t, { retry }, { do: 'respond', status: 500 }, [policy]);
  assert.deepEqual([(await get('/')).status, origin.requestCount()], [503, 1]);
});
