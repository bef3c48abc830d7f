import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_DELAY_MS } from '../../src/core/deadline.ts';
import { isRetryHandled, type Decision, type StopReason } from '../../src/core/decision.ts';
import type { Failure } from '../../src/core/failure.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { Circumstances, RequestFacts } from '../../src/core/request.ts';
import { createRequestSession } from '../../src/core/request-session.ts';
import { createRetryBudget, type RetryBudgetOptions } from '../../src/core/retry-budget.ts';
import { createRetryPolicy, type RetryPolicyOptions } from '../../src/core/retry-policy.ts';
import { CLEAR } from './fixtures.ts';

const failures: fc.Arbitrary<Failure> = fc.record({
  kind: fc.constantFrom(
    'connection_refused',
    'connection_terminated',
    'connection_timeout',
    'connection_read_timeout',
    'http_response_timeout',
    'http_response_incomplete',
    'http_protocol_error',
    'http_response_header_section_size',
    'tls_certificate_error',
    'request_rejected',
    'overloaded',
    'http_1_1_required',
    'local_resource_exhausted',
    'circuit_open',
    'deadline_exceeded',
    'hook_error',
  ),
  source: fc.constantFrom('upstream', 'upstream', 'upstream', 'internal', 'downstream'),
  phase: fc.constantFrom('select', 'connect', 'tls', 'send', 'wait', 'wait', 'head', 'body'),
  reused: fc.boolean(),
  bytesSent: fc.constantFrom(0, 1, 100),
  bytesReceived: fc.constantFrom(0, 0, 10),
});

const outcomes: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 3, arbitrary: failures.map((failure): Outcome => ({ type: 'failure', failure })) },
  {
    weight: 2,
    arbitrary: fc
      .record(
        {
          status: fc.constantFrom(200, 404, 408, 421, 425, 429, 500, 502, 503, 504),
          retryAfterMs: fc.oneof(fc.nat(20_000), fc.constantFrom(NaN, -1, Infinity, Number.MAX_SAFE_INTEGER)),
          claim: fc.constantFrom('owned' as const, 'relayed' as const),
          advisedNever: fc.boolean(),
          nack: fc.boolean(),
        },
        { requiredKeys: ['status'] },
      )
      .map((response): Outcome => ({ type: 'response', response })),
  },
);

const policies: fc.Arbitrary<RetryPolicyOptions> = fc.record({
  maxRetries: fc.nat(5),
  codes: fc.subarray([404, 408, 429, 500, 502, 503, 504]),
  on: fc.subarray(['unsent', 'rejected', 'stale', 'reset', 'timeout'] as const),
  curve: fc.constantFrom('exponential' as const, 'linear' as const, 'fixed' as const),
  backoffMs: fc.nat(1000),
  jitter: fc.constantFrom('full' as const, 'equal' as const, 'decorrelated' as const, 'none' as const),
  retryAfterMaxMs: fc.nat(15_000),
  retryOfRetry: fc.boolean(),
});

const requests: fc.Arbitrary<RequestFacts> = fc.record({
  method: fc.constantFrom('GET', 'PUT', 'POST', 'PATCH', 'get'),
  keyed: fc.boolean(),
  lineage: fc.nat(2),
  deadlineAtMs: fc.oneof(fc.constant(Infinity), fc.nat(30_000)),
});

/** Mostly clear, so that runs are long. */
function mostly(value: boolean): fc.Arbitrary<boolean> {
  return fc.constantFrom(value, value, value, value, value, value, !value);
}

const circumstances: fc.Arbitrary<Circumstances> = fc.record({
  bodyReplayable: mostly(true),
  committed: mostly(false),
  downstreamGone: mostly(false),
  endpointAvailable: mostly(true),
  otherEndpointAvailable: fc.boolean(),
  permitAvailable: mostly(true),
});

const budgets: fc.Arbitrary<RetryBudgetOptions> = fc.constantFrom(
  { kind: 'none' },
  { kind: 'ratio' },
  { kind: 'token-bucket', percent: 50 },
  { kind: 'throttle', maxTokens: 6 },
  { kind: 'ratio', percent: 0 },
);

