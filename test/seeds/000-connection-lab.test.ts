import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { createRetryPolicy } from '../../src/core/retry-policy.ts';
import { PINGORA_PRESET } from '../../src/core/presets/pingora.ts';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import type { ProxyHooks } from '../../src/proxy/phases.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { refusedAddress } from '../support/addresses.ts';
import { requestRaw } from '../support/raw-client.ts';
import type { OriginScript } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';

interface Lab {
  readonly port: number;
  readonly records: AccessRecord[];
  readonly lines: string[];
}

async function startLab(t: TestContext, hooks: ProxyHooks<undefined>, maxRetries?: number): Promise<Lab> {
  const records: AccessRecord[] = [];
  const lines: string[] = [];
  const { retry, budget } = PINGORA_PRESET;
  const proxy = createProxy(hooks, {
    budget,
    policy: maxRetries === undefined ? retry : { ...retry, maxRetries },
    onRecord: (record) => void records.push(record),
    diagnostics: (level, message) => void lines.push(`${level} ${message}`),
  });
  const listener = await proxy.listen('127.0.0.1:0');
  t.after(() => proxy.close());
  return { port: listener.address.port, records, lines };
}

/** Answers the first request of each connection and closes, without a byte, when it reads the second one. */
const FLAKY: OriginScript = (request) =>
  request.requestOnConnection === 1 ? { do: 'respond', body: 'hello' } : { do: 'close' };

describe('the connection lab of the proxy', () => {
  test('default: a refused connection is tried once and answered 502 with one error line', async (t) => {
    const refused = await refusedAddress({ t });
    const lab = await startLab(t, { selectUpstream: () => refused.address });
    const answer = await requestRaw(lab.port);
    assert.equal(answer.status, 502);
    assert.equal(lab.records[0]?.attempts.length, 1);
    assert.equal(lab.lines.length, 1);
    assert.match(lab.lines[0] ?? '', /^error upstream connection_refused .* retry=false/);
  });

  test('always: sixteen attempts, fifteen retry lines, one error line, and the last line says retry=false', async (t) => {
    const refused = await refusedAddress({ t });
    let asked = 0;
    const lab = await startLab(t, {
      selectUpstream: () => {
        asked += 1;
        return refused.address;
      },
      failToConnect: () => ({ type: 'retry' }),
    });
    assert.equal((await requestRaw(lab.port)).status, 502);
    assert.equal(asked, 16);
    assert.equal(lab.records[0]?.attempts.length, 16);
    assert.equal(lab.records[0]?.reason, 'attempts-exhausted');
    assert.equal(lab.lines.filter((line) => line.includes('retry=true')).length, 15);
    assert.match(lab.lines.at(-1) ?? '', /retry=false/);
  });

  test('max 3: three attempts where the limit is two retries', async (t) => {
    const refused = await refusedAddress({ t });
    const lab = await startLab(
      t,
      { selectUpstream: () => refused.address, failToConnect: () => ({ type: 'retry' }) },
      2,
    );
    assert.equal((await requestRaw(lab.port)).status, 502);
    assert.equal(lab.records[0]?.attempts.length, 3);
  });

  test('max 0 is one attempt and an answer: free of the empty reply without a log line', async (t) => {
    const refused = await refusedAddress({ t });
    const lab = await startLab(
      t,
      { selectUpstream: () => refused.address, failToConnect: () => ({ type: 'retry' }) },
      0,
    );
    assert.equal((await requestRaw(lab.port)).status, 502);
    assert.equal(lab.records[0]?.attempts.length, 1);
    assert.equal(lab.lines.length, 1);
  });

  test('reuse: GET 200, GET 200, and the POST is at the origin exactly once and answered 502', async (t) => {
    const origin = await startOrigin(FLAKY, { t });
    const lab = await startLab(t, { selectUpstream: () => origin.address });
    const statuses = [
      (await requestRaw(lab.port, { target: '/g1' })).status,
      (await requestRaw(lab.port, { target: '/g2' })).status,
      (await requestRaw(lab.port, { method: 'POST', target: '/p1', body: 'order' })).status,
    ];
    assert.deepEqual(statuses, [200, 200, 502]);
    assert.equal(origin.requestCount({ target: '/g2' }), 2);
    assert.equal(origin.requestCount({ method: 'POST' }), 1);
    assert.equal(lab.records[2]?.reason, 'not-idempotent');
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
