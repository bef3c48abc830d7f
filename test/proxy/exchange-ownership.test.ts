import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decide } from '../../src/core/decide.ts';
import type { Decision } from '../../src/core/decision.ts';
import type { ResponseFacts } from '../../src/core/outcome.ts';
import { createRetryPolicy, type OwnershipMode, type RetryPolicy } from '../../src/core/retry-policy.ts';
import type { AttemptRecord } from '../../src/engine/attempt-record.ts';
import type { SentAttempt } from '../../src/engine/request-run.ts';
import { readResponseFacts } from '../../src/engine/response-facts.ts';
import type { FieldList, ResponseHead } from '../../src/http1/message.ts';
import { beginOwnership, type ExchangeOwnership } from '../../src/proxy/exchange/exchange-ownership.ts';
import type { OwnershipRules } from '../../src/proxy/ownership-rules.ts';
import { DEFAULT_TIMEOUTS } from '../../src/proxy/plan.ts';

const GET = { method: 'GET', keyed: false, lineage: 0, deadlineAtMs: Infinity };
const PEER = { remoteAddress: '127.0.0.1', remotePort: 1, encrypted: false, clientCertificate: undefined };
const AT = {
  bodyReplayable: true,
  committed: false,
  downstreamGone: false,
  endpointAvailable: true,
  otherEndpointAvailable: true,
  permitAvailable: true,
};
const POLICY = createRetryPolicy({ maxRetries: 2, codes: [429, 503] });
const EVERYBODY: OwnershipRules = { trustsCaller: () => true, trustsCallee: () => true };
const NOBODY: OwnershipRules = { trustsCaller: () => false, trustsCallee: () => false };

function begin(rules: OwnershipRules, policy: RetryPolicy = POLICY, faults: unknown[] = []): ExchangeOwnership {
  const plan = { routeName: 'r', upstream: undefined, policy, timeouts: DEFAULT_TIMEOUTS, replayBufferBytes: 0 };
  const services = { random: () => 0, hookFault: (error: unknown) => void faults.push(error) };
  const begun = beginOwnership({ ...plan, ownership: rules }, PEER, GET, services);
  assert.ok(begun !== undefined);
  return begun;
}

const headOf = (status: number, fields: FieldList): ResponseHead => ({
  versionMinor: 1,
  status,
  reason: '',
  fields,
  bodyKind: 'none',
  contentLength: -1,
  keepAlive: true,
  keepAliveTimeoutMs: -1,
});

function attemptAt(record: Partial<AttemptRecord> = {}): SentAttempt {
  const full = { upstream: 'u', endpoint: 'e:1', reused: false, waitMs: 0, durationMs: 0, free: false, ...record };
  const endpoint = { address: { host: '127.0.0.1', port: 1, key: '127.0.0.1:1' } };
  return { upstream: { name: 'u' }, endpoint, record: full } as unknown as SentAttempt;
}

function decided(response: ResponseFacts, policy: RetryPolicy): Decision {
  return decide({
    outcome: { type: 'response', response },
    request: GET,
    policy,
    at: AT,
    countedRetryCount: 0,
    freeResendUsed: false,
    previousDelayMs: 0,
    budgetAvailable: true,
    coverAnyway: false,
    nowMs: 0,
    random: 0,
  });
}

const token = fc.constantFrom(
  'owned',
  'relayed',
  'never',
  'other',
  'after',
  'true',
  'false',
  'CLAIMED',
  'UNCLAIMED',
  '-1',
  '',
);
const value = fc.oneof(
  token,
  fc.string({ maxLength: 40 }),
  fc.tuple(token, token, fc.integer()).map(([word, retry, hops]) => `${word};retry=${retry};hops=${hops}`),
  fc.constant('x'.repeat(8192)),
);
const name = fc.constantFrom(
  'Error-Claim',
  'error-claim',
  'X-Uber-Error-Claim',
  'Error_Claim',
  'x-envoy-overloaded',
  'x-envoy-ratelimited',
  'x-should-retry',
  'finagle-http-nonretryable-nack',
  'Retry-After',
  'grpc-retry-pushback-ms',
);
const fieldLists = fc.array(fc.tuple(name, value), { maxLength: 6 }).map((pairs) => pairs.flat());
const statuses = fc.constantFrom(400, 404, 408, 429, 500, 502, 503, 504);

