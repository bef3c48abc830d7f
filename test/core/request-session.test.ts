import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision } from '../../src/core/decision.ts';
import type { Failure } from '../../src/core/failure.ts';
import type { Circumstances, RequestFacts } from '../../src/core/request.ts';
import { createRequestSession, type RequestSession } from '../../src/core/request-session.ts';
import type { RetryBudget } from '../../src/core/retry-budget.ts';
import { createRetryPolicy, type RetryPolicyOptions } from '../../src/core/retry-policy.ts';
import { CLEAR, EAGER, failure, GET, POST, REFUSED, REJECTED, RESET, STALE, TIMED_OUT, verdict } from './fixtures.ts';

/** A budget of so many retries that writes down everything asked of it. */
function recordingBudget(retries: number): { budget: RetryBudget; calls: string[] } {
  const calls: string[] = [];
  let left = retries;
  const budget: RetryBudget = {
    kind: 'ratio',
    deposit: (nowMs) => void calls.push(`deposit ${String(nowMs)}`),
    withdraw(nowMs) {
      const granted = left > 0;
      if (granted) left -= 1;
      calls.push(`${granted ? 'withdraw' : 'refuse'} ${String(nowMs)}`);
      return granted;
    },
    refund(nowMs, withdrawnAtMs) {
      left += 1;
      calls.push(`refund ${String(nowMs)} of ${String(withdrawnAtMs)}`);
    },
    withdrawHedge(nowMs) {
      const granted = left > 0;
      if (granted) left -= 1;
      calls.push(`${granted ? 'hedge' : 'refuse-hedge'} ${String(nowMs)}`);
      return granted;
    },
    refundHedge(nowMs, withdrawnAtMs) {
      left += 1;
      calls.push(`refund-hedge ${String(nowMs)} of ${String(withdrawnAtMs)}`);
    },
    record: (success, nowMs) => void calls.push(`${success ? 'success' : 'failure'} ${String(nowMs)}`),
    balance: () => left,
  };
  return { budget, calls };
}

interface Bench {
  readonly session: RequestSession;
  readonly calls: string[];
  fail(failure: Failure, nowMs?: number, at?: Partial<Circumstances>): Decision;
  answer(status: number, nowMs?: number, at?: Partial<Circumstances>): Decision;
}

function start(options: RetryPolicyOptions = {}, facts: RequestFacts = GET, retries = 100): Bench {
  const { budget, calls } = recordingBudget(retries);
  const session = createRequestSession(facts, createRetryPolicy({ ...EAGER, ...options }), budget);
  session.start(1);
  return {
    session,
    calls,
    fail(outcome, nowMs = 10, at = {}) {
      session.attemptStarted();
      return session.failed(outcome, { ...CLEAR, ...at }, nowMs, 0);
    },
    answer(status, nowMs = 10, at = {}) {
      session.attemptStarted();
      return session.responded({ status }, { ...CLEAR, ...at }, nowMs, 0);
    },
  };
}

test('a success deposits once, withdraws nothing, and counts one attempt', () => {
  const { session, calls, answer } = start();
  assert.equal(verdict(answer(200)), 'success');
  assert.deepEqual(calls, ['deposit 1', 'success 10']);
  assert.deepEqual([session.attemptCount, session.retryCount, session.stopReason], [1, 0, 'success']);
});

test('every success is the same value', () => {
  assert.equal(start().answer(200), start().answer(301));
});

test('a success for a client that is gone is no success', () => {
  const { calls, answer } = start();
  assert.equal(verdict(answer(200, 10, { downstreamGone: true })), 'downstream-gone');
  assert.deepEqual(calls, ['deposit 1']);
});

test('a request that is itself a retry deposits nothing', () => {
  const { calls, answer } = start({}, { ...GET, lineage: 1 });
  answer(200);
  assert.deepEqual(calls, ['success 10']);
});

test('a 400 is no success', () => {
  const { calls, answer } = start();
  assert.equal(verdict(answer(400)), 'not-retryable');
  assert.deepEqual(calls, ['deposit 1']);
});

test('attempts are numbered from 1', () => {
  const { session } = start();
  assert.deepEqual([session.attemptStarted(), session.attemptStarted()], [1, 2]);
});

test('n retries make n + 1 sends', () => {
  for (const maxRetries of [0, 1, 2, 3]) {
    const { session, fail } = start({ maxRetries });
    while (fail(RESET).type === 'retry') assert.ok(session.attemptCount < 10);
    assert.equal(session.attemptCount, maxRetries + 1);
    assert.equal(session.retryCount, maxRetries);
    assert.equal(session.stopReason, 'attempts-exhausted');
  }
});

