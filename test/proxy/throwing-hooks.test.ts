import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explain } from '../../src/core/explain.ts';
import { FailureError } from '../../src/core/failure-error.ts';
import type { Failure } from '../../src/core/failure.ts';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import { HttpStatusError } from '../../src/proxy/error-response.ts';
import type { ProxyHooks } from '../../src/proxy/phases.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { refusedAddress } from '../support/addresses.ts';
import { connectRaw, requestRaw } from '../support/raw-client.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { createSignal } from '../support/signal.ts';

const SPLIT = ['X-Evil', 'a\r\nX-Injected: b'];

interface Case {
  readonly hooks: ProxyHooks<unknown>;
  /** Which origin: one that answers, or a port that refuses. */
  readonly at: 'origin' | 'refused';
  readonly status: number;
}

const carried = (failure: Failure) => (): never => {
  throw new FailureError(failure);
};

/** What hooks throw or say, and what the client gets. Every hook, failing in every way, is in `failing-hooks.test.ts`. */
const CASES: Readonly<Record<string, Case>> = {
  'requestFilter with a status of its own': {
    hooks: {
      requestFilter: () => {
        throw new HttpStatusError(403, 'not for you');
      },
    },
    at: 'origin',
    status: 403,
  },
  'connected with a status of its own, later': {
    hooks: { connected: () => Promise.reject(new HttpStatusError(421, 'not this socket')) },
    at: 'origin',
    status: 421,
  },
  'a failure that is the upstream’s is 502': {
    hooks: { requestFilter: carried(explain('http_protocol_error', 'licence server', { source: 'upstream' })) },
    at: 'origin',
    status: 502,
  },
  'a timeout that is the upstream’s is 504': {
    hooks: { upstreamRequestFilter: carried(explain('http_response_timeout', 'licence', { source: 'upstream' })) },
    at: 'origin',
    status: 504,
  },
  'a failure that is the client’s is 400': {
    hooks: { requestFilter: carried(explain('downstream_protocol_error', 'no tenant', { source: 'downstream' })) },
    at: 'origin',
    status: 400,
  },
  'a client that hook code declares gone gets no answer': {
    hooks: { requestFilter: carried(explain('downstream_closed', 'it left', { source: 'downstream' })) },
    at: 'origin',
    status: 0,
  },
  'a failure of ours is 500': {
    hooks: { requestFilter: carried(explain('proxy_configuration_error', 'no key')) },
    at: 'origin',
    status: 500,
  },
  'a request that is denied is 403': {
    hooks: { requestFilter: carried(explain('http_request_denied', 'no token')) },
    at: 'origin',
    status: 403,
  },
  'requestFilter with an answer that would split the message': {
    hooks: { requestFilter: () => ({ status: 200, fields: SPLIT }) },
    at: 'origin',
    status: 500,
  },
  'selectUpstream with no address': { hooks: { selectUpstream: () => 'nowhere' }, at: 'origin', status: 500 },
  'selectUpstream with what is no upstream': {
    hooks: { selectUpstream: () => ({}) as unknown as string },
    at: 'origin',
    status: 500,
  },
  'failToConnect with a delay that is no number': {
    hooks: { failToConnect: () => ({ type: 'retry', delayMs: Number.NaN }) },
    at: 'refused',
    status: 500,
  },
  'upstreamRequestFilter with a field that would split the request': {
    hooks: { upstreamRequestFilter: (_exchange, request) => void request.fields.push(...SPLIT) },
    at: 'origin',
    status: 500,
  },
  'responseFilter with a field that would split the response': {
    hooks: { responseFilter: (_exchange, response) => void response.fields.push(...SPLIT) },
    at: 'origin',
    status: 500,
  },
  'responseFilter with a status that has no body, for a response that has one': {
    hooks: {
      responseFilter: (_exchange, response) => {
        response.status = 304;
      },
    },
    at: 'origin',
    status: 500,
  },
  'failToProxy with fields that would split the response': {
    hooks: { failToProxy: (_exchange, _failure, answer) => ({ ...answer, fields: SPLIT }) },
    at: 'refused',
    status: 500,
  },
};

describe('what a hook throws or says decides about its own request, with a record, and nothing else', () => {
  for (const [name, { hooks, at, status }] of Object.entries(CASES)) {
    test(name, async (t) => {
      const origin = await startOrigin({ do: 'respond', body: 'fine' }, { t });
      const refused = await refusedAddress({ t });
      const records: AccessRecord[] = [];
      let faulty = true;
      const address = at === 'origin' ? origin.address : refused.address;
      const failing: ProxyHooks<unknown> = { selectUpstream: () => address, ...hooks };
      // The hooks fail for the first request only.
      const now: ProxyHooks<unknown> = new Proxy(failing, {
        get: (target, hook) =>
          faulty ? Reflect.get(target, hook) : hook === 'selectUpstream' ? () => origin.address : undefined,
      });
      const proxy = createProxy(now, { onRecord: (record) => void records.push(record), diagnostics: () => {} });
      t.after(() => proxy.close());
      const listener = await proxy.listen('127.0.0.1:0');
      const answer = await requestRaw(listener.address.port);
      assert.equal(answer.status, status);
      assert.equal(answer.value('x-injected'), undefined);
      assert.equal(
        origin.journal.requests.some(({ fields }) => fields.includes('X-Injected')),
        false,
      );
      assert.equal(records.length, 1);
      assert.equal(records[0]?.status, status === 0 ? 499 : status);
      faulty = false;
      assert.equal((await requestRaw(listener.address.port)).text, 'fine');
      assert.equal(proxy.inflightCount, 0);
    });
  }
});

test('a request that cannot be read has a context too, and its answer waits for it', async (t) => {
  const contexts: unknown[] = [];
  const signal = createSignal();
  const proxy = createProxy<{ made: string }>({
    createContext: async ({ method }) => {
      await Promise.resolve();
      return { made: `for ${method}` };
    },
    log: ({ context }, { status }) => {
      contexts.push([context, status]);
      signal.changed();
    },
  });
  t.after(() => proxy.close());
  const { port } = (await proxy.listen('127.0.0.1:0')).address;
  const client = await connectRaw(port, { t });
  await client.send('GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n');
  const answer = await client.response();
  assert.equal(answer.status, 400);
  assert.equal(answer.complete, true);
  await signal.until(() => contexts.length === 1, { what: 'the log' });
  assert.equal((contexts[0] as [{ made: string }, number])[1], 400);
  assert.match((contexts[0] as [{ made: string }, number])[0].made, /^for/);
});

test('a promise of a hook that is rejected after its request ended harms nobody', async (t) => {
  const origin = await startOrigin({ do: 'respond', body: 'fine' }, { t });
  const signal = createSignal();
  let reject: ((error: Error) => void) | undefined;
  const proxy = createProxy(
    {
      selectUpstream: () => origin.address,
      responseFilter: () =>
        new Promise((_resolve, fail) => {
          reject = fail;
          signal.changed();
        }),
    },
    { timeouts: { requestMs: 200 } },
  );
  t.after(() => proxy.close());
  const { port } = (await proxy.listen('127.0.0.1:0')).address;
  const answer = requestRaw(port);
  await signal.until(() => reject !== undefined, { what: 'the hook' });
  assert.equal((await answer).status, 504);
  reject?.(new Error('too late'));
  assert.equal(proxy.inflightCount, 0);
});
