import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refusedAddress } from '../support/addresses.ts';
import { patternBytes } from '../support/fields.ts';
import type { JournalRequest } from '../support/journal.ts';
import { connectRaw, requestRaw } from '../support/raw-client.ts';
import { gatewayFile, startGateway, startRig } from '../support/running-gateway.ts';
import { startOrigin } from '../support/scripted-origin.ts';

const EAGER = { codes: [502, 503], attempts: 3, backoff: '0ms' };

describe('which requests are sent again', () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']) {
    test(`${method} is, when its code is listed`, async (t) => {
      const rig = await startRig(t, [{ do: 'respond', status: 503 }, { do: 'respond' }], { route: { retry: EAGER } });
      assert.equal((await requestRaw(rig.gateway.port, { method })).status, 200);
      assert.equal(rig.origin.requestCount(), 2);
    });
  }

  for (const method of ['POST', 'PATCH']) {
    test(`${method} is not, although its code is listed`, async (t) => {
      const rig = await startRig(t, { do: 'respond', status: 503, body: 'busy' }, { route: { retry: EAGER } });
      const answer = await requestRaw(rig.gateway.port, { method, body: 'x' });
      assert.equal(answer.status, 503);
      assert.equal(answer.text, 'busy');
      assert.equal(rig.origin.requestCount(), 1);
      assert.equal((await rig.gateway.record()).reason, 'not-idempotent');
    });
  }

  test('a POST to a refused port is, for nothing was sent: free of the refusal to retry what is safe', async (t) => {
    const refused = await refusedAddress({ t });
    const origin = await startOrigin({}, { t });
    const gateway = await startGateway(t, gatewayFile([refused.address, origin.address]));
    assert.equal((await requestRaw(gateway.port, { method: 'POST', body: 'x' })).status, 200);
    assert.equal(origin.requestCount(), 1);
  });
});

describe('how often', () => {
  test('attempts: 0 switches retries off: free of 0 meaning a default number', async (t) => {
    const rig = await startRig(t, { do: 'respond', status: 503 }, { route: { retry: { ...EAGER, attempts: 0 } } });
    assert.equal((await requestRaw(rig.gateway.port)).status, 503);
    assert.equal(rig.origin.requestCount(), 1);
  });

  test('a success after retries gives the success and counts the retries', async (t) => {
    const rig = await startRig(
      t,
      [
        { do: 'respond', status: 502 },
        { do: 'respond', status: 503 },
        { do: 'respond', body: 'at last' },
      ],
      { route: { retry: EAGER } },
    );
    assert.equal((await requestRaw(rig.gateway.port)).text, 'at last');
    const record = await rig.gateway.record();
    assert.equal(record.retryAttempts, 2);
    assert.equal(record.status, 200);
  });

  test('when every attempt is answered 502 the client gets that 502 with its body: free of the dropped response', async (t) => {
    const rig = await startRig(t, { do: 'respond', status: 502, body: 'why' }, { route: { retry: EAGER } });
    const answer = await requestRaw(rig.gateway.port);
    assert.equal(answer.status, 502);
    assert.equal(answer.text, 'why');
  });

  test('when every attempt times out the client gets 504', async (t) => {
    const rig = await startRig(
      t,
      { do: 'hang' },
      {
        route: {
          timeouts: { request: '5s', backendRequest: '50ms' },
          retry: { attempts: 2, on: ['timeout'], backoff: '0ms' },
        },
      },
    );
    assert.equal((await requestRaw(rig.gateway.port)).status, 504);
    assert.equal(rig.origin.requestCount(), 3);
  });
});