test('a retry is withdrawn when it is decided, and refused when the budget refuses', () => {
  const { session, calls, fail } = start({}, GET, 1);
  assert.equal(verdict(fail(RESET, 10)), 'retry');
  assert.equal(session.stopReason, undefined);
  assert.equal(verdict(fail(RESET, 20)), 'budget-exhausted+');
  assert.deepEqual(calls, ['deposit 1', 'failure 10', 'withdraw 10', 'failure 20', 'refuse 20']);
  assert.deepEqual([session.retryCount, session.stopReason], [1, 'budget-exhausted']);
});

test('a retry refused for another reason spends nothing', () => {
  const { calls, fail } = start({ maxRetries: 3 }, POST);
  assert.equal(verdict(fail(RESET)), 'not-idempotent');
  assert.deepEqual(calls, ['deposit 1', 'failure 10']);
});

test('the free re-send is neither charged nor a failure nor counted against maxRetries', () => {
  const { session, calls, fail } = start({ maxRetries: 1 });
  const first = fail(STALE);
  assert.ok(first.type === 'retry' && first.free);
  assert.deepEqual(calls, ['deposit 1']);
  const second = fail(STALE, 20);
  assert.ok(second.type === 'retry' && !second.free);
  assert.equal(verdict(fail(RESET, 30)), 'attempts-exhausted+');
  assert.deepEqual([session.attemptCount, session.retryCount], [3, 2]);
});

test('the free re-send comes also after the counted ones', () => {
  const { session, fail } = start({ maxRetries: 1 });
  assert.equal(verdict(fail(RESET)), 'retry');
  assert.equal(verdict(fail(STALE)), 'retry');
  assert.equal(verdict(fail(RESET)), 'attempts-exhausted+');
  assert.equal(session.attemptCount, 3);
});

test('the backoff does not grow by the free re-send', () => {
  const { fail } = start({ curve: 'exponential', maxBackoffMs: 10_000 });
  const delays = [fail(STALE), fail(RESET), fail(RESET)].map((decision) =>
    decision.type === 'retry' ? decision.delayMs : -1,
  );
  assert.deepEqual(delays, [0, 100, 200]);
});

test('decorrelated jitter follows the delay before, over a free re-send too', () => {
  const { budget } = recordingBudget(9);
  const policy = createRetryPolicy({ ...EAGER, jitter: 'decorrelated', maxBackoffMs: 100_000 });
  const session = createRequestSession(GET, policy, budget);
  const delays = [RESET, STALE, RESET, RESET].map((outcome) => {
    session.attemptStarted();
    const decision = session.failed(outcome, CLEAR, 0, 0.5);
    return decision.type === 'retry' ? decision.delayMs : -1;
  });
  assert.deepEqual(delays, [100, 0, 200, 350]);
});

test('a retry that is not sent is given back to the instant it was taken', () => {
  const { session, calls, fail } = start();
  fail(RESET, 10);
  session.retryNotSent(15, 'downstream-gone');
  assert.deepEqual(calls, ['deposit 1', 'failure 10', 'withdraw 10', 'refund 15 of 10']);
  assert.deepEqual([session.retryCount, session.stopReason], [0, 'downstream-gone']);
});

test('it is given back once, and not at all once it was sent', () => {
  const { session, calls, fail } = start();
  session.retryNotSent(5, 'circuit-open');
  fail(RESET, 10);
  session.retryNotSent(15, 'circuit-open');
  session.retryNotSent(16, 'circuit-open');
  assert.equal(calls.filter((call) => call.startsWith('refund')).length, 1);
  assert.equal(session.retryCount, 0);
  fail(RESET, 20);
  session.attemptStarted();
  session.retryNotSent(25, 'circuit-open');
  assert.equal(calls.filter((call) => call.startsWith('refund')).length, 1);
  assert.equal(session.retryCount, 1);
});

test('a free re-send that is not sent has nothing to give back', () => {
  const { session, calls, fail } = start();
  fail(STALE);
  session.retryNotSent(15, 'no-endpoint');
  assert.deepEqual(calls, ['deposit 1']);
  assert.deepEqual([session.retryCount, session.stopReason], [0, 'no-endpoint']);
});

test('a hook may make the policy cover an outcome', () => {
  const { session, calls, fail } = start({ on: [] });
  assert.equal(verdict(fail(REFUSED)), 'not-retryable');
  assert.deepEqual(calls, ['deposit 1']);
  assert.equal(verdict(session.reconsider(CLEAR, 11, 0)), 'retry');
  assert.deepEqual(calls, ['deposit 1', 'failure 11', 'withdraw 11']);
  assert.deepEqual([session.retryCount, session.stopReason], [1, undefined]);
});

