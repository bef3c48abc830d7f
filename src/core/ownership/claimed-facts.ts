import type { ResponseFacts } from '../outcome.ts';
import type { OwnershipMode } from '../retry-policy.ts';
import type { ErrorClaim } from './error-claim.ts';

/**
 * Adds what the callee claims about its error to the facts that a caller decides by. Under `observe` the claim is there to
 * be counted and its advice is not, for advice is obeyed in every mode; under `off` neither is.
 */
export function withClaim(facts: ResponseFacts, claim: ErrorClaim | undefined, mode: OwnershipMode): ResponseFacts {
  if (claim === undefined || mode === 'off') return facts;
  if (mode === 'observe') return { ...facts, claim: claim.claim };
  return {
    ...facts,
    claim: claim.claim,
    advisedNever: facts.advisedNever === true || claim.retry === 'never',
    advisedOther: facts.advisedOther === true || claim.retry === 'other',
  };
}
