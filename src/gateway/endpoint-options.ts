import { isIP } from 'node:net';
import type { HostPort } from '../config/address.ts';
import type { DnsEndpointSettings, EndpointSettings } from '../config/gateway-config.ts';
import type { EndpointOptions } from '../engine/endpoint.ts';

/** An endpoint with a fixed address. */
export function endpointOptions(
  { address, weight, priority, domain }: EndpointSettings,
  encrypted: boolean,
): EndpointOptions {
  return { address, authority: authorityOf(address, encrypted), weight, priority, domain };
}

/** The endpoints that a name stands for, each with the name's own settings. */
export function nameOptions(
  settings: DnsEndpointSettings,
  addresses: readonly string[],
  encrypted: boolean,
): EndpointOptions[] {
  const { name, weight, priority, domain } = settings;
  return addresses.map((host) => ({
    address: {
      host,
      port: name.port,
      key: isIP(host) === 6 ? `[${host}]:${name.port}` : `${host}:${name.port}`,
      name: name.host,
    },
    authority: authorityOf(name, encrypted),
    weight,
    priority,
    domain,
  }));
}

/** RFC 9110 §4.2.3: the default port is left out; some servers know themselves by no other name. */
function authorityOf({ key, port }: HostPort, encrypted: boolean): string {
  return port === (encrypted ? 443 : 80) ? key.slice(0, key.lastIndexOf(':')) : key;
}
