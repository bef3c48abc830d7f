import { classifyOutcome } from '../classify.ts';
import type { Outcome } from '../outcome.ts';
import type { RequestSession } from '../request-session.ts';
import { mightRunTwice, safetyOf } from '../safety.ts';
import type { ErrorClaim } from './error-claim.ts';
import type { OutboundEnding } from './outbound.ts';

/**
 * What a call through a session of ours left behind for the attribution.
 * @param outcome that of its last attempt
 * @param claim what the callee said with it
 */
export function outboundEnding(
  session: RequestSession,
  outcome: Outcome,
  claim: ErrorClaim | undefined,
  atMs: number,
): OutboundEnding {
  return {
    atMs,
    outcomeClass: classifyOutcome(outcome),
    claim,
    handled: session.handled,
    effect: mightRunTwice(safetyOf(outcome), session.facts) ? 'maybe' : undefined,
  };
}
