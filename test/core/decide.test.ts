import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STOP_SUCCESS } from '../../src/core/decide.ts';
import type { RetryDecision } from '../../src/core/decision.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { createRetryPolicy } from '../../src/core/retry-policy.ts';
import {
  decideOn,
  failed,
  REFUSED,
  REJECTED,
  RESET,
  responded,
  STALE,
  TIMED_OUT,
  verdict,
  type Changes,
} from './fixtures.ts';
import type { Failure } from '../../src/core/failure.ts';

function of(failure: Failure): Outcome {
  return { type: 'failure', failure };
}

function retryOf(outcome: Outcome, changes: Changes = {}): RetryDecision {
  const decision = decideOn(outcome, changes);
  assert.equal(decision.type, 'retry', verdict(decision));
  return decision;
}

/** The rows of the decision's order; `+` marks a handled opportunity. */
const ROWS: readonly (readonly [name: string, expected: string, outcome: Outcome, changes?: Changes])[] = [
  ['a success', 'success', responded(200)],
  ['a redirect', 'success', responded(301)],
  ['a success whose code is listed by mistake of type', 'success', responded(204), { coverAnyway: true }],
  ['a success for a client that is gone', 'downstream-gone', responded(200), { at: { downstreamGone: true } }],
  ['a failure for a client that is gone', 'downstream-gone', of(REFUSED), { at: { downstreamGone: true } }],
  ['a client that left in mid-request', 'downstream-gone', failed({ kind: 'downstream_closed', source: 'downstream' })],
  ['a client that sent garbage', 'not-retryable', failed({ kind: 'downstream_protocol_error', source: 'downstream' })],
  [
    'a client that sent garbage, whatever a hook says',
    'not-retryable',
    failed({ kind: 'downstream_timeout', source: 'downstream' }),
    { coverAnyway: true },
  ],
  ['a client error', 'not-retryable', responded(404)],
  ['a client error from a callee that relays', 'not-retryable', responded(404, { claim: 'relayed' })],
  ['a listed client error', 'retry', responded(404), { policy: { codes: [404] } }],
  ['a client error that a hook wants again', 'retry', responded(404), { coverAnyway: true }],
  ['a relayed error', 'not-owner+', responded(503, { claim: 'relayed' })],
  [
    'a relayed error that the policy does not list',
    'not-owner+',
    responded(503, { claim: 'relayed' }),
    { policy: { codes: [] } },
  ],
  [
    'a relayed error under observation only',
    'retry',
    responded(503, { claim: 'relayed' }),
    { policy: { ownership: 'observe' } },
  ],
  [
    'a relayed error with ownership off',
    'retry',
    responded(503, { claim: 'relayed' }),
    { policy: { ownership: 'off' } },
  ],
  ['an owned error', 'retry', responded(503, { claim: 'owned' })],
  ['an error with the advice never to retry', 'advised-never+', responded(503, { advisedNever: true })],
  [
    'the same advice for an error that is not listed',
    'advised-never+',
    responded(503, { advisedNever: true }),
    { policy: { codes: [] } },
  ],
  ['the same advice beside a relayed claim', 'not-owner+', responded(503, { advisedNever: true, claim: 'relayed' })],
  ['advice that does not say never', 'retry', responded(503, { advisedNever: false })],
  ['a status that is not listed', 'not-retryable', responded(501)],
  ['a status of a policy without codes', 'not-retryable', responded(503), { policy: { codes: [] } }],
  ['a status not listed that a hook wants again', 'retry', responded(501), { coverAnyway: true }],
  ['a refusal of a policy without unsent', 'not-retryable', of(REFUSED), { policy: { on: ['reset'] } }],
  ['a rejection of a policy without rejected', 'not-retryable', of(REJECTED), { policy: { on: ['unsent'] } }],
  [
    'a stale connection of a policy without stale',
    'not-retryable',
    of(STALE),
    { policy: { on: ['unsent', 'rejected'] } },
  ],
  ['a reset of the default triggers', 'not-retryable', of(RESET), { policy: { on: ['unsent', 'rejected', 'stale'] } }],
  ['a timeout of a policy with reset only', 'not-retryable', of(TIMED_OUT), { policy: { on: ['reset'] } }],
  ['a reset of a policy with timeout only', 'not-retryable', of(RESET), { policy: { on: ['timeout'] } }],
  ['a reset, named', 'retry', of(RESET)],
  ['a timeout, named', 'retry', of(TIMED_OUT), { policy: { on: ['timeout'] } }],
  ['a stale connection of a policy that names resets', 'retry', of(STALE), { policy: { on: ['reset'] } }],
  ['an oversize head', 'not-retryable', failed({ kind: 'http_response_header_section_size', phase: 'head' })],
  [
    'a bad certificate with no other endpoint',
    'not-retryable',
    failed({ kind: 'tls_certificate_error', phase: 'tls', bytesSent: 0 }),
  ],
  [
    'a bad certificate with another endpoint',
    'retry',
    failed({ kind: 'tls_certificate_error', phase: 'tls', bytesSent: 0 }),
    { at: { otherEndpointAvailable: true } },
  ],
  ['a 421 of a policy that names rejections', 'retry', responded(421)],
  ['a 421 of a policy that does not', 'not-retryable', responded(421), { policy: { on: ['unsent'] } }],
  ['a 421 of a policy that lists its code', 'retry', responded(421), { policy: { on: [], codes: [421] } }],
  ['an unlisted error with a nack', 'retry', responded(501, { nack: true })],
  [
    'a body that died after some of it was delivered',
    'committed',
    failed({ kind: 'http_response_incomplete', phase: 'body' }),
    { at: { committed: true } },
  ],
  [
    'a body that died before any was delivered',
    'not-retryable',
    failed({ kind: 'http_response_incomplete', phase: 'body' }),
  ],
  ['an uncovered failure after the commitment', 'not-retryable', responded(501), { at: { committed: true } }],
  ['a covered failure after the commitment', 'committed', of(RESET), { at: { committed: true } }],
  ['a body that was not kept', 'body-not-replayable', of(RESET), { at: { bodyReplayable: false } }],
  ['a commitment and a lost body', 'committed', of(RESET), { at: { bodyReplayable: false, committed: true } }],
  ['a reset POST', 'not-idempotent', of(RESET), { request: { method: 'POST' } }],
  ['a timed-out PATCH', 'not-idempotent', of(TIMED_OUT), { request: { method: 'PATCH' } }],
  ['a stale POST', 'not-idempotent', of(STALE), { request: { method: 'POST' } }],
  ['an answered POST', 'not-idempotent', responded(503), { request: { method: 'POST' } }],
  [
    'a POST that a hook wants again',
    'not-idempotent',
    responded(501),
    { request: { method: 'POST' }, coverAnyway: true },
  ],
  ['an overloaded POST', 'not-idempotent', failed({ kind: 'overloaded' }), { request: { method: 'POST' } }],
  [
    'a POST that was to go over HTTP/1.1',
    'not-idempotent',
    failed({ kind: 'http_1_1_required' }),
    { request: { method: 'POST' } },
  ],
  ['a keyed POST, reset', 'retry', of(RESET), { request: { method: 'POST', keyed: true } }],
  ['a keyed POST, answered', 'retry', responded(503), { request: { method: 'POST', keyed: true } }],
  ['an unsent POST', 'retry', of(REFUSED), { request: { method: 'POST' } }],
  ['a rejected POST', 'retry', of(REJECTED), { request: { method: 'POST' } }],
  ['a POST answered 421', 'retry', responded(421), { request: { method: 'POST' } }],
  [
    'a lost body and a POST',
    'body-not-replayable',
    of(RESET),
    { request: { method: 'POST' }, at: { bodyReplayable: false } },
  ],
  ['the last retry', 'retry', of(RESET), { countedRetryCount: 2 }],
  ['one more than the last retry', 'attempts-exhausted+', of(RESET), { countedRetryCount: 3 }],
  ['a policy of no retries, covering', 'attempts-exhausted', of(RESET), { policy: { maxRetries: 0 } }],
  ['a policy of no retries, not covering', 'not-retryable', responded(501), { policy: { maxRetries: 0 } }],
  ['a policy of no retries, stale', 'attempts-exhausted', of(STALE), { policy: { maxRetries: 0 } }],
  [
    'a policy of no retries for a relayed error',
    'not-owner+',
    responded(503, { claim: 'relayed' }),
    { policy: { maxRetries: 0 } },
  ],
  ['a first timeout whose callee knows no deadline', 'retry', of(TIMED_OUT), { request: { deadlinePassedOn: false } }],
  [
    'a second timeout whose callee knows no deadline',
    'attempts-exhausted+',
    of(TIMED_OUT),
    { request: { deadlinePassedOn: false }, countedRetryCount: 1 },
  ],
  [
    'a first timeout whose callee knows no deadline under a policy of no retries',
    'attempts-exhausted',
    of(TIMED_OUT),
    { request: { deadlinePassedOn: false }, policy: { maxRetries: 0 } },
  ],
  [
    'a second timeout whose callee knows the deadline',
    'retry',
    of(TIMED_OUT),
    { request: { deadlinePassedOn: true }, countedRetryCount: 1 },
  ],
  ['a second timeout where nobody says', 'retry', of(TIMED_OUT), { countedRetryCount: 1 }],
  [
    'a second reset whose callee knows no deadline',
    'retry',
    of(RESET),
    { request: { deadlinePassedOn: false }, countedRetryCount: 1 },
  ],
  [
    'a second answered timeout whose callee knows no deadline',
    'retry',
    responded(504),
    { request: { deadlinePassedOn: false }, countedRetryCount: 1 },
  ],
  ['a POST beyond the last retry', 'not-idempotent', of(RESET), { countedRetryCount: 3, request: { method: 'POST' } }],
  ['the request’s own deadline', 'deadline+', failed({ kind: 'deadline_exceeded', source: 'internal' })],
  [
    'the request’s own deadline without a policy',
    'deadline+',
    failed({ kind: 'deadline_exceeded', source: 'internal' }),
    { policy: { on: [] } },
  ],
  ['a deadline that is now', 'deadline+', of(RESET), { nowMs: 500, request: { deadlineAtMs: 500 } }],
  ['a deadline that is over', 'deadline+', of(RESET), { nowMs: 501, request: { deadlineAtMs: 500 } }],
  ['a deadline that is not a number', 'deadline+', of(RESET), { request: { deadlineAtMs: NaN } }],
  ['a wait that would end at the deadline', 'deadline+', of(RESET), { nowMs: 400, request: { deadlineAtMs: 500 } }],
  ['a wait that ends before the deadline', 'retry', of(RESET), { nowMs: 399, request: { deadlineAtMs: 500 } }],
  [
    'no attempts and no time',
    'attempts-exhausted+',
    of(RESET),
    { countedRetryCount: 3, nowMs: 9, request: { deadlineAtMs: 5 } },
  ],
  ['a Retry-After of exactly the cap', 'retry', responded(503, { retryAfterMs: 10_000 })],
  ['a Retry-After above the cap', 'retry-after-too-long+', responded(503, { retryAfterMs: 10_001 })],
  [
    'a Retry-After of for ever',
    'retry-after-too-long+',
    responded(503, { retryAfterMs: Infinity }),
    { policy: { retryAfterMaxMs: 2_147_483_647 } },
  ],
  [
    'a Retry-After that ends at the deadline',
    'retry-after-too-long+',
    responded(503, { retryAfterMs: 500 }),
    { request: { deadlineAtMs: 500 } },
  ],
  [
    'a Retry-After that ends before the deadline',
    'retry',
    responded(503, { retryAfterMs: 499 }),
    { request: { deadlineAtMs: 500 } },
  ],
  [
    'a Retry-After above the cap with no time left',
    'deadline+',
    responded(503, { retryAfterMs: 99_999 }),
    { request: { deadlineAtMs: 0 } },
  ],
  [
    'a Retry-After above the cap on a POST',
    'not-idempotent',
    responded(503, { retryAfterMs: 99_999 }),
    { request: { method: 'POST' } },
  ],
  ['no endpoint', 'no-endpoint+', of(RESET), { at: { endpointAvailable: false } }],
  ['the advice to go elsewhere with nowhere else', 'no-endpoint+', responded(503, { advisedOther: true })],
  [
    'the advice to go elsewhere with another endpoint',
    'retry',
    responded(503, { advisedOther: true }),
    { at: { otherEndpointAvailable: true } },
  ],
  [
    'the advice to go elsewhere on an error that is not listed',
    'not-retryable',
    responded(501, { advisedOther: true }),
    { at: { otherEndpointAvailable: true } },
  ],
  [
    'no endpoint and no permit',
    'no-endpoint+',
    of(RESET),
    { at: { endpointAvailable: false, permitAvailable: false } },
  ],
  ['no permit', 'circuit-open+', of(RESET), { at: { permitAvailable: false } }],
  [
    'a breaker that refused the attempt itself',
    'circuit-open+',
    failed({ kind: 'circuit_open', source: 'internal', phase: 'select', bytesSent: 0 }),
  ],
  [
    'the same where no policy covers it',
    'not-retryable',
    failed({ kind: 'circuit_open', source: 'internal', phase: 'select', bytesSent: 0 }),
    { policy: { on: [] } },
  ],
  ['no permit and no time', 'deadline+', of(RESET), { at: { permitAvailable: false }, request: { deadlineAtMs: 0 } }],
  ['a retry of a retry', 'retry-of-retry+', of(RESET), { request: { lineage: 1 } }],
  [
    'a retry of a retry that the policy allows',
    'retry',
    of(RESET),
    { request: { lineage: 1 }, policy: { retryOfRetry: true } },
  ],
  [
    'a retry of a retry without a permit',
    'circuit-open+',
    of(RESET),
    { request: { lineage: 1 }, at: { permitAvailable: false } },
  ],
  [
    'a retry of a retry without a budget',
    'retry-of-retry+',
    of(RESET),
    { request: { lineage: 1 }, budgetAvailable: false },
  ],
  ['no budget', 'budget-exhausted+', of(RESET), { budgetAvailable: false }],
];

