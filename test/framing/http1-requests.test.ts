import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import { REFUSED_REQUESTS } from '../http1/request-fixtures.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { connectRaw, requestRaw } from '../support/raw-client.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { sectionOf } from './http1-sections.ts';
import { startStage } from './stage.ts';

failOnLeaks();

const cases = REFUSED_REQUESTS.map(({ why, text, code, status }) => ({
  name: `${sectionOf(code)}: ${why}`,
  text,
  // Behind a head that was in order what is wrong is the body, however the parser would call it.
  status: text.includes('chunked\r\n\r\n') && status === 431 ? 400 : status,
}));
/** A second request behind the refused one: whoever found the end of the first elsewhere would serve it. */
const behind = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';

suite('requests that are not one message, at the listener', () => {
  test('are answered with the right 4xx or 5xx and a close; nothing of them is a whole request at the origin', async (t: TestContext) => {
    const origin = await startOrigin({}, { t });
    const stage = await startStage(t, origin.address);
    for (const { name, text, status } of cases) {
      await t.test(name, async () => {
        const wholeBefore = origin.requestCount({ complete: true });
        const client = await connectRaw(stage.port);
        await client.send(text + behind, ['GET']);
        const answer = await client.response();
        assert.deepEqual([answer.status, answer.complete, answer.value('connection')], [status, true, 'close']);
        await client.waitForEnd();
        client.destroy();
        // What was forwarded all the same would be there before this one.
        assert.equal((await requestRaw(stage.port, { target: '/after' })).status, 200);
        assert.equal(origin.requestCount({ complete: true }) - wholeBefore, 1);
        assert.equal(origin.requestCount({ target: '/smuggled' }), 0);
      });
    }
    assert.ok(cases.length >= 80, `${cases.length} cases`);
  });
});
