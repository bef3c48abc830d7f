import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withClaim } from '../../../src/core/ownership/claimed-facts.ts';
import { CLAIM_REASONS, RETRY_ADVICES, type ErrorClaim } from '../../../src/core/ownership/error-claim.ts';
import type { OwnershipMode } from '../../../src/core/retry-policy.ts';
import { decideOn, verdict } from '../fixtures.ts';

const PLAIN: ErrorClaim = {
  claim: 'owned',
  why: undefined,
  retry: undefined,
  kept: false,
  effect: undefined,
  hops: undefined,
};

function decided(claim: Partial<ErrorClaim> | undefined, mode: OwnershipMode, elsewhere = false): string {
  const response = withClaim({ status: 503 }, claim === undefined ? undefined : { ...PLAIN, ...claim }, mode);
  const at = { otherEndpointAvailable: elsewhere };
  return verdict(decideOn({ type: 'response', response }, { policy: { ownership: mode }, at }));
}

for (const [name, claim, enforced] of [
  ['no claim', undefined, 'retry'],
  ['an owned error', {}, 'retry'],
  ['an error whose retry was kept for the caller', { kept: true }, 'retry'],
  ['a relayed error', { claim: 'relayed' }, 'not-owner+'],
  ['an owned error never to retry', { retry: 'never' }, 'advised-never+'],
  ['an owned error to retry elsewhere, with nowhere else', { retry: 'other' }, 'no-endpoint+'],
  ['an owned error to retry after a while', { retry: 'after' }, 'retry'],
] as const) {
  test(`${name} leads to ${enforced} where claims are enforced, and to a retry elsewhere`, () => {
    assert.equal(decided(claim, 'enforce'), enforced);
    assert.equal(decided(claim, 'observe'), 'retry');
    assert.equal(decided(claim, 'off'), 'retry');
  });
}

test('an owned error to retry elsewhere is retried where there is another endpoint', () => {
  assert.equal(decided({ retry: 'other' }, 'enforce', true), 'retry');
});

test('an observed claim can be counted, one with ownership off cannot', () => {
  assert.equal(withClaim({ status: 503 }, { ...PLAIN, claim: 'relayed' }, 'observe').claim, 'relayed');
  assert.equal(withClaim({ status: 503 }, { ...PLAIN, claim: 'relayed' }, 'off').claim, undefined);
});

test('advice that came another way stands beside a claim that has none', () => {
  const facts = { status: 503, advisedNever: true, advisedOther: true, retryAfterMs: 5 };
  assert.deepEqual(withClaim(facts, PLAIN, 'enforce'), { ...facts, claim: 'owned' });
});

test('no claim in any mode turns a stop into a retry, or makes a retry come earlier', () => {
  const claims: fc.Arbitrary<ErrorClaim> = fc.record({
    claim: fc.constantFrom('owned', 'relayed'),
    why: fc.option(fc.constantFrom(...CLAIM_REASONS), { nil: undefined }),
    retry: fc.option(fc.constantFrom(...RETRY_ADVICES), { nil: undefined }),
    kept: fc.boolean(),
    effect: fc.constantFrom(undefined, 'maybe' as const),
    hops: fc.option(fc.nat(99), { nil: undefined }),
  });
  fc.assert(
    fc.property(
      claims,
      fc.constantFrom('off' as const, 'observe' as const, 'enforce' as const),
      fc.constantFrom(400, 404, 408, 425, 429, 500, 503),
      fc.record({ codes: fc.subarray([404, 429, 500, 503]), maxRetries: fc.nat(3), retryOfRetry: fc.boolean() }),
      fc.record({ method: fc.constantFrom('GET', 'POST'), keyed: fc.boolean(), lineage: fc.nat(1) }),
      fc.record({ otherEndpointAvailable: fc.boolean(), permitAvailable: fc.boolean() }),
      fc.record({ countedRetryCount: fc.nat(3), budgetAvailable: fc.boolean() }),
      (claim, ownership, status, options, request, at, input) => {
        const changes = { policy: { ...options, ownership }, request, at, ...input };
        const facts = { status };
        const without = decideOn({ type: 'response', response: facts }, changes);
        const response = withClaim(facts, claim, ownership);
        const decision = decideOn({ type: 'response', response }, changes);
        if (decision.type === 'retry') assert.deepEqual(decision, without);
      },
    ),
    { numRuns: 500 },
  );
});
