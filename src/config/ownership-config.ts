import type { OwnershipMode } from '../core/retry-policy.ts';

/** How the gateway takes part in error ownership. */
export interface OwnershipConfig {
  /** `enforce` obeys claims, `observe` counts what that would change, `off` does nothing. */
  readonly mode: OwnershipMode;
  /** Networks, addresses and names, checked: see `createTrust`. */
  readonly trust: readonly string[];
  /** What claims call this gateway; undefined: they name nothing. */
  readonly service: string | undefined;
  /** Kept for the way back of an answer, 0–60 000. */
  readonly marginMs: number;
  /** Whether `x-uber-error-claim` is written too. */
  readonly alias: boolean;
  /** In one of so many requests claims are not obeyed; 0: in none. */
  readonly probeEvery: number;
}

/** What is said of one upstream. */
export interface UpstreamOwnership {
  /** Whatever its addresses. */
  readonly trusted: boolean;
  /** Undefined: that of the gateway. */
  readonly mode: OwnershipMode | undefined;
  /** Of the path whose allowance `budget` holds; undefined: it holds that of this gateway alone. */
  readonly hops: number | undefined;
}
