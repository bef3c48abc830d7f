import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { failOnLeaks } from '../support/leak-check.ts';
import type { OriginScript } from '../support/origin-script.ts';
import { startRig } from '../support/running-gateway.ts';

failOnLeaks();

/** In real time: a FIN that comes with the request is a client that still listens, so it has to leave later. */
const leaveAfterMs = 120;
const head = 'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc';

const phases: readonly (readonly [name: string, script: OriginScript, bytes: string])[] = [
  ['uploading', {}, head],
  ['waiting', { do: 'hang' }, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
  [
    'receiving',
    { do: 'respond', body: 'abcdef', cut: { bodyBytes: 3 }, then: 'hang' },
    'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
];

/** Milliseconds from the client's leaving to the origin's seeing it. */
async function delayOf(t: TestContext, script: OriginScript, bytes: string, how: 'close' | 'reset'): Promise<number> {
  const { origin, client } = await startRig(t, script);
  await client.send(bytes, ['GET']);
  await origin.waitForRequest();
  await sleep(leaveAfterMs);
  const leftAt = performance.now();
  if (how === 'reset') client.reset();
  else client.destroy();
  await origin.waitForNoConnection();
  assert.equal(origin.requestCount(), 1, 'nothing is sent after a client left');
  return performance.now() - leftAt;
}

for (const how of ['close', 'reset'] as const) {
  for (const [name, script, bytes] of phases) {
    test(`an origin sees that a client left (${how}) while ${name}, and nothing is sent after it`, async (t) => {
      const delays: number[] = [];
      for (let n = 0; n < 10; n += 1) delays.push(await delayOf(t, script, bytes, how));
      // Printed, not asserted: how busy the machine is, is not the gateway's merit or fault. The goal is 100 ms.
      t.diagnostic(
        `seen after ${Math.max(...delays).toFixed(1)} ms at most, ${Math.min(...delays).toFixed(1)} ms at least`,
      );
    });
  }
}
