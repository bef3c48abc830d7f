import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { request } from 'undici';
import { attemptsOf } from '../../src/client/attempts.ts';
import type { RequestEnd } from '../../src/client/client-state.ts';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { fetch } from '../../src/client/fetch.ts';
import { wrapFetch } from '../../src/client/wrap-fetch.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

for (const way of ['fetch', 'undici.request', 'onRequestEnd', 'wrapFetch'] as const) {
  test(`a report of ${way} shows its figures when it is printed and when it is turned into JSON`, async (t) => {
    const { address } = await startOrigin({ requests: [{ do: 'respond', status: 503 }, { do: 'respond' }] }, { t });
    const retry = { codes: [503], backoffMs: 0, maxBackoffMs: 0 };
    let end: RequestEnd | undefined;
    const dispatcher = createDispatcher({ retry, onRequestEnd: (ended) => (end = ended) });
    t.after(() => dispatcher.destroy());
    const url = `http://${address}/`;
    let answer: object;
    if (way === 'undici.request') {
      const response = await request(url, { dispatcher });
      await response.body.text();
      answer = response;
    } else {
      const get =
        way === 'wrapFetch' ? wrapFetch(globalThis.fetch, { retry }) : (to: string) => fetch(to, { dispatcher });
      const response = await get(url);
      await response.text();
      answer = response;
    }
    const report = way === 'onRequestEnd' ? end?.report : attemptsOf(answer);

    const { attempts, reason, retryCount, waitedMs } = JSON.parse(JSON.stringify(report)) as Record<string, unknown>;
    assert.deepEqual([(attempts as unknown[]).length, reason, retryCount], [2, 'success', 1]);
    assert.equal(typeof waitedMs, 'number');
    assert.match(inspect(report), /attempts: \[[^]*status: 503[^]*reason: 'success',\s+retryCount: 1,\s+waitedMs: \d/);
  });
}
