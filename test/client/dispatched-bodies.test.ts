import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { request } from 'undici';
import type { Dispatcher } from 'undici';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { pieces } from './body-kinds.ts';

failOnLeaks();

const CAP_BYTES = 4096;

function client(t: TestContext): Dispatcher {
  const dispatcher = createDispatcher({
    retry: { codes: [503], on: ['unsent', 'reset'], backoffMs: 0, maxBackoffMs: 0 },
    replayBufferBytes: CAP_BYTES,
  });
  t.after(() => dispatcher.destroy());
  return dispatcher;
}

test('a body declares its type where it has one and the request names none', async (t) => {
  const form = 'application/x-www-form-urlencoded;charset=UTF-8';
  const image = new Blob(['x'], { type: 'image/png' });
  const rows: readonly (readonly [unknown, Record<string, string>, string | undefined])[] = [
    [new URLSearchParams({ a: '1' }), {}, form],
    [image, {}, 'image/png'],
    [new Blob(['x']), {}, undefined],
    [image, { 'content-type': 'image/gif' }, 'image/gif'],
    ['text', {}, undefined],
  ];
  const origin = await startOrigin({ do: 'respond' }, { t });
  const dispatcher = client(t);
  for (const [body, headers] of rows) {
    const answer = await request(`http://${origin.address}/`, {
      method: 'PUT',
      body: body as string,
      headers,
      dispatcher,
    });
    await answer.body.dump();
  }
  assert.deepEqual(
    origin.journal.requests.map((seen) => seen.value('content-type')),
    rows.map(([, , type]) => type),
  );
});

test('a stream that was read already is refused, and nothing is sent', async (t) => {
  const origin = await startOrigin({}, { t });
  const stream = Readable.from(['gone']);
  for await (const _piece of stream);
  const call = request(`http://${origin.address}/`, { method: 'PUT', body: stream, dispatcher: client(t) });
  await assert.rejects(call, /was read to its end already/);
  assert.equal(origin.requestCount(), 0);
});

test('a stream that breaks ends its request with its own error, and is not sent again', async (t) => {
  const origin = await startOrigin({}, { t });
  const broken = new Error('the disk is gone');
  async function* half(): AsyncGenerator<string> {
    yield 'half';
    await origin.waitForRequest();
    throw broken;
  }
  const call = request(`http://${origin.address}/`, {
    method: 'PUT',
    body: Readable.from(half()),
    dispatcher: client(t),
  });
  await assert.rejects(call, broken);
  assert.equal(origin.requestCount(), 1);
});

test('a body over the cap whose connection dies says that it could not be sent again', async (t) => {
  const origin = await startOrigin({ requests: [{ do: 'reset', at: { bodyBytes: 2 * CAP_BYTES } }] }, { t });
  const body = Readable.from(pieces(Buffer.alloc(3 * CAP_BYTES)));
  const call = request(`http://${origin.address}/`, { method: 'PUT', body, dispatcher: client(t) });
  await assert.rejects(call, (error) => isRequestFailedError(error) && error.reason === 'body-not-replayable');
  assert.equal(origin.requestCount(), 1);
});

test('a stream is let go when its request ends before it was read', async (t) => {
  const origin = await startOrigin({ requests: { do: 'respond', status: 400, at: 'head', then: 'close' } }, { t });
  const body = new Readable({ read() {} });
  body.push('a');
  const { statusCode } = await request(`http://${origin.address}/`, { method: 'PUT', body, dispatcher: client(t) });
  assert.equal(statusCode, 400);
  if (!body.destroyed) await new Promise((resolve) => body.once('close', resolve));
});
