import type { EndpointCooldown } from '../core/endpoint-cooldown.ts';
import { createEndpointCooldown } from '../core/endpoint-cooldown.ts';
import type { EndpointView } from '../core/pick-endpoint.ts';
import type { EndpointAddress } from '../transport/transport.ts';

export interface EndpointOptions {
  readonly address: EndpointAddress;
  /** Share of traffic relative to the others of its priority, 0–1000; 0 takes none. Default 1. */
  readonly weight?: number | undefined;
  /** Tier, 0 first; a higher one is used only while no lower one can be picked. Default 0. */
  readonly priority?: number | undefined;
}

/** One address of an upstream and its live state. */
export interface Endpoint extends EndpointView {
  readonly address: EndpointAddress;
  /** Attempts in flight, until the body of the response ended. */
  inflight: number;
  excluded: boolean;
  /** Whether it could be connected to lately. */
  readonly cooldown: EndpointCooldown;
}

export function createEndpoint(options: EndpointOptions): Endpoint {
  return {
    address: options.address,
    weight: options.weight ?? 1,
    priority: options.priority ?? 0,
    inflight: 0,
    available: true,
    excluded: false,
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
