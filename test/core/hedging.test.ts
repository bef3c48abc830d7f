import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StopReason } from '../../src/core/decision.ts';
import { createHedgePolicy, hedgeRefusal, waitsForOtherCopy } from '../../src/core/hedging.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { Circumstances, RequestFacts } from '../../src/core/request.ts';
import { createRetryPolicy } from '../../src/core/retry-policy.ts';
import { CLEAR, decideOn, failed, GET, POST, responded, type Changes } from './fixtures.ts';

const OTHER: Circumstances = { ...CLEAR, otherEndpointAvailable: true };

interface Case {
  readonly request?: Partial<RequestFacts>;
  readonly at?: Partial<Circumstances>;
  readonly bodyComplete?: boolean;
  readonly retryOfRetry?: boolean;
  readonly sameEndpoint?: boolean;
  readonly nowMs?: number;
}

function refusalOf(one: Case): StopReason | undefined {
  const { retryOfRetry } = one;
  return hedgeRefusal(
    { ...GET, ...one.request },
    createRetryPolicy({ retryOfRetry }),
    { ...createHedgePolicy({ delayMs: 1 }), sameEndpoint: one.sameEndpoint },
    { ...OTHER, ...one.at },
    one.bodyComplete ?? true,
    one.nowMs ?? 0,
  );
}

describe('a copy may be sent', () => {
  const allowed: readonly (readonly [string, Case])[] = [
    ['of a GET', {}],
    ['of a PUT', { request: { method: 'PUT' } }],
    ['of a keyed POST', { request: { ...POST, keyed: true } }],
    ['of a POST that its sender calls repeatable', { request: { ...POST, repeatable: true } }],
    ['to the same endpoint where that is allowed', { at: { otherEndpointAvailable: false }, sameEndpoint: true }],
    ['before the deadline', { request: { deadlineAtMs: 10 }, nowMs: 9 }],
    ['of a retry of the caller where that is allowed', { request: { lineage: 1 }, retryOfRetry: true }],
  ];
  for (const [name, one] of allowed) test(name, () => assert.equal(refusalOf(one), undefined));
});

describe('no copy is sent', () => {
  const refused: readonly (readonly [string, Case, StopReason])[] = [
    ['for a client that left', { at: { downstreamGone: true } }, 'downstream-gone'],
    ['once the answer began', { at: { committed: true } }, 'committed'],
    ['while the body is arriving', { bodyComplete: false }, 'body-not-replayable'],
    ['of a body that is not kept', { at: { bodyReplayable: false } }, 'body-not-replayable'],
    ['of a POST without a key', { request: POST }, 'not-idempotent'],
    ['of a GET that its sender calls unrepeatable', { request: { repeatable: false } }, 'not-idempotent'],
    ['of an unknown method', { request: { method: 'get' } }, 'not-idempotent'],
    ['at the deadline', { request: { deadlineAtMs: 10 }, nowMs: 10 }, 'deadline'],
    ['to the same endpoint', { at: { otherEndpointAvailable: false } }, 'no-endpoint'],
    ['without a permit', { at: { permitAvailable: false } }, 'circuit-open'],
    ['of a retry of the caller', { request: { lineage: 1 } }, 'retry-of-retry'],
  ];
  for (const [name, one, reason] of refused) test(name, () => assert.equal(refusalOf(one), reason));

  test('for the first of several reasons, in the order of the list above', () => {
    // From the last reason to the first, each added to all that come after it, decides alone.
    let all: Case = {};
    for (const [, one, reason] of refused.toReversed()) {
      all = {
        nowMs: 10,
        bodyComplete: one.bodyComplete ?? all.bodyComplete ?? true,
        request: { ...all.request, ...one.request, lineage: 1 },
        at: { ...all.at, ...one.at },
      };
      // The two rows of one reason, and of one method, replace each other.
      assert.equal(refusalOf(all), reason);
    }
  });
});

describe('while another copy is under way', () => {
  const rows: readonly (readonly [string, Outcome, Changes, boolean])[] = [
    ['a response that would be retried is let pass', responded(503), {}, true],
    ['so is one for which the attempts are used up', responded(503), { policy: { maxRetries: 0 } }, true],
    ['and one that the budget refuses', responded(503), { budgetAvailable: false }, true],
    ['and one for which there is no permit', responded(503), { at: { permitAvailable: false } }, true],
    ['and one with a Retry-After that is too long', responded(503, { retryAfterMs: 60_000 }), {}, true],
    ['and one that is itself a retry', responded(503), { request: { lineage: 1 } }, true],
    ['and one with no endpoint left for a retry', responded(503), { at: { endpointAvailable: false } }, true],
    ['and one at the deadline', responded(503), { request: { deadlineAtMs: 0 } }, true],
    ['a success is the answer', responded(200), {}, false],
    ['a status that the policy does not name is the answer', responded(404), {}, false],
    ['a server error that the policy does not name is the answer', responded(501), {}, false],
    ['an error that is relayed is the answer', responded(503, { claim: 'relayed' }), {}, false],
    ['an error with the advice never to retry is the answer', responded(503, { advisedNever: true }), {}, false],
    ['a failure that would be retried is let pass', failed(), {}, true],
    ['so is one that the policy does not name', failed(), { policy: { on: [] } }, true],
    ['and one with which the attempts are used up', failed(), { policy: { maxRetries: 0 } }, true],
    ['the deadline ends all copies', failed({ kind: 'deadline_exceeded' }), {}, false],
    ['a client that left ends all copies', failed({ kind: 'downstream_closed', source: 'downstream' }), {}, false],
  ];
  for (const [name, outcome, changes, waits] of rows) {
    test(name, () => assert.equal(waitsForOtherCopy(outcome, decideOn(outcome, changes)), waits));
  }
});

test('one copy is sent unless more are asked for', () => {
  assert.deepEqual(createHedgePolicy({ delayMs: 100 }), { delayMs: 100, max: 1 });
  assert.deepEqual(createHedgePolicy({ delayMs: 1, max: 10 }), { delayMs: 1, max: 10 });
});

test('settings out of range are refused by name', () => {
  assert.throws(
    () => createHedgePolicy({ delayMs: 0 }),
    /hedge: delayMs is 0; give a whole number from 1 to 2147483647/,
  );
  assert.throws(() => createHedgePolicy({ delayMs: 1, max: 0 }), /hedge: max is 0; give a whole number from 1 to 10/);
  assert.throws(() => createHedgePolicy({ delayMs: 1, max: 11 }), /max is 11/);
});
