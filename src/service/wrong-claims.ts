/** Claims that a caller has a reason to doubt, by the reason. */
export interface WrongClaims {
  /** They say two things that no service can mean together: see `suspicionOf`. */
  readonly contradictory: number;
  /** Errors owned without a reason, and with `hops=0`: the callee itself fears that it lost the context of the request. */
  readonly doubted: number;
  /** Calls that succeeded when they were repeated although the callee had relayed its error. It may have been fortune. */
  readonly retryHelped: number;
}
