import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import axios from 'axios';
import { attemptsOf } from '../../src/client/attempts.ts';
import { wrapAxiosAdapter } from '../../src/client/axios/wrap-axios-adapter.ts';
import { retry } from '../../src/client/interceptor/retry.ts';
import type { LayerOptions } from '../../src/client/layer-options.ts';
import { wrapFetch } from '../../src/client/wrap-fetch.ts';
import type { WrappedInit } from '../../src/client/wrap-fetch.ts';
import { patternBytes } from '../support/fields.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import type { OriginScript, ScriptedOrigin } from '../support/scripted-origin.ts';
import { MAJORS } from './undici-majors.ts';

/**
 * Whatever a body is made of and whatever goes wrong: each attempt's bytes at the origin are the same, or there is one
 * attempt and its own outcome. An empty re-send that ends in 200 is the worst that a retry layer can do.
 */

const BYTES = patternBytes(5000);
const CAP = 65_536;
const OPTIONS: LayerOptions = {
  retry: {
    maxRetries: 1,
    codes: [503],
    on: ['unsent', 'rejected', 'stale', 'reset', 'timeout'],
    backoffMs: 0,
    maxBackoffMs: 0,
  },
};

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

const webStream = (bytes: Uint8Array): ReadableStream<Uint8Array> => ReadableStream.from(pieces(bytes));

const form = (): FormData => {
  const data = new FormData();
  data.append('field', 'value');
  data.append('file', new Blob([BYTES]), 'file.bin');
  return data;
};

const ANY: Record<string, (bytes: Uint8Array) => unknown> = {
  text: (bytes) => Buffer.from(bytes).toString('hex'),
  Buffer: (bytes) => Buffer.from(bytes),
  Blob: (bytes) => new Blob([bytes]),
  FormData: () => form(),
  'web stream': webStream,
};

interface Sender {
  readonly bodies: Record<string, (bytes: Uint8Array) => unknown>;
  /** The report of what came back, whether it was an answer or an error. */
  send(
    t: TestContext,
    url: string,
    body: unknown,
  ): Promise<{ readonly attempts: number; readonly reason: unknown; readonly status: number }>;
}

const told = (result: object, status: number): Awaited<ReturnType<Sender['send']>> => {
  const report = attemptsOf(result);
  return { attempts: report?.attempts.length ?? -1, reason: report?.reason, status };
};

const SENDERS: Record<string, Sender> = {};

for (const major of MAJORS) {
  SENDERS[`${major.name} request`] = {
    bodies: {
      ...ANY,
      FormData: () => {
        const data = new major.module.FormData();
        for (const [name, value] of form()) data.append(name, value);
        return data;
      },
      Readable: (bytes) => Readable.from(pieces(bytes)),
      'async generator': pieces,
      'list of chunks': (bytes) => [bytes.subarray(0, 1000), bytes.subarray(1000)],
      factory: (bytes) => () => pieces(bytes),
    },
    async send(t, url, body) {
      const agent = major.agent();
      t.after(() => agent.destroy());
      const dispatcher = agent.compose(retry(OPTIONS));
      try {
        const response = await major.request(url, { dispatcher, method: 'PUT', body });
        await response.body.dump();
        return told(response, response.statusCode);
      } catch (error) {
        return told(error as object, 0);
      }
    },
  };
}

SENDERS['wrapFetch'] = {
  bodies: {
    ...ANY,
    ArrayBuffer: (bytes) => bytes.slice().buffer,
    URLSearchParams: () => new URLSearchParams({ a: '1', b: 'two words' }),
    'async generator': pieces,
    factory: (bytes) => () => webStream(bytes),
    'a Request with text': () => new Request('http://a.example', { method: 'PUT', body: 'in a request' }),
    'a Request with a form': () => new Request('http://a.example', { method: 'PUT', body: form() }),
  },
  async send(_, url, body) {
    const wrapped = wrapFetch(fetch, OPTIONS);
    try {
      const isRequest = body instanceof Request;
      const response = isRequest
        ? await wrapped(new Request(url, body))
        : await wrapped(url, {
            method: 'PUT',
            body: body as NonNullable<WrappedInit['body']>,
            duplex: 'half',
          });
      await response.text();
      return told(response, response.status);
    } catch (error) {
      return told(error as object, 0);
    }
  },
};

for (const adapter of ['http', 'fetch'] as const) {
  const { 'web stream': stream, ...whole } = ANY;
  SENDERS[`axios ${adapter}`] = {
    bodies:
      adapter === 'http'
        ? { ...whole, Readable: (bytes) => Readable.from(pieces(bytes), { objectMode: false }) }
        : { ...whole, 'web stream': stream! },
    async send(_, url, body) {
      const client = axios.create({ adapter: wrapAxiosAdapter(axios.getAdapter(adapter), OPTIONS), maxRedirects: 0 });
      const result = await client
        .put(url, body, { headers: { 'Content-Type': false } })
        .catch((error: unknown) => error);
      return told(result as object, (result as { status?: number }).status ?? 0);
    },
  };
}

const FAILURES: Record<string, OriginScript> = {
  'a status': [{ do: 'respond', status: 503 }, { do: 'respond' }],
  'a reset': [{ do: 'reset', at: 'complete' }, { do: 'respond' }],
};

/** Of all bytes, but the boundary: each encoding of a form has one of its own. */
const fingerprint = ({ body }: ReturnType<ScriptedOrigin['request']>): string => {
  const text = body.toString('latin1');
  const boundary = /^--+[\w.-]{8,}(?=\r\n)/.exec(text)?.[0];
  return createHash('sha256')
    .update(boundary === undefined ? text : text.replaceAll(boundary, '--boundary'))
    .digest('hex');
};

for (const [sender, { bodies, send }] of Object.entries(SENDERS)) {
  for (const [failure, script] of Object.entries(FAILURES)) {
    test(`${sender}: after ${failure} every kind of body goes out again byte for byte`, async (t) => {
      for (const [kind, make] of Object.entries(bodies)) {
        const origin = await startOrigin(script, { t });
        const { status, attempts } = await send(t, `http://${origin.address}/`, make(BYTES));
        assert.deepEqual([kind, status, attempts, origin.requestCount()], [kind, 200, 2, 2]);
        const [one, two] = [origin.request(1), origin.request(2)];
        assert.ok(one.bodyBytes > 0, kind);
        assert.equal(fingerprint(two), fingerprint(one), kind);
        assert.ok(two.complete, kind);
      }
    });
  }

  test(`${sender}: after a refused connection no body is lost`, async (t) => {
    for (const [kind, make] of Object.entries(bodies)) {
      const origin = await startOrigin({}, { t });
      await origin.stopListening();
      const { attempts, reason } = await send(t, `http://${origin.address}/`, make(BYTES));
      assert.deepEqual([kind, attempts, reason], [kind, 2, 'attempts-exhausted']);
    }
  });

  const large = ['web stream', 'Readable', 'async generator'].filter((kind) => kind in bodies);
  test(`${sender}: a stream over the cap goes out once, and the failure stays its own`, async (t) => {
    for (const kind of large) {
      const origin = await startOrigin(FAILURES['a status'], { t });
      const { status, attempts, reason } = await send(
        t,
        `http://${origin.address}/`,
        bodies[kind]!(patternBytes(CAP + 1)),
      );
      assert.deepEqual([kind, status, attempts, reason], [kind, 503, 1, 'body-not-replayable']);
      assert.deepEqual([origin.requestCount(), origin.request(1).bodyBytes], [1, CAP + 1]);
    }
  });
}