for (const [name, expected, outcome, changes] of ROWS) {
  test(`${name} leads to ${expected}`, () => {
    assert.equal(verdict(decideOn(outcome, changes)), expected);
  });
}

test('a success is one shared frozen value', () => {
  assert.equal(decideOn(responded(200)), STOP_SUCCESS);
  assert.ok(Object.isFrozen(STOP_SUCCESS));
  assert.deepEqual(STOP_SUCCESS, { type: 'stop', reason: 'success', handled: false, safety: undefined });
});

test('every decision about a failure carries its safety class', () => {
  assert.equal(decideOn(of(REFUSED)).safety, 'unsent');
  assert.equal(decideOn(of(REJECTED)).safety, 'rejected');
  assert.equal(decideOn(of(STALE)).safety, 'stale');
  assert.equal(decideOn(of(RESET), { request: { method: 'POST' } }).safety, 'ambiguous');
  assert.equal(decideOn(responded(503), { at: { downstreamGone: true } }).safety, 'answered');
  assert.equal(decideOn(responded(404)).safety, 'answered');
});

test('the first stale connection of a request is repeated at once, for free, on a fresh connection', () => {
  const expected = { type: 'retry', delayMs: 0, free: true, freshConnection: true, safety: 'stale' };
  assert.deepEqual(decideOn(of(STALE)), expected);
  assert.deepEqual(decideOn(of(STALE), { countedRetryCount: 3 }), expected);
  assert.deepEqual(decideOn(of(STALE), { budgetAvailable: false }), expected);
  assert.deepEqual(decideOn(of(STALE), { request: { lineage: 1 } }), expected);
});