describe('the budget', () => {
  test('is fed by first requests, of which one that needed no retry counts as well', async (t) => {
    const rig = await startRig(
      t,
      { rules: [{ when: { target: '/bad' }, behave: { do: 'respond', status: 503 } }] },
      {
        upstream: { retryBudget: { percent: 20, minRetryRate: { count: 0, interval: '1s' } } },
        route: { retry: { codes: [503], attempts: 1, backoff: '0ms' } },
      },
    );
    for (let i = 0; i < 9; i += 1) await requestRaw(rig.gateway.port, { target: '/good' });
    for (let i = 0; i < 3; i += 1) await requestRaw(rig.gateway.port, { target: '/bad' });
    // 10 requests allow two retries at 20 %, the eleventh and twelfth none more.
    assert.equal(rig.origin.requestCount({ target: '/bad' }), 3 + 2);
  });

  test('of 0 % allows none: free of the retries that 0 % granted', async (t) => {
    const rig = await startRig(
      t,
      { do: 'respond', status: 503 },
      { upstream: { retryBudget: { percent: 0 } }, route: { retry: EAGER } },
    );
    assert.equal((await requestRaw(rig.gateway.port)).status, 503);
    assert.equal(rig.origin.requestCount(), 1);
    assert.equal((await rig.gateway.record()).reason, 'budget-exhausted');
  });

  test('when it is exhausted the request ends with what it has, not with an empty 502', async (t) => {
    const rig = await startRig(
      t,
      { do: 'respond', status: 503, body: 'original' },
      {
        upstream: { retryBudget: { percent: 20, minRetryRate: { count: 0, interval: '1s' } } },
        route: { retry: EAGER },
      },
    );
    const answer = await requestRaw(rig.gateway.port);
    assert.equal(answer.status, 503);
    assert.equal(answer.text, 'original');
  });
});

describe('the permits', () => {
  test('of 10 with 3 retries each never mean more than 10 in flight: free of "up to 40"', async (t) => {
    const rig = await startRig(
      t,
      { do: 'respond', status: 503, delayMs: 5 },
      {
        upstream: { circuitBreaker: { maxInflightRequests: 10 }, retryBudget: { kind: 'none' } },
        route: { retry: EAGER },
      },
    );
    await Promise.all(Array.from({ length: 10 }, () => requestRaw(rig.gateway.port)));
    assert.equal(rig.origin.requestCount(), 40);
    assert.ok(mostAtOnce(rig.origin.journal.requests) <= 10);
  });

  test('none left for a request: 503 with the flag CB, and nothing is sent', async (t) => {
    const rig = await startRig(
      t,
      { do: 'respond', gate: 'go' },
      { upstream: { circuitBreaker: { maxInflightRequests: 1 } } },
    );
    const held = await connectRaw(rig.gateway.port, { t });
    await held.sendRequest({ target: '/held' });
    await rig.origin.waitForRequest(1);
    const answer = await requestRaw(rig.gateway.port);
    assert.equal(answer.status, 503);
    assert.deepEqual((await rig.gateway.record()).flags, ['CB']);
    rig.origin.open('go');
    assert.equal((await held.response()).status, 200);
    assert.equal(rig.origin.requestCount(), 1);
  });
});

describe('streams', () => {
  test('a request body beyond the buffer is sent once and not again', async (t) => {
    const rig = await startRig(
      t,
      { do: 'respond', status: 503, body: 'busy' },
      { route: { retry: EAGER, replayBuffer: '16KiB' } },
    );
    const answer = await requestRaw(rig.gateway.port, { method: 'PUT', body: patternBytes(40_000) });
    assert.equal(answer.status, 503);
    assert.equal(rig.origin.requestCount(), 1);
    const record = await rig.gateway.record();
    assert.equal(record.reason, 'body-not-replayable');
    assert.equal(record.replayLost, 'request-cap');
  });

  test('a client that leaves while a retry waits ends the retry, with the flag DC', async (t) => {
    const rig = await startRig(
      t,
      { do: 'respond', status: 503 },
      {
        route: {
          retry: { codes: [503], attempts: 3, backoff: '30s', maxBackoff: '30s', jitter: 'none' },
          timeouts: { request: '0s' },
        },
      },
    );
    const client = await connectRaw(rig.gateway.port, { t });
    await client.sendRequest({});
    await rig.origin.waitFor((journal) => journal.requests.some((request) => request.complete));
    client.reset();
    const record = await rig.gateway.record();
    assert.deepEqual(record.flags, ['DC']);
    assert.equal(record.status, 499);
    assert.equal(rig.origin.requestCount(), 1);
  });
});

/** Requests that were with the origin at the same instant, at the most. */
function mostAtOnce(requests: readonly JournalRequest[]): number {
  const atOnce = requests.map(({ headAtMs: from = 0 }) =>
    requests.filter(({ headAtMs = 0, answeredAtMs = Infinity }) => headAtMs <= from && from < answeredAtMs),
  );
  return Math.max(...atOnce.map((group) => group.length));
}
