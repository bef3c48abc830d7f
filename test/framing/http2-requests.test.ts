import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { connectFrames, endHeaders, endStream, frame, frameTypes, requestBlock } from '../support/http2-frames.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { clientFaults, connectionFaults, interruptedBlocks, passedOver, streamFaults } from './http2-cases.ts';
import { startStage } from './stage.ts';

failOnLeaks();

const block = requestBlock('POST', '/faulty');
const endings = [...connectionFaults, ...interruptedBlocks(block), ...clientFaults(block)];
const resets = streamFaults(block);
const ignored = passedOver(block);

suite('HTTP/2 frames that are against the rules, at the listener', () => {
  test('of the connection: it is closed, and nothing that was not whole is forwarded', async (t) => {
    const origin = await startOrigin({ do: 'hang' }, { t });
    const stage = await startStage(t, origin.address);
    for (const { name, frames } of endings) {
      await t.test(`RFC 9113 ${name}`, async () => {
        const client = await connectFrames(stage.port);
        await client.send(...frames);
        await client.waitForClose();
        assert.ok(client.frames.every(({ type }) => type !== frameTypes.data && type !== frameTypes.headers));
        client.destroy();
        await origin.waitForNoConnection();
      });
    }
    assert.equal(origin.requestCount({ method: 'POST', complete: true, target: /smuggled/ }), 0);
    const caseCount = endings.length + resets.length + ignored.length;
    assert.ok(caseCount >= 80, `${caseCount} cases`);
  });

  test('of one stream: it is reset, the origin gets no whole request of it, and the next one is served', async (t) => {
    const origin = await startOrigin({}, { t });
    const stage = await startStage(t, origin.address);
    for (const { name, frames } of resets) {
      await t.test(`RFC 9113 ${name}`, async () => {
        const wholeBefore = origin.requestCount({ complete: true });
        const client = await connectFrames(stage.port);
        await client.send(...frames);
        await client.waitFor(() => client.isClosed || client.resetCode(1) !== undefined, 'the reset');
        if (!client.isClosed) {
          await client.send(frame(frameTypes.headers, endHeaders | endStream, 3, requestBlock('GET', '/next')));
          assert.equal(await client.status(3), 200);
        }
        assert.equal(origin.requestCount({ complete: true, target: '/faulty' }), 0);
        assert.ok(origin.requestCount({ complete: true }) - wholeBefore <= 1);
        client.destroy();
      });
    }
  });

  test('that may be passed over: they are as if they had not been sent', async (t) => {
    const origin = await startOrigin({}, { t });
    const stage = await startStage(t, origin.address);
    for (const { name, frames } of ignored) {
      await t.test(`RFC 9113 ${name}`, async () => {
        const before = origin.requestCount();
        const client = await connectFrames(stage.port);
        await client.send(...frames);
        await client.send(frame(frameTypes.headers, endHeaders | endStream, 7, requestBlock('GET', '/next')));
        assert.equal(await client.status(7), 200);
        await client.waitFor(
          () => client.frames.filter(({ type }) => type === frameTypes.headers).length === 2,
          'both answers',
        );
        assert.equal(origin.requestCount() - before, 2);
        for (const request of origin.journal.requests.slice(before))
          assert.doesNotMatch(
            JSON.stringify([request.fields, request.trailers, request.body.toString()]),
            /x-evil|"x"/,
          );
        client.destroy();
      });
    }
  });
});
