import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Agent, request } from 'undici';
import { createPolicy } from '../../src/client/execute.ts';
import { retry } from '../../src/client/interceptor/retry.ts';
import { wrapFetch } from '../../src/client/wrap-fetch.ts';
import type { OutboundEnding } from '../../src/core/ownership/outbound.ts';
import type { AttemptNote, OutboundStart } from '../../src/engine/outbound-tracking.ts';
import { setOutboundTracker } from '../../src/engine/outbound-tracking.ts';
import { startOrigin } from '../support/scripted-origin.ts';

interface Told {
  readonly starts: OutboundStart[];
  readonly notes: AttemptNote[];
  readonly endings: OutboundEnding[];
  readonly restated: OutboundEnding[];
  sendCount: number;
  readonly causes: unknown[];
}

/** A service that only listens. */
function listen(t: TestContext, lineage: number = 0): Told {
  const told: Told = { starts: [], notes: [], endings: [], restated: [], sendCount: 0, causes: [] };
  const takeBack = setOutboundTracker({
    begin(start) {
      told.starts.push(start);
      return {
        lineage,
        deadlineAtMs: Infinity,
        marginMs: 0,
        mode: 'enforce',
        readClaim: () => undefined,
        attempt(send) {
          told.sendCount += 1;
          return send();
        },
        note: (note) => told.notes.push(note),
        end: (ending) => told.endings.push(ending),
        restate: (ending) => told.restated.push(ending),
        caused: (error) => told.causes.push(error),
      };
    },
  });
  t.after(takeBack);
  return told;
}

const RETRY = { maxRetries: 1, codes: [503], backoffMs: 0, maxBackoffMs: 0 } as const;

const senders = {
  wrapFetch: async (url: string) => (await wrapFetch(fetch, { retry: RETRY })(url)).text(),
  interceptor: async (url: string, t: TestContext) => {
    const agent = new Agent();
    t.after(() => agent.destroy());
    return (await request(url, { dispatcher: agent.compose(retry({ retry: RETRY })) })).body.text();
  },
};

for (const [name, send] of Object.entries(senders)) {
  test(`${name}: the service around a call hears of its attempts and of its end`, async (t) => {
    const told = listen(t);
    const origin = await startOrigin({ do: 'respond', status: 503 }, { t });
    await send(`http://${origin.address}/a`, t);
    assert.deepEqual(
      told.starts.map(({ method, url }) => [method, url]),
      [['GET', `http://${origin.address}/a`]],
    );
    assert.deepEqual(
      told.notes.map(({ retried, stopped }) => [retried, stopped]),
      [
        [true, undefined],
        [false, 'attempts-exhausted'],
      ],
    );
    assert.equal(told.sendCount, 2);
    assert.deepEqual(
      told.endings.map(({ outcomeClass, handled }) => [outcomeClass, handled]),
      [['server', true]],
    );
  });

  test(`${name}: a call made for a request that is a retry itself is not retried`, async (t) => {
    listen(t, 1);
    const origin = await startOrigin({ do: 'respond', status: 503 }, { t });
    await send(`http://${origin.address}/a`, t);
    assert.equal(origin.requestCount(), 1);
    assert.match(origin.request(1).value('request-attempt') ?? '', /lineage=1/);
  });
}

test('interceptor: the service hears of an answer when it begins, and of its body that breaks off', async (t) => {
  const told = listen(t);
  const origin = await startOrigin({ do: 'respond', body: 'long', cut: { bodyBytes: 1 }, then: 'destroy' }, { t });
  const agent = new Agent();
  t.after(() => agent.destroy());
  const dispatcher = agent.compose(retry({ retry: RETRY }));
  const { body } = await request(`http://${origin.address}/a`, { dispatcher });
  assert.deepEqual(
    told.endings.map(({ outcomeClass }) => outcomeClass),
    ['ok'],
  );
  const error: unknown = await body.text().catch((reason: unknown) => reason);
  assert.deepEqual(
    told.restated.map(({ outcomeClass }) => outcomeClass),
    ['committed'],
  );
  assert.deepEqual(told.causes, [error]);
});

test('execute: the error of a function names its call to the service around it', async (t) => {
  const told = listen(t);
  const error = new Error('no');
  await assert.rejects(createPolicy({ name: 'orders-db' }).execute(() => Promise.reject(error)));
  assert.deepEqual(told.causes, [error]);
  assert.deepEqual([told.starts[0]?.url, told.endings.length], ['policy:orders-db', 1]);
});
