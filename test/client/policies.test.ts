import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { request } from 'undici';
import { attemptsOf } from '../../src/client/attempts.ts';
import type { AttemptEnd, Classifier } from '../../src/client/classifier.ts';
import { firstOf } from '../../src/client/classifier.ts';
import type { ClientOptions } from '../../src/client/client-options.ts';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { isRequestFailedError } from '../../src/client/errors.ts';
import { fetch } from '../../src/client/fetch.ts';
import { createBudget } from '../../src/client/options.ts';
import type { CallOptions, RetryOptions } from '../../src/client/options.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { Behaviour, OriginScript } from '../support/origin-script.ts';
import type { ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';

failOnLeaks();

const AT_ONCE: RetryOptions = { maxRetries: 2, backoffMs: 0, maxBackoffMs: 0 };
const BUSY = { do: 'respond', status: 503, body: 'busy' } as const;
const FINE = { do: 'respond', body: 'fine' } as const;

interface Fixture {
  readonly origin: ScriptedOrigin;
  readonly url: string;
  /** Status, or kind and reason of the failure. */
  send(call?: CallOptions & { readonly method?: string; readonly url?: string }): Promise<string>;
}

async function start(t: TestContext, script: OriginScript, options: ClientOptions): Promise<Fixture> {
  const origin = await startOrigin(script, { t });
  const dispatcher = createDispatcher(options);
  t.after(() => dispatcher.close());
  const url = `http://${origin.address}/path`;
  return {
    origin,
    url,
    async send({ url: other = url, ...call } = {}) {
      try {
        const response = await fetch(other, { ...call, dispatcher });
        await response.bytes();
        return `${response.status} ${attemptsOf(response)?.reason}`;
      } catch (error) {
        if (!isRequestFailedError(error)) throw error;
        return `${error.kind} ${error.reason}`;
      }
    },
  };
}

describe('a classifier', () => {
  test('sees method, URL, status and headers of an answer, and the failure of an attempt without one', async (t) => {
    const seen: AttemptEnd[] = [];
    const classify: Classifier = (end) => {
      seen.push(end);
      return 'ignore';
    };
    const answer = { do: 'respond', status: 429, headers: { 'X-A': 'b' } } as const;
    const { send, url } = await start(t, { requests: [answer, { do: 'reset' }] }, { retry: { classify } });
    assert.equal(await send(), '429 not-retryable');
    assert.equal(await send({ method: 'DELETE' }), 'connection_terminated not-retryable');
    const [first, second] = seen;
    assert.deepEqual([first?.method, first?.uri, first?.status, first?.failure], ['GET', url, 429, undefined]);
    assert.deepEqual([first?.headers.get('x-a'), first?.headers.get('x-none')], ['b', null]);
    assert.deepEqual(
      [second?.method, second?.status, second?.failure?.kind],
      ['DELETE', undefined, 'connection_terminated'],
    );
    assert.equal(second?.headers.get('x-a'), null);
  });

  test('makes a 200 retryable', async (t) => {
    const classify: Classifier = ({ headers }) => (headers.get('x-state') === 'pending' ? 'retryable' : undefined);
    const pending = { do: 'respond', headers: { 'X-State': 'pending' } } as const;
    const { origin, send } = await start(t, { requests: [pending, FINE] }, { retry: { ...AT_ONCE, classify } });
    assert.equal(await send(), '200 success');
    assert.equal(origin.requestCount(), 2);
  });

  test('does not make a POST safe', async (t) => {
    const { origin, send } = await start(
      t,
      { requests: [BUSY] },
      { retry: { ...AT_ONCE, classify: () => 'retryable' } },
    );
    assert.equal(await send({ method: 'POST' }), '503 not-idempotent');
    assert.equal(origin.requestCount(), 1);
  });

  test('is one of several, of which the first that says something decides', async (t) => {
    const none: Classifier = () => undefined;
    const ignore: Classifier = ({ status }) => (status === 503 ? 'ignore' : undefined);
    const again: Classifier = () => 'retryable';
    for (const classify of [[none, ignore, again], firstOf(none, firstOf(ignore, again))]) {
      const { origin, send } = await start(t, { requests: [BUSY] }, { retry: { ...AT_ONCE, codes: [503], classify } });
      assert.equal(await send(), '503 not-retryable');
      assert.equal(origin.requestCount(), 1);
    }
  });

  test('that throws ends the request with its error', async (t) => {
    const classify: Classifier = () => {
      throw new Error('mine');
    };
    const { send } = await start(t, { requests: [BUSY] }, { retry: { ...AT_ONCE, classify } });
    await assert.rejects(send(), (error: Error) => String(error.cause).includes('mine'));
  });
});

describe('what the server proved not to have processed', () => {
  const misdirected = { do: 'respond', status: 421 } as const;
  const rows: readonly (readonly [string, RetryOptions, number])[] = [
    ['is sent again, a POST too', {}, 2],
    ['is sent again whatever `on` says', { on: ['reset'] }, 2],
    ['is sent again whatever a classifier says', { classify: () => 'success' }, 2],
    ['is not where that is switched off by its name', { protocolNacks: false }, 1],
    ['is not where nothing is sent again', { maxRetries: 0 }, 1],
  ];
  for (const [name, retry, count] of rows) {
    test(name, async (t) => {
      const origin = await startOrigin({ requests: [misdirected, FINE] }, { t });
      const dispatcher = createDispatcher({ retry: { ...AT_ONCE, ...retry } });
      t.after(() => dispatcher.close());
      const { body } = await request(`http://${origin.address}/`, { dispatcher, method: 'POST' });
      await body.dump();
      assert.equal(origin.requestCount(), count);
    });
  }
});

describe('a scope', () => {
  const rows: readonly (readonly [string, RetryOptions['scope'], number])[] = [
    ['of this host', '127.0.0.1', 3],
    ['of another host', 'localhost', 1],
    ['of all hosts below a name', '.0.0.1', 3],
    ['of all hosts below another name', '.example.com', 1],
    ['of a list', ['api.example.com', '127.0.0.1'], 3],
    ['of this host at another port', '127.0.0.1:1', 1],
    ['that a function says', (url) => url.pathname === '/path', 3],
    ['that a function denies', (url) => url.pathname === '/other', 1],
    ['of never', 'never', 1],
  ];
  for (const [name, scope, count] of rows) {
    test(`${name}: ${count} sent`, async (t) => {
      const { origin, send } = await start(t, { requests: [BUSY] }, { retry: { ...AT_ONCE, codes: [503], scope } });
      assert.match(await send(), /^503/);
      assert.equal(origin.requestCount(), count);
    });
  }

  test('that throws ends its request with its error, and holds nothing up', async (t) => {
    const scope = (): boolean => {
      throw new Error('mine');
    };
    const { origin, send } = await start(t, { requests: [BUSY] }, { retry: { scope } });
    await assert.rejects(send(), (error: Error) => String(error.cause).includes('mine'));
    await assert.rejects(send({ method: 'POST' }), (error: Error) => String(error.cause).includes('mine'));
    assert.equal(origin.requestCount(), 0);
  });

  test('of something that is no host is refused', () => {
    assert.throws(
      () => createDispatcher({ retry: { scope: 'https://api.example.com/' } }),
      /retry\.scope.*is not a host/,
    );
  });
});

describe('a budget', () => {
  const spend: ClientOptions = { retry: { ...AT_ONCE, maxRetries: 1000, codes: [503] } };
  const two = { kind: 'throttle', maxTokens: 4, tokenRatio: 0.1 } as const;

  test('is one for each origin', async (t) => {
    const { origin, send } = await start(t, { requests: [BUSY] }, { ...spend, budget: two });
    const other = await startOrigin({ requests: [BUSY] }, { t });
    assert.equal(await send(), '503 budget-exhausted');
    assert.equal(await send({ url: `http://${other.address}/` }), '503 budget-exhausted');
    assert.equal(other.requestCount(), origin.requestCount());
    assert.ok(other.requestCount() > 1);
  });

  test('is shared by the clients, calls and origins that are given the same', async (t) => {
    const budget = createBudget(two);
    const { origin, send } = await start(t, { requests: [BUSY] }, { ...spend, budget });
    const other = await start(t, { requests: [BUSY] }, spend);
    assert.equal(await send(), '503 budget-exhausted');
    assert.ok(origin.requestCount() > 1);
    assert.equal(await other.send({ budget }), '503 budget-exhausted');
    assert.equal(other.origin.requestCount(), 1);
  });

  test('of its own for a single call is refused: it could refuse nothing', async (t) => {
    const { send } = await start(t, { requests: [BUSY] }, spend);
    await assert.rejects(send({ budget: two }), /createBudget/);
  });
});

describe('a key for what may be repeated', () => {
  const keyed: ClientOptions = { retry: { ...AT_ONCE, codes: [503] }, idempotencyKey: true };
  const keys = (origin: ScriptedOrigin): (string | undefined)[] =>
    origin.journal.requests.map((seen) => seen.value('idempotency-key'));

  test('is the same in all attempts of a request, and another for each request', async (t) => {
    const { origin, send } = await start(t, { requests: [BUSY, BUSY, FINE, BUSY, FINE] }, keyed);
    assert.equal(await send({ method: 'POST' }), '200 success');
    assert.equal(await send({ method: 'POST' }), '200 success');
    const [first, second, third, other, last] = keys(origin);
    assert.match(String(first), /^[0-9a-f-]{36}$/);
    assert.deepEqual([second, third, last], [first, first, other]);
    assert.notEqual(other, first);
  });

  test('is not for a GET', async (t) => {
    const { origin, send } = await start(t, { requests: [FINE] }, keyed);
    await send();
    assert.deepEqual(keys(origin), [undefined]);
  });

  test('is given by a call as text, or by a function', async (t) => {
    const { origin, send } = await start(t, { requests: [FINE] }, keyed);
    await send({ method: 'POST', idempotencyKey: 'order-7' });
    await send({ method: 'POST', idempotencyKey: () => 'order-8' });
    assert.deepEqual(keys(origin), ['order-7', 'order-8']);
  });

  test('is the same after a redirect', async (t) => {
    const moved = { do: 'respond', status: 307, headers: { location: '/there' } } as const;
    const { origin, send } = await start(t, { requests: [moved, FINE] }, keyed);
    assert.equal(await send({ method: 'POST' }), '200 success');
    const [first, second] = keys(origin);
    assert.ok(first !== undefined);
    assert.equal(second, first);
  });

  test('cannot be one text for all requests of a client', () => {
    assert.throws(() => createDispatcher({ idempotencyKey: 'one' }), /a text is for one call/);
  });
});

test("undici's own `idempotent` says that a POST may be repeated, or a GET may not", async (t) => {
  const again: ClientOptions = { retry: { ...AT_ONCE, codes: [503] } };
  for (const [method, idempotent, count] of [
    ['POST', true, 2],
    ['GET', false, 1],
  ] as const) {
    const origin = await startOrigin({ requests: [BUSY, FINE] }, { t });
    const dispatcher = createDispatcher(again);
    const { body } = await request(`http://${origin.address}/`, { dispatcher, method, idempotent });
    await body.dump();
    assert.equal(origin.requestCount(), count, method);
    await dispatcher.close();
  }
});

test('one deadline holds for a call, its waits, retries and redirects together', async (t) => {
  const moved = { do: 'respond', status: 307, headers: { location: '/there' } } as const;
  const script: Behaviour[] = [moved, BUSY, BUSY, { do: 'hang' }];
  const retry = { codes: [503], maxRetries: 5, backoffMs: 0, maxBackoffMs: 0 };
  const { origin, send } = await start(t, { requests: script }, { retry });
  assert.equal(await send({ timeout: 150 }), 'deadline_exceeded deadline');
  assert.equal(origin.requestCount(), 4);
});

test('a call that has less time than the attempts of its client gives its attempts no more', async (t) => {
  const { send } = await start(t, { requests: { do: 'hang' } }, { timeout: { attemptMs: 5_000 } });
  assert.equal(await send({ timeout: 50 }), 'deadline_exceeded deadline');
});

test('a wait that the server asks for and nobody has the time for ends the request with its answer', async (t) => {
  const later = { do: 'respond', status: 503, headers: { 'Retry-After': '3600' } } as const;
  const { origin, send } = await start(t, { requests: [later] }, { retry: { ...AT_ONCE, codes: [503] } });
  assert.equal(await send(), '503 retry-after-too-long');
  assert.equal(origin.requestCount(), 1);
});

test('a client without options sends again only what was certainly not processed', async (t) => {
  const { origin, send } = await start(
    t,
    { requests: [{ ...BUSY, headers: { Connection: 'close' } }, { do: 'reset' }, FINE] },
    {},
  );
  assert.equal(await send(), '503 not-retryable');
  assert.equal(await send(), 'connection_terminated not-retryable');
  assert.equal(origin.requestCount(), 2);
});

describe('an option that cannot be', () => {
  const rows: readonly (readonly [string, unknown, RegExp])[] = [
    ['a name that nothing reads', { retries: 3 }, /client: there is no option "retries"/],
    ['too many retries', { retry: 1001 }, /maxRetries is 1001/],
    ['a code that is none', { retry: { codes: [200] } }, /codes is 200/],
    ['an unknown trigger', { retry: { on: ['always'] } }, /on is 'always'/],
    ['a negative time', { timeout: { attemptMs: -1 } }, /timeout\.attemptMs is -1/],
    ['an attempt longer than its request', { timeout: { requestMs: 10, attemptMs: 20 } }, /cannot outlast/],
    ['a time that nothing reads', { timeout: { totalMs: 1 } }, /timeout: there is no option "totalMs"/],
    ['a hedge without a delay', { hedge: {} }, /delayMs or percentile/],
    ['a hedge with both', { hedge: { delayMs: 1, percentile: 95 } }, /one of the two/],
    ['a percentile that is none', { hedge: { percentile: 100 } }, /hedge\.percentile is 100/],
    ['an endpoint with a path', { endpoints: ['http://a/b'] }, /more than an origin/],
    ['no endpoint', { endpoints: [] }, /at least one/],
    ['no connection', { connections: 0 }, /connections is 0/],
    ['a budget that is none', { budget: { kind: 'ratio', percent: 101 } }, /percent/],
    ['a classifier that is none', { retry: { classify: 'retryable' } }, /retry\.classify/],
  ];
  for (const [name, options, message] of rows) {
    test(`${name} is refused when the client is made`, () => {
      assert.throws(() => createDispatcher(options as ClientOptions), message);
    });
  }
});

test('a budget without a kind is refused, and not replaced by the default', () => {
  assert.throws(() => createDispatcher({ budget: { percent: 5 } as never }), {
    name: 'RangeError',
    message: 'retry budget: kind is undefined; give ratio, token-bucket, throttle or none',
  });
});