test('whatever an answer says of itself, nothing throws and no retry is added', () => {
  fc.assert(
    fc.property(statuses, fieldLists, fc.constantFrom<OwnershipMode>('observe', 'enforce'), (status, fields, mode) => {
      const policy = { ...POLICY, ownership: mode };
      const head = headOf(status, fields);
      const plain = readResponseFacts(head, policy, 0);
      const told = begin(EVERYBODY, policy).answered(plain, head, attemptAt());
      if (decided(told, policy).type === 'retry') assert.equal(decided(plain, policy).type, 'retry');
    }),
  );
});

test('observed, claims and advice change no decision', () => {
  fc.assert(
    fc.property(statuses, fieldLists, (status, fields) => {
      const policy = { ...POLICY, ownership: 'observe' } as const;
      const head = headOf(status, fields);
      const plain = readResponseFacts(head, policy, 0);
      const told = begin(EVERYBODY, policy).answered(plain, head, attemptAt());
      assert.deepEqual(decided(told, policy), decided(plain, policy));
    }),
  );
});

test('who is not trusted is neither believed nor told, whatever is in the fields', () => {
  fc.assert(
    fc.property(statuses, fieldLists, (status, fields) => {
      const ownership = begin(NOBODY);
      const head = headOf(status, fields);
      const plain = readResponseFacts(head, POLICY, 0);
      assert.deepEqual(ownership.answered(plain, head, attemptAt()), plain);
      assert.deepEqual(ownership.told({ status, fields: ['A', 'b'], head }, undefined, 'r'), ['A', 'b']);
    }),
  );
});

test('a trusted caller gets exactly one claim with an error, and it can be read', () => {
  fc.assert(
    fc.property(statuses, fieldLists, (status, fields) => {
      const ownership = begin({ ...EVERYBODY, service: 'edge' });
      const head = headOf(status, fields);
      ownership.answered(readResponseFacts(head, POLICY, 0), head, attemptAt());
      const told = ownership.told({ status, fields: [], head }, undefined, 'r');
      const names = told.filter((_, index) => index % 2 === 0);
      assert.deepEqual(names, status === 400 || status === 404 ? [] : ['Error-Claim']);
      assert.match(told[1] ?? 'owned', /^(owned|relayed)(;[a-z]+(=[a-z0-9"/._:-]+)?)*$/);
    }),
  );
});

test('a question about trust that throws is told, and nobody is trusted', () => {
  const faults: unknown[] = [];
  const rules: OwnershipRules = {
    trustsCaller: () => {
      throw new Error('no idea');
    },
    trustsCallee: () => {
      throw new Error('no idea');
    },
  };
  const ownership = begin(rules, POLICY, faults);
  const head = headOf(503, ['Error-Claim', 'relayed']);
  const record: Partial<AttemptRecord> = {};
  const attempt = attemptAt(record);
  const plain = readResponseFacts(head, POLICY, 0);
  assert.deepEqual(ownership.answered(plain, head, attempt), plain);
  assert.deepEqual([ownership.isCallerTrusted, attempt.record.claimRefused, faults.length], [false, 'untrusted', 2]);
});

test('one in so many requests tests a claim: its retry is made, and noted as a probe', () => {
  const ownership = begin({ ...EVERYBODY, probeEvery: 1000 });
  assert.equal(ownership.policy.ownership, 'observe');
  const head = headOf(503, ['Error-Claim', 'relayed']);
  const attempt = attemptAt();
  const told = ownership.answered(readResponseFacts(head, POLICY, 0), head, attempt);
  assert.equal(decided(told, ownership.policy).type, 'retry');
  ownership.retried(attempt.record);
  assert.equal(attempt.record.retriedDespite, 'probe');
});

const suspects: readonly (readonly [string, AttemptRecord['claimSuspect']])[] = [
  ['relayed;hops=0', 'contradictory'],
  ['owned;hops=0', 'doubted'],
  ['owned;why=local;hops=0', undefined],
  ['owned', undefined],
  ['relayed;hops=1', undefined],
];
for (const [claim, suspicion] of suspects) {
  test(`the claim ${claim} is ${suspicion ?? 'above suspicion'}`, () => {
    const head = headOf(503, ['Error-Claim', claim]);
    const attempt = attemptAt();
    begin(EVERYBODY).answered(readResponseFacts(head, POLICY, 0), head, attempt);
    assert.equal(attempt.record.claimSuspect, suspicion);
  });
}
