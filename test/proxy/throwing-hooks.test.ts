import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AccessRecord } from '../../src/proxy/access-record.ts';
import { HttpStatusError } from '../../src/proxy/error-response.ts';
import type { ProxyHooks } from '../../src/proxy/phases.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { refusedAddress } from '../support/addresses.ts';
import { requestRaw } from '../support/raw-client.ts';
import { startOrigin } from '../support/scripted-origin.ts';

const boom = (): never => {
  throw new Error('a bug in user code');
};
const SPLIT = ['X-Evil', 'a\r\nX-Injected: b'];

interface Case {
  readonly hooks: ProxyHooks<unknown>;
  /** Which origin: one that answers, or a port that refuses. */
  readonly at: 'origin' | 'refused';
  readonly status: number;
}

/** Hooks that fail, by name, and what the client gets. */
const CASES: Readonly<Record<string, Case>> = {
  createContext: { hooks: { createContext: boom }, at: 'origin', status: 500 },
  requestFilter: { hooks: { requestFilter: boom }, at: 'origin', status: 500 },
  'requestFilter, later': { hooks: { requestFilter: async () => boom() }, at: 'origin', status: 500 },
  'requestFilter with a status of its own': {
    hooks: {
      requestFilter: () => {
        throw new HttpStatusError(403, 'not for you');
      },
    },
    at: 'origin',
    status: 403,
  },
  'requestFilter with an answer that would split the message': {
    hooks: { requestFilter: () => ({ status: 200, fields: SPLIT }) },
    at: 'origin',
    status: 500,
  },
  selectUpstream: { hooks: { selectUpstream: boom }, at: 'origin', status: 500 },
  'selectUpstream with no address': { hooks: { selectUpstream: () => 'nowhere' }, at: 'origin', status: 500 },
  upstreamRequestFilter: { hooks: { upstreamRequestFilter: boom }, at: 'origin', status: 500 },
  'upstreamRequestFilter with a field that would split the request': {
    hooks: { upstreamRequestFilter: (_exchange, request) => void request.fields.push(...SPLIT) },
    at: 'origin',
    status: 500,
  },
  connected: { hooks: { connected: boom }, at: 'origin', status: 500 },
  'connected, later': { hooks: { connected: async () => boom() }, at: 'origin', status: 500 },
  responseFilter: { hooks: { responseFilter: boom }, at: 'origin', status: 500 },
  'responseFilter with a field that would split the response': {
    hooks: { responseFilter: (_exchange, response) => void response.fields.push(...SPLIT) },
    at: 'origin',
    status: 500,
  },
  failToConnect: { hooks: { failToConnect: boom }, at: 'refused', status: 500 },
  failToProxy: { hooks: { failToProxy: boom }, at: 'refused', status: 500 },
  'failToProxy with fields that would split the response': {
    hooks: { failToProxy: (_exchange, _failure, answer) => ({ ...answer, fields: SPLIT }) },
    at: 'refused',
    status: 500,
  },
  suppressErrorLog: { hooks: { suppressErrorLog: boom }, at: 'refused', status: 502 },
  suppressRetryLog: { hooks: { suppressRetryLog: boom }, at: 'refused', status: 502 },
  requestSummary: { hooks: { requestSummary: boom }, at: 'refused', status: 502 },
  log: { hooks: { log: boom }, at: 'origin', status: 200 },
  'log, later': { hooks: { log: async () => boom() }, at: 'origin', status: 200 },
};

describe('a hook that fails ends its own request, with a record, and nothing else', () => {
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
      assert.equal(records[0]?.status, status);
      faulty = false;
      assert.equal((await requestRaw(listener.address.port)).text, 'fine');
      assert.equal(proxy.inflightCount, 0);
    });
  }
});
