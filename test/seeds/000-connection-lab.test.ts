import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeFailure } from '../../src/core/failure-chain.ts';
import { createRetryPolicy } from '../../src/core/retry-policy.ts';
import { parseAddress } from '../../src/engine/endpoint.ts';
import { createUpstream } from '../../src/engine/upstream.ts';
import type { MutableRequest, ProxyHooks } from '../../src/proxy/phases.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { createTransport } from '../../src/transport/create-transport.ts';
import { createSystemClock } from '../../src/transport/system-time.ts';
import { refusedAddress } from '../support/addresses.ts';
import { startHttp2Origin } from '../support/http2-origin.ts';
import { connectRaw, requestRaw } from '../support/raw-client.ts';
import type { OriginScript } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { startLab } from './000-lab.ts';

/** Answers the first request of each connection and closes, without a byte, when it reads the second one. */
const FLAKY: OriginScript = (request) =>
  request.requestOnConnection === 1 ? { do: 'respond', body: 'hello' } : { do: 'close' };

const always: ProxyHooks<unknown>['failToConnect'] = () => ({ type: 'retry' });

describe('the words of the lab', () => {
  test('default: one attempt, one error line with the whole chain, and no part that is empty', async (t) => {
    const refused = await refusedAddress({ t });
    const seen: string[] = [];
    const lab = await startLab(t, {
      selectUpstream: () => refused.address,
      failToConnect: (_exchange, failure, decision) => {
        seen.push(`${describeFailure(failure)} ${decision.type}`);
      },
    });
    const answer = await requestRaw(lab.port, { target: '/x' });
    const chain = `upstream connection_refused while connecting: connect to ${refused.address}: connect ECONNREFUSED ${refused.address}`;
    assert.deepEqual(seen, [`${chain} stop`]);
    assert.deepEqual(lab.log, [
      'selectUpstream #1 GET',
      `error ${chain}; status=502 attempts=1 retry=false reason=not-retryable, GET /x, host test.example`,
      `log attempts=1 status=502 error=${chain}`,
    ]);
    assert.equal(answer.value('cache-control'), 'private, no-store');
    assert.match(answer.value('proxy-status') ?? '', /error=connection_refused/);
  });

  test('default: the client keeps its connection: free of closing it for the upstream’s fault', async (t) => {
    const refused = await refusedAddress({ t });
    const lab = await startLab(t, { selectUpstream: () => refused.address });
    const client = await connectRaw(lab.port, { t });
    assert.equal((await client.request({})).status, 502);
    assert.equal((await client.request({})).status, 502);
  });

  test('always: every attempt is decided anew, none waits, and the lines count 1 to 15', async (t) => {
    const refused = await refusedAddress({ t });
    const decisions: string[] = [];
    const lab = await startLab(t, {
      selectUpstream: () => refused.address,
      failToConnect: (_exchange, _failure, decision) => {
        decisions.push(decision.type);
        return { type: 'retry' };
      },
    });
    await requestRaw(lab.port, { target: '/x' });
    assert.deepEqual(
      decisions,
      Array.from({ length: 16 }, () => 'stop'),
    );
    const [record] = lab.records;
    assert.deepEqual(
      record?.attempts.map(({ waitMs }) => waitMs),
      Array.from({ length: 16 }, () => 0),
    );
    const warnings = lab.log.filter((line) => line.startsWith('warn '));
    assert.equal(warnings.length, 15);
    for (const [index, line] of warnings.entries()) {
      assert.ok(line.startsWith(`warn attempt ${index + 1} at ${refused.address} failed: upstream connection_refused`));
      assert.match(line, /; retry=true wait=0ms, GET \/x, host /);
    }
    assert.match(
      lab.log.at(-2) ?? '',
      /^error .*; status=502 attempts=16 retry=false reason=attempts-exhausted, GET \/x/,
    );
  });

  test('max 3: three choices, two warnings, one error', async (t) => {
    const refused = await refusedAddress({ t });
    const lab = await startLab(t, { selectUpstream: () => refused.address, failToConnect: always }, 2);
    await requestRaw(lab.port);
    assert.deepEqual(
      lab.log.map((line) => line.split(' ', 1)[0]),
      ['selectUpstream', 'warn', 'selectUpstream', 'warn', 'selectUpstream', 'error', 'log'],
    );
  });

  test('max 0: one choice, one error line and a 502: free of attempts=0 status=0 without a line', async (t) => {
    const refused = await refusedAddress({ t });
    const lab = await startLab(t, { selectUpstream: () => refused.address, failToConnect: always }, 0);
    assert.equal((await requestRaw(lab.port)).status, 502);
    assert.deepEqual(
      lab.log.map((line) => line.split(' ', 1)[0]),
      ['selectUpstream', 'error', 'log'],
    );
  });

  test('lines can be kept back, one by one, and the record stays', async (t) => {
    const refused = await refusedAddress({ t });
    const lab = await startLab(t, {
      selectUpstream: () => refused.address,
      failToConnect: always,
      suppressRetryLog: ({ attemptNumber }) => attemptNumber !== 3,
      suppressErrorLog: (_exchange, { kind }) => kind === 'connection_refused',
      requestSummary: ({ request }) => `order of ${request.remoteAddress}`,
    });
    await requestRaw(lab.port);
    const lines = lab.log.filter((line) => /^(?:warn|error) /.test(line));
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /^warn attempt 3 .*, order of 127\.0\.0\.1$/);
    assert.equal(lab.records[0]?.attempts.length, 16);
  });
});

