/**
 * How a service takes part in ownership.
 * - `cooperating`: it obeys claims and relates its answer to the calls that it made for it.
 * - `context-broken`: it obeys claims, but does not know which calls belong to which request, so that it owns every error.
 * - `legacy`: it neither reads nor writes claims.
 */
export type Participation = 'cooperating' | 'context-broken' | 'legacy';

export interface CallNode {
  /** A service or one of its operations; each name once. */
  readonly name: string;
  readonly participation: Participation;
}

/** `from` calls `to` in order to answer. */
export interface CallEdge {
  readonly from: string;
  readonly to: string;
  /** Sends beyond the first that its policy allows, a whole number ≥ 0; 0 where it has none. */
  readonly maxRetries: number;
  /** Retries for each call that its budget lets through in the long run, ≥ 0. Left out: all that the policy allows. */
  readonly retryShare?: number;
}

export interface CallGraph {
  readonly nodes: readonly CallNode[];
  readonly edges: readonly CallEdge[];
}
