import assert from 'node:assert/strict';
import { constants, createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { request } from 'undici';
import type { Classifier } from '../../src/client/classifier.ts';
import type { ClientOptions } from '../../src/client/client-options.ts';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import type { RetryOptions } from '../../src/client/options.ts';
import { presets } from '../../src/client/presets.ts';
import { createTestCertificates } from '../support/certificates.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { OriginScript } from '../support/origin-script.ts';
import { startOrigin } from '../support/scripted-origin.ts';

// The lines that the lab of another client's retries prints, run here with its settings as presets. Where a number of
// that client is a fault, the row says which, and ours stands beside it.

failOnLeaks();

const { ca, server: identity } = createTestCertificates();
const BUSY = { do: 'respond', status: 503 } as const;
const FINE = { do: 'respond' } as const;

const busyAgain: Classifier = ({ status }) => (status === 503 ? 'retryable' : 'success');
const failureAgain: Classifier = ({ failure }) => (failure === undefined ? 'success' : 'retryable');

function scoped(retry: RetryOptions, budget: ClientOptions['budget'] = presets.reqwestScoped.budget): ClientOptions {
  return { ...presets.reqwestScoped, budget, retry: { ...presets.reqwestScoped.retry, ...retry } };
}

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

const here = '127.0.0.1';
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

describe('attempts over HTTP/2, where the server refuses streams', () => {
  const rows: readonly (readonly [
    string,
    ClientOptions,
    string,
    (() => unknown) | undefined,
    number,
    number,
    string,
  ])[] = [
    ['default, GET, 1 refused', presets.reqwest, 'GET', undefined, 1, 2, 'Ok 200'],
    ['default, POST bytes, 1 refused', presets.reqwest, 'POST', () => 'bytes', 1, 2, 'Ok 200'],
    // The lab's client gives up here: it keeps nothing of a stream.
    ['default, POST stream, 1 refused', presets.reqwest, 'POST', () => Readable.from(['stream']), 1, 2, 'Ok 200'],
    ['default, GET, 5 refused', presets.reqwest, 'GET', undefined, 5, 3, 'Err'],
    ['never, GET, 1 refused', { retry: { scope: 'never' } }, 'GET', undefined, 1, 1, 'Err'],
  ];
  for (const [name, options, method, body, refusals, streams, outcome] of rows) {
    test(`${name}: ${streams} streams`, async (t) => {
      const { url, seen } = await refusingServer(t, refusals);
      assert.equal(await outcomeOf(url, { ...options, tls: { ca } }, method, body?.()), outcome);
      assert.equal(seen.length, streams);
      if (body !== undefined) assert.equal(new Set(seen.slice(refusals)).size, 1);
    });
  }
});

async function refusingServer(
  t: TestContext,
  refusals: number,
): Promise<{ readonly url: string; readonly seen: string[] }> {
  const seen: string[] = [];
  const server = createSecureServer(identity);
  server.on('stream', (stream, headers) => {
    seen.push(String(headers[':method']));
    stream.on('error', () => {});
    if (seen.length <= refusals) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
    stream.respond({ ':status': 200 });
    stream.end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => new Promise((closed) => server.close(closed)));
  return { url: `https://localhost:${(server.address() as AddressInfo).port}/`, seen };
}

describe('the budget of a client, three requests that always fail', () => {
  const endless: RetryOptions = { classify: busyAgain, maxRetries: 1000 };
  const rows: readonly (readonly [string, ClientOptions['budget'], readonly number[], number | undefined])[] = [
    ['20 %: as in the lab', { kind: 'token-bucket', percent: 20 }, [101, 1, 1], 5],
    [
      '0 %: none, where the lab’s client makes a hundred retries of it',
      { kind: 'token-bucket', percent: 0 },
      [1, 1, 1],
      undefined,
    ],
    ['no budget: as in the lab', { kind: 'none' }, [1001, 1001, 1001], undefined],
  ];
  for (const [name, budget, counts, afterSuccesses] of rows) {
    test(`${name}: ${counts.join(', ')}`, async (t) => {
      const origin = await startOrigin((seen) => (seen.target === '/503' ? BUSY : FINE), { t });
      const dispatcher = createDispatcher(scoped(endless, budget));
      t.after(() => dispatcher.close());
      const count = async (path: string): Promise<number> => {
        const before = origin.requestCount();
        const { body } = await request(`http://${origin.address}${path}`, { dispatcher });
        await body.dump();
        return origin.requestCount() - before;
      };
      const sent: number[] = [];
      for (let i = 0; i < 3; i += 1) sent.push(await count('/503'));
      assert.deepEqual(sent, counts);
      if (afterSuccesses === undefined) return;
      for (let i = 0; i < 20; i += 1) assert.equal(await count('/200'), 1);
      assert.equal(await count('/503'), afterSuccesses);
    });
  }
});
