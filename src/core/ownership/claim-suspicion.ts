import type { ErrorClaim } from './error-claim.ts';

/**
 * Why a claim is likely to be wrong, seen from the claim alone.
 * - `contradictory`: it says two things that no service can mean together.
 * - `doubted`: it is owned without a reason, and with `hops=0`: the callee itself fears that it lost the context of the request.
 */
export type ClaimSuspicion = 'contradictory' | 'doubted';

/**
 * Whether a claim cannot be right, whatever happened at the callee. A service relays only what a call of its own failed
 * with, so that the failure is one hop below it at least, and not local to it; what it keeps for its caller it owns, and
 * it came from below as well; what came from below and was not handled is kept.
 *
 * A claim that says less than ours do (an older peer's, the alias) contradicts nothing.
 */
export function suspicionOf({ claim, hops, kept, why }: ErrorClaim): ClaimSuspicion | undefined {
  const contradicts =
    claim === 'relayed' ? hops === 0 || kept || why === 'local' : hops !== undefined && hops > 0 !== kept;
  if (contradicts) return 'contradictory';
  return claim === 'owned' && hops === 0 && why === undefined ? 'doubted' : undefined;
}
