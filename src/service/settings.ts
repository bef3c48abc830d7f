import type { EdgeClass } from '../core/ownership/outbound.ts';
import type { OwnershipMode } from '../core/retry-policy.ts';

/** What is known for sure of one edge, and how it takes part. */
export interface EdgeSettings {
  /** The inbound operation, `POST /orders`; `undefined` for all of them. */
  readonly from?: string | undefined;
  /** The operation that is called, `GET payments:8080/charge`, or the beginning of it with a `*` at the end. */
  readonly to: string;
  /** Whether the service fails when this call does. Default: learned. */
  readonly class?: Exclude<EdgeClass, 'unknown'> | undefined;
  /** Default: that of the service. */
  readonly mode?: OwnershipMode | undefined;
}

export interface ServiceSettings {
  /** `enforce` obeys claims, `observe` counts what that would have changed, `off` does nothing at all. Default `enforce`. */
  readonly mode: OwnershipMode;
  /**
   * Whose claims are read, and who is told ours: networks (`10.0.0.0/8`), addresses, and for callees also names
   * (`payments`, `*.svc.cluster.local`). Default nobody: not even a private address says who is there.
   */
  readonly trust: readonly string[];
  /** Whether a failed call of which it is not known if the service needs it is taken for the cause. Default true. */
  readonly blameUnknown: boolean;
  /** Milliseconds kept for an answer's way back, 0–60 000. Default 5. */
  readonly marginMs: number;
  /** Whether a request that cannot be answered in time is refused before the application sees it. Default true. */
  readonly refuseExpired: boolean;
  /** Whether `x-uber-error-claim` is written too. Default false. */
  readonly alias: boolean;
  /** One in so many suppressed retries is let through, to see whether it would have helped; 0 for none. Default 0. */
  readonly probeEvery: number;
  /** Where what was learned is kept between processes; `undefined` for nowhere. */
  readonly memoryFile: string | undefined;
  /** Milliseconds between two writes of it, 1000–86 400 000. Default 60 000. */
  readonly saveEveryMs: number;
  /** Whether an OpenTelemetry that the application registers is given all that is counted. Default true. */
  readonly openTelemetry: boolean;
  readonly edges: readonly EdgeSettings[];
}

export type ServiceOptions = { readonly [Name in keyof ServiceSettings]?: ServiceSettings[Name] | undefined };

export const DEFAULT_SERVICE_SETTINGS: ServiceSettings = {
  mode: 'enforce',
  trust: [],
  blameUnknown: true,
  marginMs: 5,
  refuseExpired: true,
  alias: false,
  probeEvery: 0,
  memoryFile: undefined,
  saveEveryMs: 60_000,
  openTelemetry: true,
  edges: [],
};

export function withDefaults(options: ServiceOptions): ServiceSettings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return { ...DEFAULT_SERVICE_SETTINGS, ...given };
}
