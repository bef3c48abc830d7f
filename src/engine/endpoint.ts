import type { EndpointCooldown } from '../core/endpoint-cooldown.ts';
import { createEndpointCooldown } from '../core/endpoint-cooldown.ts';
import { hashText } from '../core/hash.ts';
import type { EndpointView } from '../core/load-balancing.ts';
import type { Outlier } from '../core/outlier-detection.ts';
import type { EndpointAddress } from '../transport/transport.ts';

/** One endpoint of an upstream, as it is configured. */
export interface EndpointOptions {
  /** See `parseAddress`. */
  readonly address: EndpointAddress;
  /** What the server calls itself in `Host`: the name that the address came from. Default: the address's key. */
  readonly authority?: string | undefined;
  /** Share of traffic relative to the others of its priority, 0–1000; 0 takes none. Default 1. */
  readonly weight?: number | undefined;
  /** Tier, 0 first; a higher one is used only while no lower one can be picked. Default 0. */
  readonly priority?: number | undefined;
  /** What it fails together with: a zone, a rack. Default: not known. */
  readonly domain?: string | undefined;
}

/** Why an endpoint gets no traffic, apart from what its attempts said. Both are verdicts from outside. */
export interface EndpointVerdicts {
  /** False while active health checks fail. Default true. */
  readonly healthy?: boolean;
  /** True when an operator took it out. Default false. */
  readonly drained?: boolean;
}

/** One address of an upstream and its live state. */
export interface Endpoint extends EndpointView {
  /** Where it is. */
  readonly address: EndpointAddress;
  /** What a Host field names it. */
  authority: string;
  /** Share of the choice; 0 takes nothing. */
  weight: number;
  /** Lower ones are used first. */
  priority: number;
  /** The failure domain it is in. */
  domain: string | undefined;
  /** Attempts in flight, until the body of the response ended. */
  inflight: number;
  /** Kept by the upstream from what follows: healthy, neither drained nor ejected, or in a panic not drained. */
  available: boolean;
  /** Ejected for its failures. */
  excluded: boolean;
  /** By its health checks. */
  healthy: boolean;
  /** Taken out by hand. */
  drained: boolean;
  /** It failed too often and is out for a while: see `outlier`. */
  ejected: boolean;
  /** What its attempts said lately; `undefined` where nobody counts. */
  outlier: Outlier | undefined;
  /** Whether it could be connected to lately. */
  readonly cooldown: EndpointCooldown;
}

export function createEndpoint(options: EndpointOptions): Endpoint {
  return {
    address: options.address,
    authority: options.authority ?? options.address.key,
    weight: options.weight ?? 1,
    priority: options.priority ?? 0,
    domain: options.domain,
    hash: hashText(options.address.key),
    inflight: 0,
    available: true,
    excluded: false,
    healthy: true,
    drained: false,
    ejected: false,
    outlier: undefined,
    cooldown: createEndpointCooldown(),
  };
}

/**
 * Reads `host:port` (`[::1]:8080` for IPv6).
 * @throws RangeError when it is not one
 */
export function parseAddress(text: string): EndpointAddress {
  const match = /^(?:\[([0-9A-Fa-f:.%]+)\]|([^\s:[\]/@]+)):(\d{1,5})$/.exec(text);
  const port = match === null ? -1 : Number(match[3]);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined || port < 1 || port > 65_535) {
    throw new RangeError(`"${text}" is not an endpoint address: write host:port, such as 127.0.0.1:9001 or [::1]:9001`);
  }
  return { host, port, key: text };
}
