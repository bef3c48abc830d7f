import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { CookieJar } from 'tough-cookie';
import { interceptors, request } from 'undici';
import { attemptsOf } from '../../src/client/attempts.ts';
import type { ClientOptions } from '../../src/client/client-options.ts';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import { fetch } from '../../src/client/fetch.ts';
import { createBudget } from '../../src/client/options.ts';
import { wrapFetch } from '../../src/client/wrap-fetch.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { Behaviour, OriginScript } from '../support/origin-script.ts';
import type { ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

const FINE = { do: 'respond', body: 'fine' } as const;
const AT_ONCE = { codes: [503], maxRetries: 2, backoffMs: 0, maxBackoffMs: 0 };

const busy = (...cookies: string[]): Behaviour => ({
  do: 'respond',
  status: 503,
  headers: cookies.map((cookie) => ['Set-Cookie', cookie] as const),
});
const moved = (location: string, status = 307, ...cookies: string[]): Behaviour => ({
  do: 'respond',
  status,
  headers: [['Location', location], ...cookies.map((cookie) => ['Set-Cookie', cookie] as const)],
});

/** What each request carried, in the order of arrival. */
const sent = (origin: ScriptedOrigin): (string | undefined)[] =>
  origin.journal.requests.map((seen) => seen.value('cookie'));
const asked = (origin: ScriptedOrigin): string[] =>
  origin.journal.requests.map((seen) => `${seen.method} ${seen.target} ${seen.body.toString()}`.trim());

async function start(
  t: TestContext,
  script: OriginScript,
  options: ClientOptions = {},
): Promise<{
  readonly origin: ScriptedOrigin;
  readonly url: string;
  readonly jar: CookieJar;
  readonly dispatcher: ReturnType<typeof createDispatcher>;
}> {
  const origin = await startOrigin(script, { t });
  const jar = new CookieJar();
  const dispatcher = createDispatcher({ retry: AT_ONCE, cookies: jar, ...options });
  t.after(() => dispatcher.destroy());
  return { origin, url: `http://${origin.address}`, jar, dispatcher };
}

describe('with a jar', () => {
  test('the cookie of an answer that is put aside is kept, and the next attempt sends it', async (t) => {
    const script = { requests: [busy('node=b', 'gone=1; Max-Age=0'), busy('node=c; Path=/'), FINE] };
    const { origin, url, jar, dispatcher } = await start(t, script);
    await jar.setCookie('session=1', url);
    const response = await fetch(`${url}/path`, { dispatcher });
    assert.equal(await response.text(), 'fine');
    assert.deepEqual(sent(origin), ['session=1', 'session=1; node=b', 'session=1; node=c']);
  });

  test('what the last answer sets is in the jar when its sender gets it', async (t) => {
    const { url, jar, dispatcher } = await start(t, { requests: [busy('a=1')] });
    const { statusCode, body } = await request(url, { dispatcher });
    assert.equal(await jar.getCookieString(url), 'a=1');
    assert.equal(statusCode, 503);
    await body.dump();
  });

  test('a request with a Cookie of its own keeps that one alone', async (t) => {
    const { origin, url, jar, dispatcher } = await start(t, { requests: [busy('b=2'), FINE] });
    await jar.setCookie('a=1', url);
    const response = await fetch(url, { dispatcher, headers: { cookie: 'own=1' } });
    await response.bytes();
    assert.deepEqual(sent(origin), ['own=1', 'own=1']);
  });

  test('a cookie for another site is left out, and a Secure one is not sent in clear', async (t) => {
    const script = { requests: [busy('evil=1; Domain=example.com', 'nonsense', 'safe=1; Secure', 'a=1'), FINE] };
    const { origin, url, dispatcher } = await start(t, script);
    const response = await fetch(url, { dispatcher });
    await response.bytes();
    assert.doesNotMatch(String(sent(origin)[1]), /evil/);
    assert.match(String(sent(origin)[1]), /a=1/);
  });

  test('that cannot be written to ends the request with its error, whatever the answer leads to', async (t) => {
    for (const script of [[busy('a=1'), FINE], [{ ...FINE, headers: { 'Set-Cookie': 'a=1' } }]]) {
      const fault = new Error('the store is full');
      const cookies = { getCookieString: async () => '', setCookie: () => Promise.reject(fault) };
      const { origin, url, dispatcher } = await start(t, { requests: script }, { cookies });
      await assert.rejects(request(url, { dispatcher }), fault);
      assert.equal(origin.requestCount(), 1);
    }
  });

  test('a request that is given up while the jar is asked is not sent', async (t) => {
    const aborter = new AbortController();
    const asking = Promise.withResolvers<void>();
    const cookies = {
      getCookieString: async () => {
        asking.resolve();
        await new Promise((resolve) => setImmediate(resolve));
        return 'a=1';
      },
      setCookie: async () => undefined,
    };
    const { origin, url, dispatcher } = await start(t, FINE, { cookies });
    const call = fetch(url, { dispatcher, signal: aborter.signal });
    await asking.promise;
    aborter.abort();
    await assert.rejects(call, { name: 'AbortError' });
    await dispatcher.close();
    assert.equal(origin.requestCount(), 0);
  });

  test('anything that is no jar is refused', () => {
    assert.throws(() => createDispatcher({ cookies: {} as never }), /cookies: give a CookieJar/);
  });
});

test('without a jar no cookie is kept', async (t) => {
  const { origin, url, dispatcher } = await start(t, { requests: [busy('a=1'), FINE] }, { cookies: undefined });
  await (await fetch(url, { dispatcher })).bytes();
  assert.deepEqual(sent(origin), [undefined, undefined]);
});

describe('a redirect', () => {
  test('has attempts of its own at each hop, and each hop the cookies of the one before', async (t) => {
    const script = { requests: [busy('n=1'), moved('/b', 307, 'n=2'), busy('n=3'), busy('n=4'), FINE] };
    const { origin, url, dispatcher } = await start(t, script);
    const response = await fetch(`${url}/a`, { dispatcher, method: 'PUT', body: 'same' });
    assert.equal(await response.text(), 'fine');
    assert.deepEqual(asked(origin), ['PUT /a same', 'PUT /a same', 'PUT /b same', 'PUT /b same', 'PUT /b same']);
    assert.deepEqual(sent(origin), [undefined, 'n=1', 'n=2', 'n=3', 'n=4']);
    const report = attemptsOf(response);
    assert.deepEqual(
      report?.attempts.map(({ status }) => status),
      [503, 307, 503, 503, 200],
    );
    assert.equal(report?.retryCount, 3);
  });

  test('repeats the hop that failed, and not the whole way', async (t) => {
    const { origin, url, dispatcher } = await start(t, { requests: [moved('/b'), busy(), FINE] });
    await (await fetch(`${url}/a`, { dispatcher })).bytes();
    assert.deepEqual(asked(origin), ['GET /a', 'GET /b', 'GET /b']);
  });

  test('spends from one budget over all its hops', async (t) => {
    const script = { requests: [busy(), moved('/b'), busy(), busy(), FINE] };
    // Four tokens, of which each failure takes one, and no retry at half of them or less: two failures are paid for.
    const budget = createBudget({ kind: 'throttle', maxTokens: 4, tokenRatio: 0.001 });
    const { origin, url, dispatcher } = await start(t, script, { budget });
    const response = await fetch(`${url}/a`, { dispatcher });
    await response.bytes();
    assert.equal(response.status, 503);
    assert.equal(attemptsOf(response)?.reason, 'budget-exhausted');
    assert.deepEqual(asked(origin), ['GET /a', 'GET /a', 'GET /b', 'GET /b']);
  });

  test('has one deadline over all its hops', async (t) => {
    const { origin, url, dispatcher } = await start(t, { requests: [moved('/b'), moved('/c'), { do: 'hang' }] });
    const call = fetch(url, { dispatcher, timeout: 100 });
    await assert.rejects(call, (error) => isRequestFailedError(error) && error.reason === 'deadline');
    assert.equal(origin.requestCount(), 3);
  });

  for (const [status, hop] of [
    [301, 'GET /b'],
    [302, 'GET /b'],
    [303, 'GET /b'],
    [307, 'POST /b pay'],
    [308, 'POST /b pay'],
  ] as const) {
    test(`by ${status} of a POST asks with ${hop}`, async (t) => {
      const { origin, url, dispatcher } = await start(t, { requests: [moved('/b', status), FINE] });
      await (await fetch(`${url}/a`, { dispatcher, method: 'POST', body: 'pay' })).bytes();
      assert.deepEqual(asked(origin), ['POST /a pay', hop]);
    });
  }

  test('by 303 of a POST may be repeated from then on', async (t) => {
    const { origin, url, dispatcher } = await start(t, { requests: [moved('/b', 303), busy(), FINE] });
    await (await fetch(`${url}/a`, { dispatcher, method: 'POST', body: 'pay' })).bytes();
    assert.deepEqual(asked(origin), ['POST /a pay', 'GET /b', 'GET /b']);
  });

  test('by 307 of a POST stays a POST that is not repeated', async (t) => {
    const { origin, url, dispatcher } = await start(t, { requests: [moved('/b', 307), busy(), FINE] });
    const response = await fetch(`${url}/a`, { dispatcher, method: 'POST', body: 'pay' });
    await response.bytes();
    assert.deepEqual([response.status, asked(origin)], [503, ['POST /a pay', 'POST /b pay']]);
  });

  test('by 307 of a body from a function sends it at every hop', async (t) => {
    const { origin, url, dispatcher } = await start(t, { requests: [moved('/b', 307), busy(), FINE] });
    const headers = { 'content-length': '4' };
    await (await fetch(`${url}/a`, { dispatcher, method: 'PUT', body: () => 'made', headers })).bytes();
    assert.deepEqual(asked(origin), ['PUT /a made', 'PUT /b made', 'PUT /b made']);
    for (const seen of origin.journal.requests) assert.equal(seen.value('content-length'), '4');
  });

  test('to another origin leaves Authorization and Cookie behind, in its retries too', async (t) => {
    const other = await startOrigin({ requests: [busy(), FINE] }, { t });
    const { origin, url, dispatcher } = await start(t, moved(`http://localhost:${other.port}/`));
    const headers = { authorization: 'Basic c2VjcmV0', cookie: 'own=1', 'x-kept': 'yes' };
    await (await fetch(url, { dispatcher, headers })).bytes();
    assert.deepEqual(
      [origin, other].map(({ journal }) =>
        journal.requests.map((seen) => [seen.value('authorization'), seen.value('cookie'), seen.value('x-kept')]),
      ),
      [
        [['Basic c2VjcmV0', 'own=1', 'yes']],
        [
          [undefined, undefined, 'yes'],
          [undefined, undefined, 'yes'],
        ],
      ],
    );
  });

  test("by undici's own interceptor, composed on the dispatcher, repeats the hop alone and keeps its cookies", async (t) => {
    const script = { requests: [moved('/b', 302, 'n=1'), busy('n=2'), FINE] };
    const { origin, url, dispatcher } = await start(t, script);
    const composed = dispatcher.compose(interceptors.redirect({ maxRedirections: 3 }));
    const { statusCode, body } = await request(`${url}/a`, { dispatcher: composed });
    await body.dump();
    assert.equal(statusCode, 200);
    assert.deepEqual(asked(origin), ['GET /a', 'GET /b', 'GET /b']);
    assert.deepEqual(sent(origin), [undefined, 'n=1', 'n=2']);
  });
});

test('a fetch that keeps cookies, below the layer, sends in each attempt what the one before set', async (t) => {
  const { origin, url, jar } = await start(t, { requests: [busy('n=1'), busy('n=2'), FINE] });
  const withCookies = wrapFetch(
    async (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('cookie', await jar.getCookieString(url));
      const response = await globalThis.fetch(input, { ...(init as object), headers });
      for (const cookie of response.headers.getSetCookie()) await jar.setCookie(cookie, url);
      return response;
    },
    { retry: AT_ONCE },
  );
  await (await withCookies(url)).text();
  assert.deepEqual(sent(origin), ['', 'n=1', 'n=2']);
});
