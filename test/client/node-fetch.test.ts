import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { retry } from '../../src/client/interceptor/retry.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import type { OriginScript, ScriptedOrigin } from '../support/scripted-origin.ts';
import { MAJORS } from './undici-majors.ts';

/** The fetch that this Node brings, over a dispatcher of each major: its handlers have a shape of their own. */

const RETRY = { maxRetries: 2, codes: [503], on: ['unsent', 'rejected', 'stale', 'reset'], backoffMs: 0 } as const;
/** Where setGlobalDispatcher puts it: the first for Node 22 and 24, the second for Node 26. */
const GLOBALS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];
const shared = globalThis as unknown as Record<symbol, unknown>;

for (const major of MAJORS) {
  const setUp = async (t: TestContext, script: OriginScript): Promise<ScriptedOrigin> => {
    const origin = await startOrigin(script, { t });
    const before = GLOBALS.map((key) => shared[key]);
    const agent = major.agent();
    const dispatcher = agent.compose(retry({ retry: RETRY }));
    for (const key of GLOBALS) shared[key] = dispatcher;
    t.after(() => {
      for (const [index, key] of GLOBALS.entries()) shared[key] = before[index];
      return agent.destroy();
    });
    return origin;
  };

  test(`Node's own fetch over ${major.name}: a PUT is retried with the same bytes`, async (t) => {
    const origin = await setUp(t, [
      { do: 'respond', status: 503 },
      { do: 'respond', body: 'served' },
    ]);
    const response = await fetch(`http://${origin.address}/`, { method: 'PUT', body: 'once' });
    assert.equal(await response.text(), 'served');
    const bodies = [1, 2].map((n) => origin.request(n).body.toString());
    assert.deepEqual(bodies, ['once', 'once']);
  });

  test(`Node's own fetch over ${major.name}: a POST that is answered 503 passes through untouched`, async (t) => {
    const origin = await setUp(t, { do: 'respond', status: 503, body: 'busy' });
    const response = await fetch(`http://${origin.address}/`, { method: 'POST', body: 'x' });
    assert.deepEqual([response.status, await response.text(), origin.requestCount()], [503, 'busy', 1]);
  });

  test(`Node's own fetch over ${major.name}: an abort ends the body`, async (t) => {
    const origin = await setUp(t, { do: 'endless' });
    const aborter = new AbortController();
    const response = await fetch(`http://${origin.address}/`, { signal: aborter.signal });
    aborter.abort();
    await assert.rejects(response.text(), { name: 'AbortError' });
    await origin.waitFor((journal) => journal.requests[0]?.closedByClientAtMs !== undefined);
  });
}
