import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { runAbortStorm } from './abort-storm.ts';

failOnLeaks();

// `npm run soak:aborts` does the same a hundred thousand times.
test('of requests that are given up in every phase nothing is left: no connection, timer, listener or body', async () => {
  const { abortedCount, failedCount, left } = await runAbortStorm(240, 7);
  assert.ok(abortedCount > 60, `${abortedCount} of 240 were given up`);
  assert.ok(failedCount < 12, `${failedCount} of 240 failed`);
  assert.deepEqual(left, { listeners: 0, bodies: 0, keptBytes: 0, sockets: 0 });
});
