import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { REFUSED_RESPONSES } from '../http1/response-fixtures.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { malformedResponseHeads } from '../support/malformed.ts';
import { requestRaw } from '../support/raw-client.ts';
import { startRig } from '../support/running-gateway.ts';
import { sectionOf } from './http1-sections.ts';

failOnLeaks();

const cases = [
  ...REFUSED_RESPONSES.map(({ why, text, code }) => ({ name: `${sectionOf(code)}: ${why}`, bytes: text })),
  ...malformedResponseHeads.map(({ name, bytes }) => ({ name: `RFC 9112 §6.3: ${name}`, bytes })),
];
/** Every failure that a policy can name: what is not sent again then is never sent again. */
const bold = { retry: { attempts: 3, on: ['unsent', 'rejected', 'stale', 'reset', 'timeout'], backoff: '1ms' } };

suite('answers that are not one message, from an upstream', () => {
  for (const request of [{}, { method: 'POST', body: 'work' }]) {
    const method = request.method ?? 'GET';
    test(`to a ${method} are a 502 or a visible cut, end their connection, and are asked for no more often than is safe`, async (t) => {
      const { origin, gateway } = await startRig(t, {}, { route: bold });
      for (const { name, bytes } of cases) {
        await t.test(name, async () => {
          const behind = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled';
          origin.setScript({ do: 'raw', bytes: bytes + behind });
          const before = origin.requestCount();
          const answer = await requestRaw(gateway.port, request);
          assert.ok(answer.status === 502 ? answer.complete : !answer.complete, `status ${answer.status}`);
          assert.doesNotMatch(answer.text, /smuggled/);
          // What is no HTTP at all is a connection that broke: a policy may name that. Anything else would only come again.
          const mostSends = method === 'GET' && !bytes.startsWith('HTTP/') ? 1 + bold.retry.attempts : 1;
          const sends = origin.requestCount() - before;
          assert.ok(sends >= 1 && sends <= mostSends, `${sends} sends`);
          await origin.waitForNoConnection();
          origin.setScript({});
          assert.equal((await requestRaw(gateway.port, { target: '/after' })).status, 200);
        });
      }
      assert.ok(cases.length >= 80, `${cases.length} cases`);
    });
  }
});