interface Event {
  readonly outcome: Outcome;
  readonly at: Circumstances;
  readonly random: number;
  readonly tookMs: number;
  readonly hookSaysRetry: boolean;
  readonly sent: boolean;
}

const events: fc.Arbitrary<Event[]> = fc.array(
  fc.record({
    outcome: outcomes,
    at: circumstances,
    random: fc.oneof(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.constant(NaN)),
    tookMs: fc.nat(2000),
    hookSaysRetry: fc.boolean(),
    sent: mostly(true),
  }),
  { minLength: 1, maxLength: 30 },
);

interface Step {
  readonly outcome: Outcome;
  readonly at: Circumstances;
  readonly decision: Decision;
  readonly nowMs: number;
}

/** Plays a request as a host would, and goes on as long as the decisions say so. */
function play(
  request: RequestFacts,
  policy: RetryPolicyOptions,
  budget: RetryBudgetOptions,
  script: readonly Event[],
): { steps: Step[]; sends: number } {
  const session = createRequestSession(request, createRetryPolicy(policy), createRetryBudget(budget));
  const steps: Step[] = [];
  let nowMs = 0;
  session.start(nowMs);
  for (const { outcome, at, random, tookMs, hookSaysRetry, sent } of script) {
    session.attemptStarted();
    nowMs += tookMs;
    let decision =
      outcome.type === 'response'
        ? session.responded(outcome.response, at, nowMs, random)
        : session.failed(outcome.failure, at, nowMs, random);
    if (hookSaysRetry) decision = session.reconsider(at, nowMs, random);
    steps.push({ outcome, at, decision, nowMs });
    if (decision.type === 'stop') {
      assert.equal(session.stopReason, decision.reason);
      break;
    }
    if (!sent) {
      session.retryNotSent(nowMs, 'circuit-open');
      break;
    }
    nowMs += decision.delayMs;
  }
  return { steps, sends: session.attemptCount };
}

function forEveryRequest(
  check: (run: { steps: Step[]; sends: number }, request: RequestFacts, policy: RetryPolicyOptions) => void,
): void {
  fc.assert(
    fc.property(requests, policies, budgets, events, (request, policy, budget, script) => {
      check(play(request, policy, budget, script), request, policy);
    }),
    { numRuns: 400 },
  );
}

test('no sequence of outcomes makes more than 1 + maxRetries sends, and one free one', () => {
  forEveryRequest(({ steps, sends }, _request, policy) => {
    const maxRetries = policy.maxRetries ?? 0;
    const free = steps.filter(({ decision }) => decision.type === 'retry' && decision.free).length;
    assert.ok(free <= (maxRetries === 0 ? 0 : 1));
    assert.ok(sends <= 1 + maxRetries + free, `${String(sends)} sends`);
  });
});

test('a request neither idempotent nor keyed is never sent again once a byte of it may have been processed', () => {
  forEveryRequest(({ steps }, request) => {
    if (request.keyed || request.method === 'GET' || request.method === 'PUT') return;
    for (const { decision, outcome } of steps) {
      if (decision.type === 'stop') continue;
      assert.ok(decision.safety === 'unsent' || decision.safety === 'rejected', decision.safety);
      if (decision.safety === 'unsent' && outcome.type === 'failure') {
        const { phase, bytesSent } = outcome.failure;
        assert.ok(bytesSent === 0 || phase === 'select' || phase === 'connect' || phase === 'tls');
      }
    }
  });
});

test('no retry follows a commitment, a lost body, a departed client, an open circuit or a lack of endpoints', () => {
  forEveryRequest(({ steps }) => {
    for (const { decision, at } of steps) {
      if (decision.type === 'stop') continue;
      assert.ok(at.bodyReplayable && !at.committed && !at.downstreamGone && at.permitAvailable && at.endpointAvailable);
    }
  });
});

