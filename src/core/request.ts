/** What is known of a logical request before its first send. */
export interface RequestFacts {
  readonly method: string;
  /** It carries an Idempotency-Key. */
  readonly keyed: boolean;
  /** What its sender says about doing it twice, whatever its method; `undefined` where nothing was said. */
  readonly repeatable?: boolean | undefined;
  /** Retries made above this request (Request-Attempt lineage); ≥ 1 means that it is itself a retry. */
  readonly lineage: number;
  /** Instant of the overall deadline on the host's monotonic clock; `Infinity` for none. */
  readonly deadlineAtMs: number;
  /**
   * Whether the callee is told how much time is left. `false`: it is not, so that a request that timed out is retried once
   * at most. `undefined` where the host takes no part in that.
   */
  readonly deadlinePassedOn?: boolean | undefined;
}

/** The state of the world at the moment of a decision. Plain booleans, so that the decision stays pure. */
export interface Circumstances {
  /** The request body can be sent again from its first byte (or there is none). */
  readonly bodyReplayable: boolean;
  /** A body byte or a 101 was sent downstream. */
  readonly committed: boolean;
  readonly downstreamGone: boolean;
  /** At least one endpoint could be picked for another attempt. */
  readonly endpointAvailable: boolean;
  /** An endpoint that this request has not tried yet could be picked. */
  readonly otherEndpointAvailable: boolean;
  /** The circuit breaker would grant a permit. */
  readonly permitAvailable: boolean;
}
