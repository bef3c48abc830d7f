import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { FormData, request } from 'undici';
import type { Dispatcher } from 'undici';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import { fetch } from '../../src/client/fetch.ts';
import { refusedAddress } from '../support/addresses.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

const CAP_BYTES = 4096;
const SHORT = 'the same bytes in every attempt, or one attempt: ü';
const LONG = 'z'.repeat(3 * CAP_BYTES);

async function* piecewise(text: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += 1000) yield Buffer.from(text.slice(at, at + 1000));
}

function form(text: string, Form: new () => { append(name: string, value: string | Blob): void }): unknown {
  const made = new Form();
  made.append('field', text);
  made.append('file', new Blob([text]));
  return made;
}

interface Kind {
  readonly make: (text: string) => unknown;
  readonly by: readonly ('request' | 'fetch')[];
  /** What is over the cap can be sent again all the same. */
  readonly repeatable?: true;
  /** The bytes on the wire are not the text alone. */
  readonly encoded?: true;
}

const BOTH = ['request', 'fetch'] as const;
const KINDS: Readonly<Record<string, Kind>> = {
  text: { make: (text) => text, by: BOTH, repeatable: true },
  'a Buffer': { make: (text) => Buffer.from(text), by: BOTH, repeatable: true },
  'a Uint8Array in the middle of its memory': {
    make: (text) => new Uint8Array(Buffer.from(`__${text}__`)).subarray(2, -2),
    by: BOTH,
    repeatable: true,
  },
  'an ArrayBuffer': { make: (text) => new TextEncoder().encode(text).buffer, by: BOTH, repeatable: true },
  'a Blob': { make: (text) => new Blob([text]), by: BOTH, repeatable: true },
  URLSearchParams: { make: (text) => new URLSearchParams({ text }), by: ['fetch'], encoded: true },
  "undici's FormData": { make: (text) => form(text, FormData), by: BOTH, encoded: true },
  "Node's FormData": { make: (text) => form(text, globalThis.FormData), by: BOTH, encoded: true },
  'a Readable': { make: (text) => Readable.from(piecewise(text)), by: BOTH },
  'a web stream': { make: (text) => ReadableStream.from(piecewise(text)), by: BOTH },
  'an async generator': { make: piecewise, by: BOTH },
  'a list of pieces': { make: (text) => [text.slice(0, 5), text.slice(5)], by: ['request'] },
  'a function that gives text': { make: (text) => () => text, by: BOTH, repeatable: true },
  'a function that gives a stream': {
    make: (text) => () => Readable.from(piecewise(text)),
    by: BOTH,
    repeatable: true,
  },
};

async function send(by: 'request' | 'fetch', url: string, body: unknown, dispatcher: Dispatcher): Promise<number> {
  if (by === 'request') {
    const answer = await request(url, { method: 'PUT', body: body as string, dispatcher });
    await answer.body.dump();
    return answer.statusCode;
  }
  const answer = await fetch(url, { method: 'PUT', body, duplex: 'half', dispatcher });
  await answer.bytes();
  return answer.status;
}

const FAILURES = {
  'an answer of 503': { do: 'respond', status: 503 },
  'a reset': { do: 'reset' },
} as const;

function client(t: TestContext, endpoints?: readonly string[]): Dispatcher {
  const dispatcher = createDispatcher({
    retry: { codes: [503], on: ['unsent', 'reset'], backoffMs: 0, maxBackoffMs: 0 },
    replayBufferBytes: CAP_BYTES,
    endpoints,
  });
  t.after(() => dispatcher.destroy());
  return dispatcher;
}

for (const [name, { make, by, repeatable, encoded }] of Object.entries(KINDS)) {
  for (const way of by) {
    describe(`${name}, by ${way}`, () => {
      for (const [failure, behaviour] of Object.entries(FAILURES)) {
        test(`after ${failure} is sent again whole`, async (t) => {
          const origin = await startOrigin({ requests: [behaviour, { do: 'respond' }] }, { t });
          assert.equal(await send(way, `http://${origin.address}/`, make(SHORT), client(t)), 200);
          const bodies = origin.journal.requests.map((seen) => seen.body.toString());
          assert.equal(bodies.length, 2);
          assert.equal(bodies[1], bodies[0]);
          if (encoded !== true) assert.equal(bodies[0], SHORT);
          else assert.ok(bodies[0]!.length > SHORT.length);
        });
      }

      test('goes whole to another origin where nobody listens at the first', async (t) => {
        const origin = await startOrigin({}, { t });
        const refused = `http://${(await refusedAddress({ t })).address}`;
        const dispatcher = client(t, [refused, `http://${origin.address}`]);
        assert.equal(await send(way, refused, make(SHORT), dispatcher), 200);
        if (encoded !== true) assert.equal(origin.request().body.toString(), SHORT);
        else assert.ok(origin.request().bodyBytes > SHORT.length);
      });

      if (encoded === true) return;
      // What fetch is given whole, it hands on piece by piece.
      const isAgain = repeatable === true && (way === 'request' || name.startsWith('a function'));
      test(`over the cap is sent ${isAgain ? 'again whole' : 'once, and its answer is passed on'}`, async (t) => {
        const origin = await startOrigin({ requests: [FAILURES['an answer of 503'], { do: 'respond' }] }, { t });
        assert.equal(await send(way, `http://${origin.address}/`, make(LONG), client(t)), isAgain ? 200 : 503);
        assert.deepEqual(
          origin.journal.requests.map((seen) => seen.body.toString() === LONG),
          isAgain ? [true, true] : [true],
        );
      });
    });
  }
}

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
  const body = Readable.from(piecewise(LONG));
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
