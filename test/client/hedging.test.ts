import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { RequestReport } from '../../src/client/attempts.ts';
import { attemptsOf } from '../../src/client/attempts.ts';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import type { FetchOptions } from '../../src/client/fetch.ts';
import { fetch } from '../../src/client/fetch.ts';
import { createBudget } from '../../src/client/options.ts';
import type { CallOptions } from '../../src/client/options.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { Behaviour, OriginScript } from '../support/origin-script.ts';
import type { ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

interface Fixture {
  readonly origin: ScriptedOrigin;
  send(options?: FetchOptions): Promise<{ readonly text: string; readonly report: RequestReport }>;
}

const FINE = { do: 'respond', body: 'fine' } as const;
const SLOW = { do: 'respond', body: 'slow', gate: 'slow' } as const;

async function start(t: TestContext, script: OriginScript, options: CallOptions): Promise<Fixture> {
  const origin = await startOrigin(script, { t });
  const dispatcher = createDispatcher({ budget: { kind: 'none' }, ...options });
  t.after(() => dispatcher.destroy());
  return {
    origin,
    async send(call) {
      const response = await fetch(`http://${origin.address}/`, { ...call, dispatcher });
      const text = await response.text();
      const report = attemptsOf(response);
      assert.ok(report !== undefined);
      return { text, report };
    },
  };
}

describe('a copy after a fixed delay', () => {
  test('goes to the only origin, its answer wins, and the slow attempt is given up', async (t) => {
    const { origin, send } = await start(t, { requests: [SLOW, FINE] }, { hedge: { delayMs: 20 } });
    const { text, report } = await send();
    assert.equal(text, 'fine');
    assert.deepEqual(
      report.attempts.map(({ hedge, superseded, status }) => [hedge, superseded, status]),
      [
        [undefined, true, undefined],
        [true, undefined, 200],
      ],
    );
    assert.equal(report.retryCount, 0);
    await origin.waitFor(({ connections }) => connections[0]?.resetByClientAtMs ?? connections[0]?.finByClientAtMs);
  });

  test('goes to another origin where there is one', async (t) => {
    const other = await startOrigin({ requests: { do: 'respond', body: 'other' } }, { t });
    const { origin, send } = await start(t, { requests: [SLOW] }, { hedge: { delayMs: 20 } });
    const { text } = await send({ endpoints: [`http://${other.address}`] });
    assert.equal(text, 'other');
    assert.deepEqual([origin.requestCount(), other.requestCount()], [1, 1]);
  });

  test('loses when the first answer comes first, and the winner is read to its end', async (t) => {
    const body = 'w'.repeat(200_000);
    const first = { do: 'respond', body, gate: 'first' } as const;
    const { origin, send } = await start(t, { requests: [first, { do: 'hang' }] }, { hedge: { delayMs: 20 } });
    const sending = send();
    await origin.waitForRequest(2);
    origin.open('first');
    const { text, report } = await sending;
    assert.equal(text, body);
    assert.equal(report.attempts[1]?.superseded, true);
    await origin.waitFor(({ connections }) => connections[1]?.resetByClientAtMs ?? connections[1]?.finByClientAtMs);
  });

  test('carries the same body and the same key', async (t) => {
    const { origin, send } = await start(
      t,
      { requests: [SLOW, FINE] },
      { hedge: { delayMs: 40 }, idempotencyKey: true },
    );
    await send({ method: 'POST', body: 'pay once' });
    const [first, second] = origin.journal.requests;
    assert.equal(second?.body.toString(), 'pay once');
    assert.equal(first?.value('idempotency-key'), second?.value('idempotency-key'));
    assert.ok(first?.value('idempotency-key') !== undefined);
  });

  const refused: readonly (readonly [string, FetchOptions, CallOptions, string])[] = [
    ['of a POST without a key', { method: 'POST', body: 'x' }, {}, 'not-idempotent'],
    ['without traffic that pays for it', {}, { budget: createBudget() }, 'budget-exhausted'],
  ];
  for (const [name, call, options, reason] of refused) {
    test(`is not sent ${name}`, async (t) => {
      const late = { do: 'respond', body: 'late', delayMs: 80 } as const;
      const { origin, send } = await start(t, { requests: [late] }, { hedge: { delayMs: 20 }, ...options });
      const { text, report } = await send(call);
      assert.deepEqual([text, report.hedgeRefused, origin.requestCount()], ['late', reason, 1]);
    });
  }
});

describe('a copy after a percentile', () => {
  const hedge = { percentile: 95 };

  test('is sent once enough of the origin is known', async (t) => {
    const script: Behaviour[] = [...Array.from({ length: 20 }, () => FINE), SLOW, FINE];
    const { origin, send } = await start(t, { requests: script }, { hedge });
    for (let i = 0; i < 20; i += 1) await send();
    assert.equal(origin.requestCount(), 20);
    const { text, report } = await send();
    assert.deepEqual([text, report.attempts.length, report.attempts[1]?.hedge], ['fine', 2, true]);
  });

  test('is not sent while little of it is known', async (t) => {
    const late = { do: 'respond', body: 'late', delayMs: 80 } as const;
    const { origin, send } = await start(t, { requests: [FINE, late] }, { hedge });
    await send();
    assert.equal((await send()).text, 'late');
    assert.equal(origin.requestCount(), 2);
  });
});

test('a hedge of the client is switched off for a call', async (t) => {
  const late = { do: 'respond', body: 'late', delayMs: 80 } as const;
  const { origin, send } = await start(t, { requests: [late] }, { hedge: { delayMs: 20 } });
  assert.equal((await send({ hedge: false })).text, 'late');
  assert.equal(origin.requestCount(), 1);
});
