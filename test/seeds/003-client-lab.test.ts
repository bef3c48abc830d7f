import assert from 'node:assert/strict';
import { constants, createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { request } from 'undici';
import type { ClientOptions } from '../../src/client/client-options.ts';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import { presets } from '../../src/client/presets.ts';
import { createTestCertificates } from '../support/certificates.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { OriginScript } from '../support/origin-script.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { BUSY, FINE, busyAgain, failureAgain, here, scoped } from './003-lab-policies.ts';

// The lines that the lab of another client's retries prints, run here with its settings as presets. Where a number of
// that client is a fault, the row says which, and ours stands beside it.

failOnLeaks();

const { ca, server: identity } = createTestCertificates();
async function outcomeOf(url: string, options: ClientOptions, method: string, body?: unknown): Promise<string> {
  const dispatcher = createDispatcher(options);
  try {
    const answer = await request(url, { dispatcher, method, body: body as string });
    await answer.body.dump();
    return `Ok ${answer.statusCode}`;
  } catch (error) {
    if (!isRequestFailedError(error)) throw error;
    return 'Err';
  } finally {
    await dispatcher.close();
  }
}

interface Row {
  readonly name: string;
  readonly script: OriginScript;
  readonly options: ClientOptions;
  readonly method?: string;
  readonly body?: () => unknown;
  readonly host?: string;
  /** What the lab prints. */
  readonly lab: number;
  /** What we send, where that is something else, and the fault that it is free of. */
  readonly ours?: number;
  readonly freeOf?: string;
  readonly outcome: string;
}

const ROWS: readonly Row[] = [
  { name: 'default, GET 503', script: BUSY, options: presets.reqwest, lab: 1, outcome: 'Ok 503' },
  { name: 'default, GET abort', script: { do: 'close' }, options: presets.reqwest, lab: 1, outcome: 'Err' },
  {
    name: 'a host without a classifier, GET 503',
    script: BUSY,
    options: scoped({ scope: here }),
    lab: 1,
    outcome: 'Ok 503',
  },
  {
    name: 'a host and 503 retryable, GET 503',
    script: BUSY,
    options: scoped({ scope: here, classify: busyAgain }),
    lab: 3,
    outcome: 'Ok 503',
  },
  {
    name: 'a host and 503 retryable, POST bytes',
    script: BUSY,
    options: scoped({ scope: here, classify: busyAgain }),
    method: 'POST',
    body: () => 'bytes',
    lab: 3,
    ours: 1,
    freeOf: 'a POST that was processed and is sent again',
    outcome: 'Ok 503',
  },
  {
    name: 'a host and 503 retryable, POST stream',
    script: BUSY,
    options: scoped({ scope: here, classify: busyAgain }),
    method: 'POST',
    body: () => Readable.from(['stream']),
    lab: 1,
    outcome: 'Ok 503',
  },
  {
    name: 'a host and 503 retryable, GET fail-once',
    script: { requests: [BUSY, FINE] },
    options: scoped({ scope: here, classify: busyAgain }),
    lab: 2,
    outcome: 'Ok 200',
  },
  {
    name: 'five retries a request, GET 503',
    script: BUSY,
    options: scoped({ scope: here, classify: busyAgain, maxRetries: 5 }),
    lab: 6,
    outcome: 'Ok 503',
  },
  {
    name: 'another host, GET 503',
    script: BUSY,
    options: scoped({ scope: 'localhost', classify: busyAgain }),
    lab: 2,
    ours: 1,
    freeOf: 'a request out of scope that is sent again once',
    outcome: 'Ok 503',
  },
  {
    name: 'the same host by its name, GET 503',
    script: BUSY,
    options: scoped({ scope: 'localhost', classify: busyAgain }),
    host: 'localhost',
    lab: 3,
    outcome: 'Ok 503',
  },
  {
    name: 'a host and any error retryable, GET abort',
    script: { do: 'close' },
    options: scoped({ scope: here, classify: failureAgain }),
    lab: 3,
    outcome: 'Err',
  },
  {
    name: 'a host and any error retryable, POST abort',
    script: { do: 'close' },
    options: scoped({ scope: here, classify: failureAgain }),
    method: 'POST',
    body: () => 'bytes',
    lab: 3,
    ours: 1,
    freeOf: 'a POST that may have been processed and is sent again',
    outcome: 'Err',
  },
];

describe('attempts over HTTP/1.1', () => {
  for (const { name, script, options, method = 'GET', body, host = here, lab, ours = lab, freeOf, outcome } of ROWS) {
    test(`${name}: ${ours}${freeOf === undefined ? '' : ` and not ${lab}, free of ${freeOf}`}`, async (t) => {
      const origin = await startOrigin(script, { t });
      assert.equal(await outcomeOf(`http://${host}:${origin.port}/`, options, method, body?.()), outcome);
      assert.equal(origin.requestCount(), ours);
    });
  }
});

interface StreamRow {
  readonly name: string;
  readonly options: ClientOptions;
  readonly method?: string;
  readonly body?: () => unknown;
  readonly text?: string;
  readonly refused: number;
  readonly lab: number;
  readonly ours?: number;
  readonly freeOf?: string;
  readonly outcome: string;
}

const STREAMS: readonly StreamRow[] = [
  { name: 'default, GET, 1 refused', options: presets.reqwest, refused: 1, lab: 2, outcome: 'Ok 200' },
  {
    name: 'default, POST bytes, 1 refused',
    options: presets.reqwest,
    method: 'POST',
    body: () => 'bytes',
    text: 'bytes',
    refused: 1,
    lab: 2,
    outcome: 'Ok 200',
  },
  {
    name: 'default, POST stream, 1 refused',
    options: presets.reqwest,
    method: 'POST',
    body: () => Readable.from(['stream']),
    text: 'stream',
    refused: 1,
    lab: 1,
    ours: 2,
    freeOf: 'an error where what went out of the stream could have been kept',
    outcome: 'Ok 200',
  },
  { name: 'default, GET, 5 refused', options: presets.reqwest, refused: 5, lab: 3, outcome: 'Err' },
  { name: 'never, GET, 1 refused', options: { retry: { scope: 'never' } }, refused: 1, lab: 1, outcome: 'Err' },
  {
    name: 'a host without a classifier, GET, 1 refused',
    options: scoped({ scope: 'localhost' }),
    refused: 1,
    lab: 1,
    ours: 2,
    freeOf: 'a policy that gives up the retry of refused streams by being there',
    outcome: 'Ok 200',
  },
];

describe('streams over HTTP/2, where the server refuses some', () => {
  for (const { name, options, method = 'GET', body, text = '', refused, lab, ours = lab, freeOf, outcome } of STREAMS) {
    test(`${name}: ${ours}${freeOf === undefined ? '' : ` and not ${lab}, free of ${freeOf}`}`, async (t) => {
      const { url, seen } = await refusingServer(t, refused);
      assert.equal(await outcomeOf(url, { ...options, tls: { ca } }, method, body?.()), outcome);
      assert.deepEqual(
        seen.map((one) => one.method),
        Array.from({ length: ours }, () => method),
      );
      if (outcome === 'Ok 200') assert.equal(seen.at(-1)?.body, text);
    });
  }
});

interface SeenStream {
  readonly method: string;
  body: string;
}

async function refusingServer(
  t: TestContext,
  refusals: number,
): Promise<{ readonly url: string; readonly seen: readonly SeenStream[] }> {
  const seen: SeenStream[] = [];
  const server = createSecureServer(identity);
  server.on('stream', (stream, headers) => {
    const own: SeenStream = { method: String(headers[':method']), body: '' };
    seen.push(own);
    stream.on('error', () => {});
    stream.on('data', (chunk: Buffer) => (own.body += chunk.toString()));
    if (seen.length <= refusals) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
    stream.on('end', () => {
      stream.respond({ ':status': 200 });
      stream.end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => new Promise((closed) => server.close(closed)));
  return { url: `https://localhost:${(server.address() as AddressInfo).port}/`, seen };
}