test('every wait is a number that a timer holds, not below Retry-After, and ends before the deadline', () => {
  forEveryRequest(({ steps }, request, policy) => {
    for (const { decision, outcome, nowMs } of steps) {
      if (decision.type === 'stop') continue;
      assert.ok(decision.delayMs >= 0 && decision.delayMs <= MAX_DELAY_MS, String(decision.delayMs));
      assert.ok(nowMs + decision.delayMs < request.deadlineAtMs);
      const askedMs = outcome.type === 'response' ? (outcome.response.retryAfterMs ?? 0) : 0;
      assert.ok(!(askedMs > decision.delayMs), `${String(askedMs)} asked, ${String(decision.delayMs)} given`);
      assert.ok(!(askedMs > (policy.retryAfterMaxMs ?? 0)));
    }
  });
});

test('a relayed claim and an advice of never are always obeyed', () => {
  forEveryRequest(({ steps }) => {
    for (const { decision, outcome } of steps) {
      if (outcome.type === 'failure' || outcome.response.status < 400) continue;
      const { claim, advisedNever } = outcome.response;
      if (claim === 'relayed' || advisedNever === true) assert.equal(decision.type, 'stop');
    }
  });
});

test('a retry of a retry happens only where the policy allows it, but for the free re-send', () => {
  forEveryRequest(({ steps }, request, policy) => {
    if (request.lineage === 0 || policy.retryOfRetry === true) return;
    for (const { decision } of steps) assert.ok(decision.type === 'stop' || decision.free);
  });
});

const HANDLED: Readonly<Record<StopReason, boolean>> = {
  success: false,
  'not-retryable': false,
  'not-idempotent': false,
  'body-not-replayable': false,
  committed: false,
  'not-owner': true,
  'advised-never': true,
  'attempts-exhausted': true,
  deadline: true,
  'retry-after-too-long': true,
  'circuit-open': true,
  'no-endpoint': true,
  'retry-of-retry': true,
  'budget-exhausted': true,
  'downstream-gone': false,
};

test('every stop has one of the fifteen reasons, each with its own answer to whether the opportunity was handled', () => {
  const seen = new Set<StopReason>();
  forEveryRequest(({ steps }, _request, policy) => {
    for (const { decision } of steps) {
      if (decision.type === 'retry') continue;
      seen.add(decision.reason);
      const noneAllowed = decision.reason === 'attempts-exhausted' && policy.maxRetries === 0;
      assert.equal(decision.handled, HANDLED[decision.reason] && !noneAllowed, decision.reason);
      assert.equal(isRetryHandled(decision.reason), HANDLED[decision.reason]);
    }
  });
  assert.ok(seen.size >= 10, [...seen].join(' '));
});

test('a budget of 0 % grants no request a charged retry', () => {
  fc.assert(
    fc.property(
      requests,
      policies,
      events,
      fc.constantFrom('ratio' as const, 'token-bucket' as const),
      (request, policy, script, kind) => {
        const { steps } = play(request, policy, { kind, percent: 0 }, script);
        for (const { decision } of steps) assert.ok(decision.type === 'stop' || decision.free);
      },
    ),
  );
});

test('retries mint nothing: a thousand requests that keep failing are retried as often as the share says', () => {
  for (const kind of ['ratio', 'token-bucket'] as const) {
    const budget = createRetryBudget({ kind, percent: 20, minRetryRate: { count: 0, intervalMs: 1000 } });
    const policy = createRetryPolicy({ maxRetries: 5, codes: [503], jitter: 'none', backoffMs: 0, retryOfRetry: true });
    let retries = 0;
    for (let call = 0; call < 2000; call += 1) {
      const lineage = call % 2;
      const session = createRequestSession(
        { method: 'GET', keyed: false, lineage, deadlineAtMs: Infinity },
        policy,
        budget,
      );
      session.start(0);
      session.attemptStarted();
      while (session.responded({ status: 503 }, CLEAR, 0, 0).type === 'retry') session.attemptStarted();
      retries += session.attemptCount - 1;
    }
    assert.equal(retries, 200);
  }
});
