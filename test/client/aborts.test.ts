import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { fetch } from '../../src/client/fetch.ts';
import type { Behaviour } from '../support/origin-script.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

test('of requests that are given up in every phase nothing is left: no connection, timer, listener or body', async (t) => {
  const behaviours: readonly Behaviour[] = [
    { do: 'hang' },
    { do: 'respond', status: 503 },
    { do: 'endless' },
    { do: 'respond', delayMs: 3 },
    { do: 'reset' },
    { do: 'respond', body: 'fine' },
  ];
  const origin = await startOrigin(({ number }) => behaviours[number % behaviours.length]!, { t });
  const dispatcher = createDispatcher({
    retry: { codes: [503], on: ['unsent', 'stale', 'reset'], maxRetries: 3, backoffMs: 2, maxBackoffMs: 8 },
    hedge: { delayMs: 4 },
    budget: { kind: 'none' },
    connections: 20,
  });
  const aborter = new AbortController();
  let given = 0;
  const send = async (index: number): Promise<void> => {
    const own = new AbortController();
    const signal = AbortSignal.any([aborter.signal, own.signal]);
    const timer = setTimeout(() => own.abort(), index % 12);
    try {
      const response = await fetch(`http://${origin.address}/${index}`, {
        dispatcher,
        signal,
        method: 'PUT',
        body: 'x',
      });
      await response.bytes();
    } catch {
      given += 1;
    } finally {
      clearTimeout(timer);
    }
  };
  for (let batch = 0; batch < 10; batch += 1) {
    await Promise.all(Array.from({ length: 30 }, (_, index) => send(batch * 30 + index)));
  }
  assert.ok(given > 0);
  await dispatcher.close();
  await origin.waitForNoConnection();
});