test('a second stale connection is an ordinary retry on a fresh connection', () => {
  assert.deepEqual(decideOn(of(STALE), { freeResendUsed: true }), {
    type: 'retry',
    delayMs: 100,
    free: false,
    freshConnection: true,
    safety: 'stale',
  });
  assert.equal(verdict(decideOn(of(STALE), { freeResendUsed: true, countedRetryCount: 3 })), 'attempts-exhausted+');
  assert.equal(verdict(decideOn(of(STALE), { freeResendUsed: true, budgetAvailable: false })), 'budget-exhausted+');
  assert.equal(verdict(decideOn(of(STALE), { freeResendUsed: true, request: { lineage: 1 } })), 'retry-of-retry+');
});

test('a stale re-send is not free for a policy that names resets but not stale connections', () => {
  assert.equal(retryOf(of(STALE), { policy: { on: ['reset'] } }).free, false);
});

test('being free excuses a stale re-send from nothing else', () => {
  assert.equal(verdict(decideOn(of(STALE), { request: { deadlineAtMs: 0 } })), 'deadline+');
  assert.equal(verdict(decideOn(of(STALE), { at: { bodyReplayable: false } })), 'body-not-replayable');
  assert.equal(verdict(decideOn(of(STALE), { at: { permitAvailable: false } })), 'circuit-open+');
  assert.equal(verdict(decideOn(of(STALE), { at: { endpointAvailable: false } })), 'no-endpoint+');
  assert.equal(verdict(decideOn(of(STALE), { at: { downstreamGone: true } })), 'downstream-gone');
  assert.equal(verdict(decideOn(of(STALE), { at: { committed: true } })), 'committed');
});

