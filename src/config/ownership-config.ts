import type { OwnershipMode } from '../core/retry-policy.ts';

/** How the gateway takes part in error ownership. */
export interface OwnershipConfig {
  readonly mode: OwnershipMode;
  /** Networks, addresses and names, checked: see `createTrust`. */
  readonly trust: readonly string[];
  readonly service: string | undefined;
  readonly marginMs: number;
  readonly alias: boolean;
  /** 0: never. */
  readonly probeEvery: number;
}

/** What is said of one upstream. */
export interface UpstreamOwnership {
  readonly trusted: boolean;
  readonly mode: OwnershipMode | undefined;
  /** Of the path whose allowance `budget` holds; undefined: it holds that of this gateway alone. */
  readonly hops: number | undefined;
}
