import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fieldBlock } from '../support/http2-frames.ts';
import { startHttp2Origin } from '../support/http2-origin.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { requestRaw } from '../support/raw-client.ts';
import { gatewayFile, startGateway } from '../support/running-gateway.ts';
import { answerFaults, connectionFaults, interruptedBlocks, serverFaults } from './http2-cases.ts';

failOnLeaks();

const block = fieldBlock([[':status', '200']]);
const endings = [...connectionFaults, ...interruptedBlocks(block), ...serverFaults(block)];
const answers = answerFaults();
const bold = { retry: { attempts: 3, on: ['unsent', 'rejected', 'stale', 'reset', 'timeout'], backoff: '1ms' } };

suite('HTTP/2 frames that are against the rules, from an upstream', () => {
  for (const [what, cases, endsConnection] of [
    ['of the connection: a POST is a 502, sent once, and the connection is given up', endings, true],
    ['of an answer: a POST is a 502 or a visible cut, and sent once', answers, false],
  ] as const) {
    test(what, async (t) => {
      for (const { name, frames } of cases) {
        await t.test(`RFC 9113 ${name}`, async (t2) => {
          const origin = await startHttp2Origin(t2, (stream) => {
            if (stream.number === 1) stream.raw(Buffer.concat(frames));
            else stream.head(200, [], true);
          });
          const gateway = await startGateway(
            t2,
            gatewayFile([origin.key], { upstream: { protocol: 'http2' }, route: bold }),
          );
          const answer = await requestRaw(gateway.port, { method: 'POST', body: 'work' });
          assert.ok(answer.status === 502 ? answer.complete : !answer.complete, `status ${answer.status}`);
          assert.equal(origin.streams.length, 1);
          assert.equal((await requestRaw(gateway.port, { target: '/after' })).status, 200);
          if (endsConnection)
            assert.deepEqual(
              origin.streams.map(({ connection }) => connection),
              [1, 2],
            );
          await gateway.close();
        });
      }
    });
  }

  test('there are enough of them', () => assert.ok(endings.length + answers.length >= 80));
});