test('a hook may do so for a response as well', () => {
  const { session, answer } = start({ codes: [] });
  assert.equal(verdict(answer(503)), 'not-retryable');
  assert.equal(verdict(session.reconsider(CLEAR, 11, 0)), 'retry');
});

test('a hook cannot make an unsafe request safe, nor attempts, time or budget longer', () => {
  const unsafe = start({ on: [] }, POST);
  unsafe.fail(RESET);
  assert.equal(verdict(unsafe.session.reconsider(CLEAR, 11, 0)), 'not-idempotent');

  const none = start({ on: [], maxRetries: 0 });
  none.fail(REFUSED);
  assert.equal(verdict(none.session.reconsider(CLEAR, 11, 0)), 'attempts-exhausted');

  const late = start({ on: [] }, { ...GET, deadlineAtMs: 11 });
  late.fail(REFUSED);
  assert.equal(verdict(late.session.reconsider(CLEAR, 11, 0)), 'deadline+');

  const poor = start({ on: [] }, GET, 0);
  poor.fail(REFUSED);
  assert.equal(verdict(poor.session.reconsider(CLEAR, 11, 0)), 'budget-exhausted+');
  assert.equal(poor.session.stopReason, 'budget-exhausted');
});

test('a hook changes no other decision, and a decided retry is not taken twice', () => {
  const { session, calls, fail, answer } = start({}, POST);
  const stopped = fail(RESET);
  assert.equal(session.reconsider(CLEAR, 11, 0), stopped);

  const success = answer(200);
  assert.equal(session.reconsider(CLEAR, 12, 0), success);

  const retry = fail(REFUSED, 13);
  assert.equal(session.reconsider(CLEAR, 14, 0), retry);
  assert.equal(calls.filter((call) => call.startsWith('withdraw')).length, 1);
});

test('before any outcome there is nothing to reconsider', () => {
  const { session } = start();
  assert.equal(verdict(session.reconsider(CLEAR, 1, 0)), 'success');
  assert.equal(session.retryCount, 0);
});

/** What a throttle hears of an attempt that ended so. */
const RECORDED: readonly (readonly [name: string, end: (bench: Bench) => Decision, heard: 'failure' | 'nothing'])[] = [
  ['a covered failure that is retried', ({ fail }) => fail(RESET), 'failure'],
  ['a covered failure that may not be retried', ({ fail }) => fail(RESET, 10, { bodyReplayable: false }), 'failure'],
  ['a covered failure without a permit', ({ fail }) => fail(TIMED_OUT, 10, { permitAvailable: false }), 'failure'],
  ['an answer that is listed', ({ answer }) => answer(503), 'failure'],
  ['a rejection', ({ fail }) => fail(REJECTED), 'failure'],
  ['an answer that is not listed', ({ answer }) => answer(501), 'nothing'],
  ['a client’s own error', ({ answer }) => answer(404), 'nothing'],
  ['a stale connection that is repeated for free', ({ fail }) => fail(STALE), 'nothing'],
  ['a client that left', ({ fail }) => fail(RESET, 10, { downstreamGone: true }), 'nothing'],
  [
    'a failure of our own',
    ({ fail }) =>
      fail(failure({ kind: 'local_resource_exhausted', source: 'internal', phase: 'connect', bytesSent: 0 })),
    'nothing',
  ],
  ['a failure after the commitment', ({ fail }) => fail(RESET, 10, { committed: true }), 'nothing'],
];

for (const [name, end, heard] of RECORDED) {
  test(`the budget hears of ${heard === 'failure' ? 'a failure' : 'nothing'} after ${name}`, () => {
    const bench = start();
    end(bench);
    assert.equal(bench.calls.includes('failure 10'), heard === 'failure');
  });
}

test('a session keeps its facts and its policy', () => {
  const { session } = start({ maxRetries: 2 }, POST);
  assert.equal(session.facts, POST);
  assert.equal(session.policy.maxRetries, 2);
});

/** A GET that waits at one of two endpoints, with `retries` in the budget. */
function slow(retries: number): { session: RequestSession; calls: string[] } {
  const { budget, calls } = recordingBudget(retries);
  const session = createRequestSession(GET, createRetryPolicy(EAGER), budget);
  session.start(0);
  session.attemptStarted();
  calls.length = 0;
  return { session, calls };
}

