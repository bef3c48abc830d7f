import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { CookieJar } from 'tough-cookie';
import { request } from 'undici';
import type { Response } from 'undici';
import { attemptsOf } from '../../src/client/attempts.ts';
import type { ClientOptions } from '../../src/client/client-options.ts';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import { fetch } from '../../src/client/fetch.ts';
import { createBudget } from '../../src/client/options.ts';
import type { RetryOptions } from '../../src/client/options.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { OriginScript } from '../support/origin-script.ts';
import type { ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { BUSY, FINE, busyAgain, here, scoped } from './003-lab-policies.ts';

// What the same lab says of the budget, and of the layers around the retries.

failOnLeaks();

describe('the budget of a client, three requests that always fail', () => {
  const endless: RetryOptions = { classify: busyAgain, maxRetries: 1000 };
  const rows: readonly (readonly [string, ClientOptions['budget'], readonly number[], number | undefined])[] = [
    ['20 %: as in the lab', { kind: 'token-bucket', percent: 20 }, [101, 1, 1], 5],
    [
      '0 %: none, where the lab’s client makes a hundred retries of it',
      { kind: 'token-bucket', percent: 0 },
      [1, 1, 1],
      undefined,
    ],
    ['no budget: as in the lab', { kind: 'none' }, [1001, 1001, 1001], undefined],
  ];
  for (const [name, budget, counts, afterSuccesses] of rows) {
    test(`${name}: ${counts.join(', ')}`, async (t) => {
      const origin = await startOrigin((seen) => (seen.target === '/503' ? BUSY : FINE), { t });
      const dispatcher = createDispatcher(scoped(endless, budget));
      t.after(() => dispatcher.close());
      const count = async (path: string): Promise<number> => {
        const before = origin.requestCount();
        const { body } = await request(`http://${origin.address}${path}`, { dispatcher });
        await body.dump();
        return origin.requestCount() - before;
      };
      const sent: number[] = [];
      for (let i = 0; i < 3; i += 1) sent.push(await count('/503'));
      assert.deepEqual(sent, counts);
      if (afterSuccesses === undefined) return;
      for (let i = 0; i < 20; i += 1) assert.equal(await count('/200'), 1);
      assert.equal(await count('/503'), afterSuccesses);
    });
  }
});

describe('the layers around it, with 503 retryable for the host', () => {
  const HOST: RetryOptions = { scope: here, classify: busyAgain };
  const moved = { do: 'respond', status: 307, headers: { Location: '/b' } } as const;

  async function send(
    t: TestContext,
    script: OriginScript,
    options: ClientOptions,
  ): Promise<{ origin: ScriptedOrigin; response: Response; targets: string }> {
    const origin = await startOrigin(script, { t });
    const dispatcher = createDispatcher(options);
    t.after(() => dispatcher.destroy());
    const response = await fetch(`http://${origin.address}/a`, { dispatcher });
    await response.bytes();
    return { origin, response, targets: origin.journal.requests.map(({ target }) => target).join(' ') };
  }

  test('redirect: each hop has three attempts of its own, as in the lab', async (t) => {
    const script = { requests: [BUSY, BUSY, moved, BUSY, BUSY, FINE] };
    const { response, targets } = await send(t, script, scoped(HOST));
    assert.deepEqual([response.status, targets], [200, '/a /a /a /b /b /b']);
  });

  test('redirect: all hops spend from one budget, as in the lab', async (t) => {
    // A reserve of two retries.
    const budget = createBudget({ kind: 'token-bucket', percent: 1, minRetryRate: { count: 1, intervalMs: 5_000 } });
    const script = { requests: [BUSY, moved, BUSY] };
    const { response, targets } = await send(t, script, scoped(HOST, budget));
    assert.deepEqual([response.status, targets], [503, '/a /a /b /b']);
  });

  test('cookies: the Set-Cookie of a retried answer is kept and sent, free of its loss in the lab', async (t) => {
    const stale = { ...BUSY, headers: { 'Set-Cookie': 'node=b' } };
    const { origin } = await send(t, { requests: [stale, FINE] }, { ...scoped(HOST), cookies: new CookieJar() });
    assert.deepEqual(
      origin.journal.requests.map((seen) => seen.value('cookie')),
      [undefined, 'node=b'],
    );
  });

  test('timeout: the time of the request covers all attempts, as in the lab', async (t) => {
    const options = { ...scoped(HOST), timeout: { requestMs: 100 } };
    const call = send(t, { requests: [BUSY, { do: 'hang' }] }, options);
    await assert.rejects(call, (error) => isRequestFailedError(error) && error.reason === 'deadline');
  });

  test('pace: the preset sends again at once, as in the lab', async (t) => {
    const { response } = await send(t, BUSY, scoped(HOST));
    assert.deepEqual([attemptsOf(response)?.retryCount, attemptsOf(response)?.waitedMs], [2, 0]);
  });

  test('a request out of scope takes nothing from the budget, free of the five units that it takes in the lab', async (t) => {
    const budget = createBudget({ kind: 'token-bucket', percent: 20 });
    await send(t, BUSY, scoped({ ...HOST, scope: 'localhost' }, budget));
    assert.equal(budget.balance(0), 100);
  });
});