describe('connections that are used again', () => {
  test('the later rules: 200, 200, 502 with the lines of the lab, and the origin reads no request twice that it must not', async (t) => {
    const origin = await startOrigin(FLAKY, { t });
    const lab = await startLab(t, { selectUpstream: () => origin.address });
    const statuses: number[] = [];
    for (const [method, target] of [
      ['GET', '/g1'],
      ['GET', '/g2'],
      ['POST', '/p1'],
    ] as const) {
      statuses.push((await requestRaw(lab.port, { method, target })).status);
    }
    assert.deepEqual(statuses, [200, 200, 502]);
    const died = `upstream connection_terminated while waiting for the response: exchange with ${origin.address}`;
    assert.deepEqual(lab.log, [
      'selectUpstream #1 GET',
      'connected #1 reused=false',
      'log attempts=1 status=200 error=undefined',
      'selectUpstream #1 GET',
      'connected #1 reused=true',
      `warn attempt 1 at ${origin.address} failed: ${died}; retry=true wait=0ms, GET /g2, host test.example`,
      'selectUpstream #2 GET',
      'connected #2 reused=false',
      'log attempts=2 status=200 error=undefined',
      'selectUpstream #1 POST',
      'connected #1 reused=true',
      `error ${died}; status=502 attempts=1 retry=false reason=not-idempotent, POST /p1, host test.example`,
      `log attempts=1 status=502 error=${died}`,
    ]);
    assert.deepEqual(
      origin.journal.requests.map(
        ({ connection, requestOnConnection, method, target }) =>
          `conn#${connection} req#${requestOnConnection} ${method} ${target}`,
      ),
      ['conn#1 req#1 GET /g1', 'conn#1 req#2 GET /g2', 'conn#2 req#1 GET /g2', 'conn#2 req#2 POST /p1'],
    );
  });

  test('the earlier rules, by a hook that always says retry: free of the POST that arrives twice', async (t) => {
    const origin = await startOrigin(FLAKY, { t });
    const lab = await startLab(t, { selectUpstream: () => origin.address, errorWhileProxy: () => ({ type: 'retry' }) });
    await requestRaw(lab.port, { target: '/g1' });
    const answer = await requestRaw(lab.port, { method: 'POST', target: '/p1', body: 'order' });
    assert.equal(answer.status, 502);
    assert.equal(origin.requestCount({ method: 'POST' }), 1);
    assert.equal(lab.records[1]?.reason, 'not-idempotent');
  });

  for (const [what, change] of [
    ['makes a POST of it', (request: MutableRequest) => void (request.method = 'POST')],
    [
      'takes its key away',
      (request: MutableRequest) => void request.fields.splice(request.fields.indexOf('Idempotency-Key'), 2),
    ],
  ] as const) {
    test(`a request that could be repeated is not, when a filter ${what}`, async (t) => {
      const origin = await startOrigin(FLAKY, { t });
      const lab = await startLab(t, {
        selectUpstream: () => origin.address,
        upstreamRequestFilter: ({ request }, attempt) => (request.path === '/p1' ? change(attempt) : undefined),
      });
      await requestRaw(lab.port, { target: '/g1' });
      const method = what === 'makes a POST of it' ? 'GET' : 'POST';
      const headers = { 'Idempotency-Key': 'k1' };
      const answer = await requestRaw(
        lab.port,
        method === 'GET' ? { target: '/p1' } : { method, target: '/p1', headers },
      );
      assert.equal(answer.status, 502);
      assert.equal(origin.requestCount({ method: 'POST' }), 1);
      assert.equal(lab.records[1]?.reason, 'not-idempotent');
    });
  }

  test('a body beyond 64 KiB is not kept, so its PUT is sent once', async (t) => {
    const origin = await startOrigin(
      (request) =>
        request.requestOnConnection === 1 ? { do: 'respond', body: 'hello' } : { do: 'close', at: 'complete' },
      { t },
    );
    const lab = await startLab(t, { selectUpstream: () => origin.address });
    await requestRaw(lab.port, { target: '/g1' });
    const answer = await requestRaw(lab.port, { method: 'PUT', body: Buffer.alloc(65_537) });
    assert.equal(answer.status, 502);
    assert.equal(origin.requestCount({ method: 'PUT' }), 1);
    assert.equal(lab.records[1]?.reason, 'body-not-replayable');
  });

  test('a refused HTTP/2 stream is sent again, a POST too: free of withholding what was not processed', async (t) => {
    const origin = await startHttp2Origin(t, (stream) => {
      if (stream.number === 1) stream.reset(7);
      else stream.head(200, [], true);
    });
    const upstream = createUpstream({
      name: 'refusing',
      endpoints: [{ address: parseAddress(origin.key) }],
      transport: createTransport({ clock: createSystemClock(), protocol: 'http2' }),
    });
    t.after(() => upstream.close());
    const lab = await startLab(t, { selectUpstream: () => upstream });
    assert.equal((await requestRaw(lab.port, { method: 'POST', body: 'order' })).status, 200);
    assert.equal(origin.streams.length, 2);
    assert.equal(lab.records[0]?.attempts[0]?.class, 'rejected');
  });

  test('reuse with a key: the POST carries Idempotency-Key and is sent again on a fresh connection', async (t) => {
    const origin = await startOrigin(FLAKY, { t });
    const lab = await startLab(t, { selectUpstream: () => origin.address });
    await requestRaw(lab.port, { target: '/warm' });
    const answer = await requestRaw(lab.port, {
      method: 'POST',
      body: 'order',
      headers: { 'Idempotency-Key': 'k1' },
    });
    assert.equal(answer.status, 200);
    const sent = origin.journal.requests.filter((request) => request.method === 'POST');
    assert.equal(sent.length, 2);
    assert.deepEqual(new Set(sent.map((request) => request.bodySha256)).size, 1);
    assert.equal(lab.records[1]?.attempts[1]?.reused, false);
  });

  test('a hook that returns nothing leaves the decision made: free of the panic on an undecided flag', async (t) => {
    const origin = await startOrigin(FLAKY, { t });
    const seen: string[] = [];
    const lab = await startLab(t, {
      selectUpstream: () => origin.address,
      errorWhileProxy: (_exchange, failure, decision) => {
        seen.push(`${failure.kind} ${decision.type}`);
      },
    });
    assert.equal((await requestRaw(lab.port, { target: '/g1' })).status, 200);
    assert.equal((await requestRaw(lab.port, { target: '/g2' })).status, 200);
    assert.deepEqual(seen, ['connection_terminated retry']);
  });

  test('an upstream timeout is 504: free of the 502', async (t) => {
    const origin = await startOrigin({ do: 'hang' }, { t });
    const proxy = createProxy(
      { selectUpstream: () => origin.address },
      { policy: createRetryPolicy({ maxRetries: 0 }), timeouts: { attemptMs: 50 } },
    );
    t.after(() => proxy.close());
    const listener = await proxy.listen('127.0.0.1:0');
    assert.equal((await requestRaw(listener.address.port)).status, 504);
    assert.equal(origin.requestCount(), 1);
  });
});
