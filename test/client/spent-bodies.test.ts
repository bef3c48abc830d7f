import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import axios from 'axios';
import { wrapAxiosAdapter } from '../../src/client/axios/wrap-axios-adapter.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import type { Behaviour } from '../support/scripted-origin.ts';
import { BODY_SENDERS } from './body-senders.ts';

/** A body of which nothing is left must not go out: the origin would take it for an empty one and answer 200. */

const BUSY: Behaviour = { do: 'respond', status: 503 };
const FINE: Behaviour = { do: 'respond' };

const stream = (): ReadableStream<Uint8Array> => new Blob(['once']).stream();

async function readWhole(body: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
  const reader = body.getReader();
  while (!(await reader.read()).done);
  reader.releaseLock();
  return body;
}

async function spentReadable(): Promise<Readable> {
  const body = Readable.from([Buffer.from('once')]);
  for await (const _piece of body);
  return body;
}

async function* pieces(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('once');
}

const ONCE: Readonly<Record<string, () => unknown>> = {
  'Readable stream': () => Readable.from([Buffer.from('once')]),
  'web stream': stream,
  'async generator': pieces,
};

for (const [name, { takes, send }] of Object.entries(BODY_SENDERS)) {
  describe(`by ${name}`, () => {
    if (takes.includes('function that gives a stream')) {
      for (const [kind, make] of Object.entries(ONCE)) {
        test(`a function that gives the same ${kind} for each attempt sends it once`, async (t) => {
          const origin = await startOrigin({ requests: [BUSY, FINE] }, { t });
          const body = make();
          const sent = await send(`http://${origin.address}/`, () => body, undefined);
          assert.notEqual(sent.status, 200);
          assert.deepEqual(
            origin.journal.requests.map((seen) => seen.body.toString()),
            ['once'],
          );
        });
      }

      test('a function that gives the same list for each attempt sends it each time', async (t) => {
        if (!takes.includes('list of pieces')) return;
        const origin = await startOrigin({ requests: [BUSY, FINE] }, { t });
        const body = ['on', 'ce'];
        await send(`http://${origin.address}/`, () => body, undefined);
        assert.deepEqual(
          origin.journal.requests.map((seen) => seen.body.toString()),
          ['once', 'once'],
        );
      });
    }

    for (const [kind, make] of [
      ['Readable', spentReadable],
      ['web stream', () => readWhole(stream())],
    ] as const) {
      if (!takes.includes(kind)) continue;
      test(`a ${kind} that was read to its end is not sent`, async (t) => {
        const origin = await startOrigin(FINE, { t });
        const sent = await send(`http://${origin.address}/`, await make(), undefined);
        assert.equal(sent.status, 0);
        assert.equal(origin.requestCount(), 0);
      });
    }
  });
}

test('the error names the body that is not there any more', async () => {
  const client = axios.create({ adapter: wrapAxiosAdapter(axios.getAdapter('http')) });
  await assert.rejects(client.put('http://127.0.0.1:1/', await spentReadable()), /was read to its end already/);
});
