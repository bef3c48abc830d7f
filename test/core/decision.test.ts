import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRetrySuppressed, type StopReason } from '../../src/core/decision.ts';

const SUPPRESSED: Readonly<Record<StopReason, boolean>> = {
  success: false,
  'not-retryable': false,
  'not-idempotent': false,
  'body-not-replayable': false,
  committed: false,
  'not-owner': true,
  'advised-never': true,
  'attempts-exhausted': false,
  deadline: true,
  'retry-after-too-long': true,
  'circuit-open': true,
  'no-endpoint': true,
  'retry-of-retry': true,
  'budget-exhausted': true,
  'downstream-gone': false,
};

for (const [reason, isSuppressed] of Object.entries(SUPPRESSED)) {
  test(`${reason} ${isSuppressed ? 'takes a retry away' : 'takes no retry away that the policy would have made'}`, () => {
    assert.equal(isRetrySuppressed(reason as StopReason), isSuppressed);
  });
}
