import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSuccess } from '../../src/core/classify.ts';
import type { Failure } from '../../src/core/failure.ts';
import type { Outcome, Ruling } from '../../src/core/outcome.ts';
import type { Circumstances } from '../../src/core/request.ts';
import { createRequestSession } from '../../src/core/request-session.ts';
import { createRetryBudget } from '../../src/core/retry-budget.ts';
import { createRetryPolicy } from '../../src/core/retry-policy.ts';
import type { RetryPolicyOptions } from '../../src/core/retry-policy.ts';
import { circuitVerdict } from '../../src/core/verdict.ts';

const CLEAR: Circumstances = {
  bodyReplayable: true,
  committed: false,
  downstreamGone: false,
  endpointAvailable: true,
  otherEndpointAvailable: false,
  permitAvailable: true,
};

const answered = (status: number, ruling?: Ruling): Outcome => ({ type: 'response', response: { status, ruling } });
const died = (failure: Partial<Failure>, ruling?: Ruling): Outcome => ({
  type: 'failure',
  failure: {
    kind: 'connection_terminated',
    source: 'upstream',
    phase: 'wait',
    reused: false,
    bytesSent: 10,
    bytesReceived: 0,
    ...failure,
  },
  ruling,
});

function endOf(outcome: Outcome, method: string, policy: RetryPolicyOptions): string {
  const facts = { method, keyed: false, lineage: 0, deadlineAtMs: Infinity };
  const session = createRequestSession(facts, createRetryPolicy(policy), createRetryBudget());
  session.start(0);
  session.attemptStarted();
  const decision =
    outcome.type === 'response'
      ? session.responded(outcome.response, CLEAR, 0, 0)
      : session.failed(outcome.failure, CLEAR, 0, 0, outcome.ruling);
  return decision.type === 'retry' ? 'retry' : decision.reason;
}

const rows: readonly (readonly [string, Outcome, string, string, RetryPolicyOptions?])[] = [
  ['retryable covers a status that the codes do not name', answered(500, 'retryable'), 'GET', 'retry'],
  ['retryable covers a 200', answered(200, 'retryable'), 'GET', 'retry'],
  ['retryable covers a client error', answered(404, 'retryable'), 'GET', 'retry'],
  ['retryable covers a reset', died({}, 'retryable'), 'GET', 'retry'],
  ['retryable makes nothing safe', answered(503, 'retryable'), 'POST', 'not-idempotent'],
  ['retryable makes no attempts', answered(503, 'retryable'), 'GET', 'attempts-exhausted', { maxRetries: 0 }],
  ['retryable gives no time', died({ kind: 'deadline_exceeded' }, 'retryable'), 'GET', 'deadline'],
  ['success is final whatever the codes say', answered(503, 'success'), 'GET', 'success', { codes: [503] }],
  ['ignore is final whatever the codes say', answered(503, 'ignore'), 'GET', 'not-retryable', { codes: [503] }],
  ['ignore of a 200 leaves it a success', answered(200, 'ignore'), 'GET', 'success'],
  ['ignore holds for a failure', died({}, 'ignore'), 'GET', 'not-retryable', { on: ['reset'] }],
  ['a failure cannot be a success', died({}, 'success'), 'GET', 'not-retryable', { on: ['reset'] }],
  ['a 421 is retried although it was called a success', answered(421, 'success'), 'POST', 'retry'],
  [
    'a refused stream is retried although it is to be ignored',
    died({ kind: 'request_rejected' }, 'ignore'),
    'POST',
    'retry',
  ],
  ['rejected switched off by name', died({ kind: 'request_rejected' }, 'ignore'), 'POST', 'not-retryable', { on: [] }],
  ['nothing said: the codes decide', answered(503), 'GET', 'retry', { codes: [503] }],
];
for (const [name, outcome, method, end, policy = {}] of rows) {
  test(name, () => assert.equal(endOf(outcome, method, policy), end));
}

test('what was said of a response is what a circuit counts', () => {
  assert.equal(circuitVerdict(answered(500, 'success')), 'success');
  assert.equal(circuitVerdict(answered(500, 'ignore')), 'none');
  assert.equal(circuitVerdict(answered(200, 'retryable')), 'failure');
});

test('a refusal that proves that nothing was done is no success', () => {
  assert.equal(isSuccess({ status: 421, ruling: 'success' }), false);
  assert.equal(isSuccess({ status: 500, ruling: 'success' }), true);
});

test('an ignored answer gives a throttle nothing and takes nothing from it', () => {
  const budget = createRetryBudget({ kind: 'throttle', maxTokens: 2 });
  const facts = { method: 'GET', keyed: false, lineage: 0, deadlineAtMs: Infinity };
  for (let i = 0; i < 5; i += 1) {
    const session = createRequestSession(facts, createRetryPolicy({ codes: [503] }), budget);
    session.start(0);
    session.attemptStarted();
    session.responded({ status: 503, ruling: 'ignore' }, CLEAR, 0, 0);
  }
  assert.equal(budget.withdraw(0), true);
});
