import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { Agent } from 'undici';
import { attemptsOf } from '../../src/client/attempts.ts';
import type { ClientOptions } from '../../src/client/client-options.ts';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { fetch } from '../../src/client/fetch.ts';
import type { Fetch, FetchOptions } from '../../src/client/fetch.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { OriginScript } from '../support/origin-script.ts';
import type { ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

interface Fixture {
  readonly origin: ScriptedOrigin;
  readonly url: string;
  readonly fetch: Fetch;
}

async function start(t: TestContext, script: OriginScript, options: ClientOptions = {}): Promise<Fixture> {
  const origin = await startOrigin(script, { t });
  const dispatcher = createDispatcher(options);
  t.after(() => dispatcher.destroy());
  return { origin, url: `http://${origin.address}/`, fetch: (input, init) => fetch(input, { dispatcher, ...init }) };
}

const BUSY = { do: 'respond', status: 503, body: 'busy' } as const;
const FINE = { do: 'respond', body: 'fine' } as const;
const AGAIN: ClientOptions = { retry: { codes: [503], maxRetries: 2, backoffMs: 0, maxBackoffMs: 0 } };

test('a compressed answer is read as fetch reads it, after a retry too', async (t) => {
  const zipped = { do: 'respond', headers: { 'Content-Encoding': 'gzip' }, body: gzipSync('plain') } as const;
  const { fetch: get, url } = await start(t, { requests: [BUSY, zipped] }, AGAIN);
  const response = await get(url);
  assert.equal(await response.text(), 'plain');
});

describe('a redirect', () => {
  const moved = { do: 'respond', status: 302, headers: { location: '/there' } } as const;

  test('has attempts of its own at each hop, and a failed hop alone is sent again', async (t) => {
    const { origin, fetch: get, url } = await start(t, { requests: [BUSY, moved, BUSY, FINE] }, AGAIN);
    const response = await get(url);
    assert.equal(await response.text(), 'fine');
    assert.equal(response.redirected, true);
    assert.deepEqual(
      origin.journal.requests.map(({ target }) => target),
      ['/', '/', '/there', '/there'],
    );
    const report = attemptsOf(response);
    assert.deepEqual(
      report?.attempts.map(({ status }) => status),
      [503, 302, 503, 200],
    );
    assert.deepEqual([report?.retryCount, report?.reason], [2, 'success']);
  });

  test('is not followed where fetch is told not to', async (t) => {
    const { origin, fetch: get, url } = await start(t, { requests: [moved] });
    const response = await get(url, { redirect: 'manual' });
    assert.deepEqual([response.status, origin.requestCount()], [302, 1]);
  });
});

describe('a 421', () => {
  const misdirected = { do: 'respond', status: 421, body: 'not me', headers: { 'X-A': 'b' } } as const;

  test('is asked about again as often as the policy says, and not once more by fetch itself', async (t) => {
    for (const [retry, count] of [
      [false, 1],
      [{ maxRetries: 2, backoffMs: 0, maxBackoffMs: 0 }, 3],
    ] as const) {
      const { origin, fetch: get, url } = await start(t, { requests: [misdirected] }, { retry });
      const response = await get(url, { method: 'POST', body: 'x' });
      assert.deepEqual([response.status, await response.text(), response.headers.get('x-a')], [421, 'not me', 'b']);
      assert.equal(origin.requestCount(), count);
      assert.equal(attemptsOf(response)?.attempts.length, count);
    }
  });

  test('with a body that never ends does not end the process’s patience', async (t) => {
    const { fetch: get, url } = await start(t, { requests: { do: 'endless', status: 421 } }, { retry: false });
    const response = await get(url);
    assert.equal(response.status, 421);
    await response.body?.cancel();
  });
});

test("a Request, a Headers and a FormData of Node's own are taken for what they are", async (t) => {
  const { origin, fetch: get, url } = await start(t, { requests: [BUSY, FINE] }, AGAIN);
  const body = new globalThis.FormData();
  body.append('name', 'value');
  const form = new globalThis.Request(url, { method: 'PUT', body, headers: new globalThis.Headers({ 'X-A': 'b' }) });
  const response = await get(form);
  assert.equal(await response.text(), 'fine');
  assert.equal(origin.requestCount(), 2);
  for (const seen of origin.journal.requests) {
    assert.equal(seen.value('x-a'), 'b');
    assert.match(seen.body.toString(), /name="name"[^]*value/);
    assert.match(String(seen.value('content-type')), /^multipart\/form-data; boundary=/);
  }
});

test('an answer is streamed: its first bytes are there before its last', async (t) => {
  const {
    origin,
    fetch: get,
    url,
  } = await start(t, {
    do: 'steps',
    steps: [
      { step: 'send', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf' },
      { step: 'gate', name: 'rest' },
      { step: 'send', bytes: 'rest' },
      { step: 'keep-alive' },
    ],
  });
  const response = await get(url);
  const reader = response.body!.getReader();
  const first = await reader.read();
  assert.equal(Buffer.from(first.value as Uint8Array).toString(), 'half');
  origin.open('rest');
  assert.equal(Buffer.from((await reader.read()).value as Uint8Array).toString(), 'rest');
  await reader.cancel();
});

test('an answer that breaks off fails its body, and is not sent for again', async (t) => {
  const {
    origin,
    fetch: get,
    url,
  } = await start(t, { requests: { ...FINE, declaredBytes: 100, then: 'close' } }, AGAIN);
  const response = await get(url);
  await assert.rejects(response.text());
  assert.equal(origin.requestCount(), 1);
});

test('a dispatcher of somebody else is refused', async () => {
  await assert.rejects(fetch('http://127.0.0.1:9/', { dispatcher: new Agent() }), /createDispatcher/);
});

test('an option of a client is refused in a call, where it would do nothing', async () => {
  const options = { cookies: {} } as FetchOptions;
  await assert.rejects(fetch('http://127.0.0.1:9/', options), /cookies: give it to createDispatcher/);
});

test('without a dispatcher there is one for all', async (t) => {
  const origin = await startOrigin({}, { t });
  for (let i = 0; i < 2; i += 1) await (await fetch(`http://${origin.address}/`)).bytes();
  assert.equal(origin.journal.connections.length, 1);
});