test('a new connection is asked for when the old one cannot serve the repeat', () => {
  assert.equal(retryOf(of(REJECTED)).freshConnection, true);
  assert.equal(retryOf(responded(421)).freshConnection, true);
  assert.equal(retryOf(failed({ kind: 'overloaded' })).freshConnection, true);
  assert.equal(retryOf(failed({ kind: 'http_1_1_required' })).freshConnection, true);
  assert.equal(retryOf(of(REFUSED)).freshConnection, false);
  assert.equal(retryOf(of(RESET)).freshConnection, false);
  assert.equal(retryOf(responded(503)).freshConnection, false);
});

const ELSEWHERE: Changes = { at: { otherEndpointAvailable: true } };

test('the first retry goes to another endpoint at once when nothing was sent', () => {
  assert.equal(retryOf(of(REFUSED), ELSEWHERE).delayMs, 0);
  assert.equal(retryOf(of(STALE), { ...ELSEWHERE, freeResendUsed: true }).delayMs, 0);
});

test('it waits when there is no other endpoint, when it is not the first, or when the origin had the request', () => {
  assert.equal(retryOf(of(REFUSED)).delayMs, 100);
  assert.equal(retryOf(of(REFUSED), { ...ELSEWHERE, countedRetryCount: 1 }).delayMs, 100);
  assert.equal(retryOf(of(RESET), ELSEWHERE).delayMs, 100);
  assert.equal(retryOf(of(REJECTED), ELSEWHERE).delayMs, 100);
  assert.equal(retryOf(responded(503), ELSEWHERE).delayMs, 100);
  assert.equal(retryOf(responded(421), ELSEWHERE).delayMs, 100);
});

