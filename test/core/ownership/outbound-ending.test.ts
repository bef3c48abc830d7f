import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outboundEnding } from '../../../src/core/ownership/outbound-ending.ts';
import type { ErrorClaim } from '../../../src/core/ownership/error-claim.ts';
import { createRequestSession } from '../../../src/core/request-session.ts';
import { createRetryPolicy, type RetryPolicyOptions } from '../../../src/core/retry-policy.ts';
import type { RequestFacts } from '../../../src/core/request.ts';
import { CLEAR, GET, POST, REFUSED, RESET } from '../fixtures.ts';
import { NO_BUDGET } from './chain.ts';

const CLAIM: ErrorClaim = {
  claim: 'owned',
  why: 'local',
  retry: undefined,
  kept: false,
  effect: undefined,
  hops: 0,
};

function session(facts: RequestFacts, options: RetryPolicyOptions = {}): ReturnType<typeof createRequestSession> {
  return createRequestSession(facts, createRetryPolicy({ backoffMs: 0, ...options }), NO_BUDGET);
}

test('a call whose attempts are used up was handled', () => {
  const call = session(GET, { codes: [503] });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    call.attemptStarted();
    call.responded({ status: 503 }, CLEAR, 0, 0);
  }
  assert.deepEqual(outboundEnding(call, { type: 'response', response: { status: 503 } }, CLAIM, 7), {
    atMs: 7,
    outcomeClass: 'server',
    claim: CLAIM,
    handled: true,
    effect: undefined,
  });
});

test('a call that no policy covers was not', () => {
  const call = session(GET);
  call.attemptStarted();
  call.responded({ status: 503 }, CLEAR, 0, 0);
  const ending = outboundEnding(call, { type: 'response', response: { status: 503 } }, undefined, 7);
  assert.equal(ending.handled, false);
  assert.equal(ending.claim, undefined);
});

test('a call may have run when it is neither idempotent nor keyed and something was sent', () => {
  const effect = (facts: RequestFacts, failure: typeof RESET): unknown =>
    outboundEnding(session(facts), { type: 'failure', failure }, undefined, 0).effect;
  assert.equal(effect(POST, RESET), 'maybe');
  assert.equal(effect({ ...POST, keyed: true }, RESET), undefined);
  assert.equal(effect(GET, RESET), undefined);
  assert.equal(effect(POST, REFUSED), undefined);
  const answered = outboundEnding(session(POST), { type: 'response', response: { status: 500 } }, undefined, 0);
  assert.equal(answered.effect, 'maybe');
  const rejected = outboundEnding(session(POST), { type: 'response', response: { status: 421 } }, undefined, 0);
  assert.equal(rejected.effect, undefined);
});