const ELSEWHERE: Circumstances = { ...CLEAR, otherEndpointAvailable: true };

test('a copy is taken from the budget, and no more of them than the policy says', () => {
  const { session, calls } = slow(5);
  assert.equal(session.hedge({ delayMs: 100, max: 2 }, ELSEWHERE, true, 100), undefined);
  assert.equal(session.hedge({ delayMs: 100, max: 2 }, ELSEWHERE, true, 200), undefined);
  assert.equal(session.hedge({ delayMs: 100, max: 2 }, ELSEWHERE, true, 300), 'attempts-exhausted');
  assert.deepEqual(calls, ['hedge 100', 'hedge 200']);
  assert.deepEqual([session.hedgeCount, session.retryCount], [2, 0]);
});

test('a copy that is refused for another reason spends nothing', () => {
  const { session, calls } = slow(5);
  assert.equal(session.hedge({ delayMs: 100, max: 1 }, CLEAR, true, 100), 'no-endpoint');
  assert.equal(session.hedge({ delayMs: 100, max: 1 }, ELSEWHERE, false, 100), 'body-not-replayable');
  assert.deepEqual([calls, session.hedgeCount], [[], 0]);
});

test('a copy that the budget refuses is not sent', () => {
  const { session, calls } = slow(0);
  assert.equal(session.hedge({ delayMs: 100, max: 1 }, ELSEWHERE, true, 100), 'budget-exhausted');
  assert.deepEqual([calls, session.hedgeCount], [['refuse-hedge 100'], 0]);
});

test('a copy that is not sent is given back, and may be asked for again', () => {
  const { session, calls } = slow(1);
  session.hedge({ delayMs: 100, max: 1 }, ELSEWHERE, true, 100);
  session.hedgeNotSent(110);
  assert.equal(session.hedge({ delayMs: 100, max: 1 }, ELSEWHERE, true, 120), undefined);
  assert.deepEqual(calls, ['hedge 100', 'refund-hedge 110 of 100', 'hedge 120']);
});

test('copies do not use up retries: after both have failed there are as many as before', () => {
  const { session } = slow(9);
  session.hedge({ delayMs: 100, max: 1 }, ELSEWHERE, true, 100);
  session.attemptStarted();
  assert.equal(session.besideCopy({ type: 'response', response: { status: 503 } }, ELSEWHERE, 150, 0), undefined);
  for (let retry = 0; retry < 3; retry += 1) {
    assert.equal(session.failed(RESET, ELSEWHERE, 200, 0).type, 'retry');
    session.attemptStarted();
  }
  assert.equal(verdict(session.failed(RESET, ELSEWHERE, 200, 0)), 'attempts-exhausted+');
  assert.equal(session.attemptCount, 5);
});

test('an outcome beside a copy is let pass without a withdrawal, and a throttle counts it', () => {
  const { session, calls } = slow(9);
  assert.equal(session.besideCopy({ type: 'failure', failure: RESET }, ELSEWHERE, 150, 0), undefined);
  assert.equal(session.stopReason, undefined);
  assert.deepEqual(calls, ['failure 150']);
});

test('a final word beside a copy ends the request with its reason', () => {
  const { session, calls } = slow(9);
  const decision = session.besideCopy({ type: 'response', response: { status: 404 } }, ELSEWHERE, 150, 0);
  assert.deepEqual([decision?.reason, session.stopReason], ['not-retryable', 'not-retryable']);
  assert.deepEqual(calls, []);
});

test('a session tells whether the opportunity was handled, also when its last retry was not sent', () => {
  const { session, answer } = start({ codes: [503] });
  assert.equal(session.handled, false);
  assert.equal(verdict(answer(503)), 'retry');
  assert.equal(session.handled, false);
  session.retryNotSent(11, 'circuit-open');
  assert.equal(session.handled, true);

  const other = start({ codes: [503] });
  other.answer(501);
  assert.equal(other.session.handled, false);
  other.session.reconsider(CLEAR, 11, 0);
  other.session.retryNotSent(12, 'downstream-gone');
  assert.equal(other.session.handled, false);
});

test('a session whose attempts are used up has handled the opportunity, one that may not retry has not', () => {
  const used = start({ codes: [503], maxRetries: 1 });
  used.answer(503);
  used.session.attemptStarted();
  assert.equal(verdict(used.answer(503)), 'attempts-exhausted+');
  assert.equal(used.session.handled, true);

  const none = start({ codes: [503], maxRetries: 0 });
  assert.equal(verdict(none.answer(503)), 'attempts-exhausted');
  assert.equal(none.session.handled, false);
});
