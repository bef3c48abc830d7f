import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { createRetryPolicy } from '../../src/core/retry-policy.ts';
import { BodyFilter } from '../../src/proxy/exchange/body-filter.ts';
import type { FilteredChunk } from '../../src/proxy/exchange/body-filter.ts';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import type { ProxyHooks } from '../../src/proxy/phases.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { patternBytes } from '../support/fields.ts';
import { ask, connectHttp2 } from '../support/http2-client.ts';
import { connectRaw, requestRaw } from '../support/raw-client.ts';
import type { OriginScript, ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { createSignal } from '../support/signal.ts';

interface Stage {
  readonly port: number;
  readonly origin: ScriptedOrigin;
  record(): Promise<AccessRecord>;
}

async function stage(t: TestContext, script: OriginScript, hooks: ProxyHooks<unknown>): Promise<Stage> {
  const origin = await startOrigin(script, { t });
  const records: AccessRecord[] = [];
  const signal = createSignal();
  const onRecord = (record: AccessRecord): void => {
    records.push(record);
    signal.changed();
  };
  const proxy = createProxy(
    { selectUpstream: () => origin.address, ...hooks },
    { onRecord, policy: createRetryPolicy({ codes: [503] }) },
  );
  t.after(() => proxy.close());
  const { port } = (await proxy.listen('127.0.0.1:0')).address;
  return { port, origin, record: () => signal.until(() => records[0], { what: 'the record' }) };
}

const upper: ProxyHooks<unknown>['responseBodyFilter'] = (_exchange, chunk, end) =>
  end ? ' and more' : chunk.toString().toUpperCase();

describe('a body filter', () => {
  test('changes what is delivered, adds an end, and the length is not promised', async (t) => {
    const { port, record } = await stage(t, { do: 'respond', body: 'hello' }, { responseBodyFilter: upper });
    const answer = await requestRaw(port);
    assert.equal(answer.text, 'HELLO and more');
    assert.equal(answer.framing, 'chunked');
    assert.equal(answer.value('content-length'), undefined);
    assert.equal((await record()).bytesOut, 'HELLO and more'.length);
  });

  test('works by promises, in order, over HTTP/2, and lets trailers through', async (t) => {
    const script: OriginScript = {
      do: 'respond',
      body: 'abcdef',
      framing: 'chunked',
      chunkBytes: 1,
      trailers: { 'X-Sum': '6' },
    };
    const { port } = await stage(t, script, {
      responseBodyFilter: async (_exchange, chunk, end) => {
        await Promise.resolve();
        return end ? undefined : `<${chunk.toString()}>`;
      },
    });
    const answer = await ask(connectHttp2(port, { t }));
    assert.equal(answer.text.replaceAll(/[<>]/g, ''), 'abcdef');
    assert.equal(answer.fields['content-length'], undefined);
    assert.equal(answer.trailers['x-sum'], '6');
  });

  test('that answers nothing leaves every byte as it is', async (t) => {
    const body = patternBytes(300_000);
    let seen = 0;
    const { port } = await stage(
      t,
      { do: 'respond', body },
      {
        responseBodyFilter: (_exchange, chunk) => {
          seen += chunk.length;
        },
      },
    );
    assert.ok((await requestRaw(port)).body.equals(body));
    assert.equal(seen, body.length);
  });

  test('keeps its hands off what the response filter excludes: the length stays', async (t) => {
    const { port } = await stage(
      t,
      { do: 'respond', body: 'hello' },
      {
        responseBodyFilter: upper,
        responseFilter: (_exchange, response) => {
          response.filterBody = false;
        },
      },
    );
    const answer = await requestRaw(port);
    assert.equal(answer.text, 'hello');
    assert.equal(answer.value('content-length'), '5');
  });

  test('is not asked about a HEAD, whose answer then declares no length, nor about answers made here', async (t) => {
    let asked = 0;
    const { port, origin } = await stage(
      t,
      { do: 'respond', body: 'hello' },
      {
        requestFilter: ({ request }) => (request.path === '/own' ? { status: 200, body: 'own' } : undefined),
        responseBodyFilter: () => {
          asked += 1;
          return 'never seen';
        },
      },
    );
    const head = await requestRaw(port, { method: 'HEAD' });
    assert.equal(head.value('content-length'), undefined);
    assert.equal((await requestRaw(port, { target: '/own' })).text, 'own');
    assert.equal(asked, 0);
    assert.equal(origin.requestCount(), 1);
  });

  test('delimits the body for HTTP/1.0 by the close', async (t) => {
    const { port } = await stage(t, { do: 'respond', body: 'hello' }, { responseBodyFilter: upper });
    const client = await connectRaw(port, { t });
    await client.send('GET / HTTP/1.0\r\nHost: a\r\n\r\n');
    const answer = await client.response();
    assert.equal(answer.framing, 'until-close');
    assert.equal(answer.text, 'HELLO and more');
  });

  test('is told only of the response that is delivered, not of one that was retried', async (t) => {
    const script: OriginScript = (request) =>
      request.number === 1 ? { do: 'respond', status: 503, body: 'bad' } : { do: 'respond', body: 'good' };
    const seen: string[] = [];
    const { port, origin } = await stage(t, script, {
      responseBodyFilter: (_exchange, chunk) => {
        seen.push(chunk.toString());
      },
    });
    assert.equal((await requestRaw(port)).text, 'good');
    assert.equal(origin.requestCount(), 2);
    assert.deepEqual(seen, ['good', '']);
  });

  test('that takes its time gets a large body whole', async (t) => {
    const body = patternBytes(4_000_000);
    const signal = createSignal();
    let release = (): void => {};
    let asked = 0;
    const { port } = await stage(
      t,
      { do: 'respond', body },
      {
        responseBodyFilter: () => {
          asked += 1;
          if (asked > 1) return undefined;
          return new Promise((resolve) => {
            release = () => resolve(undefined);
            signal.changed();
          });
        },
      },
    );
    const answer = requestRaw(port);
    await signal.until(() => asked === 1, { what: 'the first chunk' });
    release();
    assert.ok((await answer).body.equals(body));
  });

  test('cannot make a cut response look whole', async (t) => {
    const { port, record } = await stage(
      t,
      { do: 'respond', body: 'hello world', declaredBytes: 100, then: 'close' },
      { responseBodyFilter: upper },
    );
    assert.equal((await requestRaw(port)).complete, false);
    assert.equal((await record()).truncated, true);
  });

  test('with an answer that is neither bytes nor text cuts the response off, and the record says why', async (t) => {
    const { port, record } = await stage(
      t,
      { do: 'respond', body: 'hello' },
      { responseBodyFilter: (() => 42) as unknown as NonNullable<ProxyHooks<unknown>['responseBodyFilter']> },
    );
    assert.equal((await requestRaw(port)).complete, false);
    assert.match((await record()).error ?? '', /responseBodyFilter returned a number; give bytes/);
  });

  test('that still thinks when the client leaves has no part in anything any more', async (t) => {
    const signal = createSignal();
    let release = (): void => {};
    const { port, record } = await stage(
      t,
      { do: 'respond', body: 'hello' },
      {
        responseBodyFilter: () =>
          new Promise((resolve) => {
            release = () => resolve('late');
            signal.changed();
          }),
      },
    );
    const client = await connectRaw(port, { t });
    await client.sendRequest({});
    await signal.until(() => release.name !== '', { what: 'the hook' });
    client.reset();
    assert.deepEqual((await record()).flags, ['DC']);
    release();
  });
});

test('a filter that thinks holds the upstream back, asks nothing meanwhile, and lets it go on once', async () => {
  const signal = createSignal();
  const asked: string[] = [];
  let release = (): void => {};
  let resumed = 0;
  const filter = new BodyFilter({
    ask(chunk) {
      asked.push(chunk.toString());
      if (asked.length > 1) return undefined;
      return new Promise((resolve) => {
        release = () => resolve('A');
      });
    },
    write: () => true,
    ended: () => assert.fail(),
    failed: assert.ifError,
    resume() {
      resumed += 1;
      signal.changed();
    },
  });
  assert.equal(filter.data(Buffer.from('a')), false);
  assert.equal(filter.data(Buffer.from('b')), false, 'what the same read held is kept, in its place');
  filter.drained();
  assert.deepEqual([asked, resumed], [['a'], 0]);
  release();
  await signal.until(() => resumed === 1, { what: 'leave to go on' });
  assert.deepEqual(asked, ['a', 'b']);
  assert.equal(filter.data(Buffer.from('c')), true);
});

test('whatever comes at once or later, every byte is delivered once, in order, and the end comes last', async () => {
  const step = fc.record({ size: fc.integer({ min: 1, max: 5 }), later: fc.boolean(), full: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.boolean(), async (steps, endLater) => {
      const given: Buffer[] = [];
      const written: Buffer[] = [];
      const signal = createSignal();
      let ended = false;
      let asked = 0;
      let isOpen = true;
      const filter: BodyFilter = new BodyFilter({
        ask: (_chunk, end) => {
          const later = end ? endLater : steps[asked++]!.later;
          return later ? Promise.resolve<FilteredChunk>(undefined) : undefined;
        },
        write: (chunk) => {
          assert.equal(ended, false);
          written.push(chunk);
          const accepted = steps[written.length - 1]?.full !== true;
          if (!accepted) setImmediate(() => filter.drained());
          return accepted;
        },
        ended: () => {
          ended = true;
          signal.changed();
        },
        resume: () => {
          isOpen = true;
          signal.changed();
        },
        failed: assert.ifError,
      });
      for (const [index, { size }] of steps.entries()) {
        await signal.until(() => isOpen, { what: 'leave to go on' });
        const chunk = Buffer.alloc(size, index + 1);
        given.push(Buffer.from(chunk));
        isOpen = filter.data(chunk);
        // The bytes were lent.
        chunk.fill(0);
      }
      filter.complete([]);
      await signal.until(() => ended, { what: 'the end' });
      assert.deepEqual(Buffer.concat(written), Buffer.concat(given));
    }),
    { numRuns: 60 },
  );
});
