import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLAIM_REASONS, MAX_HOP_COUNT, RETRY_ADVICES } from '../../../src/core/ownership/error-claim.ts';

// The words are a protocol between releases: none may change its spelling.
test('the words of a claim are these', () => {
  assert.equal(CLAIM_REASONS.join(' '), 'local dependency overload quota timeout unsent breaker shed stream');
  assert.equal(RETRY_ADVICES.join(' '), 'never other after');
  assert.equal(MAX_HOP_COUNT, 99);
});