test('it waits after overload and after running out of sockets, for another endpoint is no better', () => {
  const unsent = { phase: 'connect', bytesSent: 0 } as const;
  assert.equal(retryOf(failed({ ...unsent, kind: 'overloaded' }), ELSEWHERE).delayMs, 100);
  assert.equal(retryOf(failed({ ...unsent, kind: 'local_resource_exhausted' }), ELSEWHERE).delayMs, 100);
});

test('the wait is the longer of backoff and Retry-After', () => {
  assert.equal(retryOf(responded(503, { retryAfterMs: 99 })).delayMs, 100);
  assert.equal(retryOf(responded(503, { retryAfterMs: 101 })).delayMs, 101);
  assert.equal(retryOf(responded(503, { retryAfterMs: 0 })).delayMs, 100);
  assert.equal(retryOf(responded(503, { retryAfterMs: -5 })).delayMs, 100);
  assert.equal(retryOf(responded(503, { retryAfterMs: NaN })).delayMs, 100);
});

test('a shared Retry-After is spread upwards by up to a tenth when the policy has jitter', () => {
  const asked = responded(503, { retryAfterMs: 2000 });
  const jitter = { policy: { jitter: 'full' } } as const;
  assert.equal(retryOf(asked, { ...jitter, random: 0 }).delayMs, 2000);
  assert.equal(retryOf(asked, { ...jitter, random: 0.5 }).delayMs, 2100);
  assert.equal(retryOf(asked, { random: 0.5 }).delayMs, 2000);
});

test('the spread never passes the deadline', () => {
  const asked = responded(503, { retryAfterMs: 2000 });
  const policy = { jitter: 'full' } as const;
  assert.equal(retryOf(asked, { policy, random: 0.5, request: { deadlineAtMs: 2100 } }).delayMs, 2000);
  assert.equal(retryOf(asked, { policy, random: 0.5, request: { deadlineAtMs: 2101 } }).delayMs, 2100);
});

test('the backoff grows with the retries that count', () => {
  const policy = { curve: 'exponential', maxBackoffMs: 10_000, maxRetries: 5 } as const;
  const delays = [0, 1, 2, 3].map((countedRetryCount) => retryOf(of(RESET), { policy, countedRetryCount }).delayMs);
  assert.deepEqual(delays, [100, 200, 400, 800]);
});

test('decorrelated jitter starts from the delay before', () => {
  const policy = { jitter: 'decorrelated', maxBackoffMs: 10_000 } as const;
  assert.equal(retryOf(of(RESET), { policy, previousDelayMs: 300, random: 0.5 }).delayMs, 500);
});

test('a random number that is none makes the longest wait, not none at all', () => {
  const policy = { jitter: 'full' } as const;
  assert.equal(retryOf(of(RESET), { policy, random: NaN }).delayMs, 100);
  assert.equal(retryOf(responded(503, { retryAfterMs: 1000 }), { policy, random: NaN }).delayMs, 1000);
  assert.equal(retryOf(responded(503, { retryAfterMs: 1000 }), { policy, random: 7 }).delayMs, 1100);
  assert.equal(retryOf(responded(503, { retryAfterMs: 1000 }), { policy, random: -7 }).delayMs, 1000);
});

test('a listed code below 400 does not exist', () => {
  assert.throws(() => createRetryPolicy({ codes: [200] }), RangeError);
});
