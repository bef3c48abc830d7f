import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision } from '../../src/core/decision.ts';
import type { Failure } from '../../src/core/failure.ts';
import { NANTIAN_PRESET, NANTIAN_TRANSPORT_PRESET } from '../../src/core/presets/nantian.ts';
import { PINGORA_PRESET } from '../../src/core/presets/pingora.ts';
import type { Preset } from '../../src/core/presets/preset.ts';
import type { RequestFacts } from '../../src/core/request.ts';
import { createRequestSession, type RequestSession } from '../../src/core/request-session.ts';
import { createRetryBudget } from '../../src/core/retry-budget.ts';
import { CLEAR, GET, POST, REFUSED, REJECTED, STALE, TIMED_OUT, verdict } from './fixtures.ts';

function start({ retry, budget }: Preset, facts: RequestFacts = GET): RequestSession {
  const session = createRequestSession(facts, retry, createRetryBudget(budget));
  session.start(0);
  session.attemptStarted();
  return session;
}

function fail(session: RequestSession, failure: Failure): Decision {
  return session.failed(failure, CLEAR, 0, 0.5);
}

test('pingora by default tries a refused connection once', () => {
  assert.equal(verdict(fail(start(PINGORA_PRESET), REFUSED)), 'not-retryable');
});

test('pingora with a hook that always says retry makes 16 attempts without a wait', () => {
  const session = start(PINGORA_PRESET, POST);
  for (;;) {
    fail(session, REFUSED);
    const decision = session.reconsider(CLEAR, 0, 0.5);
    if (decision.type === 'stop') break;
    assert.equal(decision.delayMs, 0);
    session.attemptStarted();
  }
  assert.equal(session.attemptCount, 16);
  assert.equal(session.stopReason, 'attempts-exhausted');
});

test('pingora repeats a GET on a stale connection and never a POST, free of the POST sent twice', () => {
  assert.equal(verdict(fail(start(PINGORA_PRESET), STALE)), 'retry');
  assert.equal(verdict(fail(start(PINGORA_PRESET, POST), STALE)), 'not-idempotent');
});

test('pingora repeats a refused stream for a POST, free of refusing what was not processed', () => {
  assert.equal(verdict(fail(start(PINGORA_PRESET, POST), REJECTED)), 'retry');
});

for (const status of [500, 502, 503, 504]) {
  test(`nantian sends four times with three waits of 500 ms when ${String(status)} stays`, () => {
    const session = start(NANTIAN_PRESET);
    const delays: number[] = [];
    for (;;) {
      const decision = session.responded({ status }, CLEAR, 0, 0.5);
      if (decision.type === 'stop') break;
      delays.push(decision.delayMs);
      session.attemptStarted();
    }
    assert.deepEqual(delays, [500, 500, 500]);
    assert.equal(session.attemptCount, 4);
  });
}

test('nantian answers a POST with its 503, and repeats it when it was not sent', () => {
  assert.equal(verdict(start(NANTIAN_PRESET, POST).responded({ status: 503 }, CLEAR, 0, 0)), 'not-idempotent');
  assert.equal(verdict(fail(start(NANTIAN_PRESET, POST), REFUSED)), 'retry');
});

test('nantian without a policy repeats a failed connect once, at once, and nothing else', () => {
  const session = start(NANTIAN_TRANSPORT_PRESET);
  const decision = fail(session, REFUSED);
  assert.equal(decision.type === 'retry' && decision.delayMs, 0);
  session.attemptStarted();
  assert.equal(verdict(fail(session, REFUSED)), 'attempts-exhausted+');
  assert.equal(verdict(fail(start(NANTIAN_TRANSPORT_PRESET), TIMED_OUT)), 'not-retryable');
  assert.equal(verdict(start(NANTIAN_TRANSPORT_PRESET).responded({ status: 503 }, CLEAR, 0, 0)), 'not-retryable');
});

test('other systems know no claims, so their presets read none', () => {
  for (const preset of [PINGORA_PRESET, NANTIAN_PRESET, NANTIAN_TRANSPORT_PRESET])
    assert.equal(preset.retry.ownership, 'off');
});

test('pingora has no budget, nantian has one', () => {
  assert.deepEqual(PINGORA_PRESET.budget, { kind: 'none' });
  assert.deepEqual(NANTIAN_PRESET.budget, { kind: 'ratio' });
  assert.deepEqual(NANTIAN_TRANSPORT_PRESET.budget, { kind: 'ratio' });
});
