import type { ErrorClaim } from '../core/ownership/error-claim.ts';

/** Claims that a caller has a reason to doubt, by the reason. */
export interface WrongClaims {
  /** They say two things that no service can mean together: see `suspicionOf`. */
  readonly contradictory: number;
  /** Errors owned without a reason, and with `hops=0`: the callee itself fears that it lost the context of the request. */
  readonly doubted: number;
  /** Calls that succeeded when they were repeated although the callee had relayed its error. It may have been fortune. */
  readonly retryHelped: number;
}

/**
 * Whether a claim cannot be right, whatever happened at the callee. A service relays only what a call of its own failed
 * with, so that the failure is one hop below it at least, and not local to it; what it keeps for its caller it owns, and
 * it came from below as well; what came from below and was not handled is kept.
 *
 * A claim that says less than ours do (an older peer's, the alias) contradicts nothing.
 */
export function suspicionOf({ claim, hops, kept, why }: ErrorClaim): 'contradictory' | 'doubted' | undefined {
  const contradicts =
    claim === 'relayed' ? hops === 0 || kept || why === 'local' : hops !== undefined && hops > 0 !== kept;
  if (contradicts) return 'contradictory';
  return claim === 'owned' && hops === 0 && why === undefined ? 'doubted' : undefined;
}
