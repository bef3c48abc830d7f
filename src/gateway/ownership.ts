import { defaults } from '../config/defaults.ts';
import type { GatewayConfig, RouteConfig, UpstreamConfig } from '../config/gateway-config.ts';
import { createTrust } from '../config/trust.ts';
import type { OwnershipMode } from '../core/retry-policy.ts';
import type { ClientPeer } from '../proxy/client-peer.ts';
import type { OwnershipRules } from '../proxy/ownership-rules.ts';

/** How certificates say that a name is theirs. */
const DNS_NAME = 'DNS:';

/** How claims are taken where a route meets an upstream: the nearest word holds. */
export function ownershipMode(config: GatewayConfig, route: RouteConfig, upstream: UpstreamConfig): OwnershipMode {
  return route.ownershipMode ?? upstream.ownership?.mode ?? config.ownership?.mode ?? defaults.ownership.mode;
}

/** With whom errors take part that no upstream has a part in: those of a route's own, or of no route at all. */
export function rulesOfOwnAnswers(
  config: GatewayConfig,
  rules: OwnershipRules | undefined,
  route?: RouteConfig,
): OwnershipRules | undefined {
  const mode = route?.ownershipMode ?? config.ownership?.mode ?? defaults.ownership.mode;
  return mode === 'off' ? undefined : rules;
}

/**
 * Whom a gateway believes, one answer for all of its routes. `undefined` where its file says nothing of that: nobody.
 * @throws RangeError for a peer that did not come from `parseConfig`
 */
export function createOwnershipRules({ ownership, upstreams }: GatewayConfig): OwnershipRules | undefined {
  const trusted = new Set(upstreams.filter((one) => one.ownership?.trusted === true).map(({ name }) => name));
  if (ownership === undefined && trusted.size === 0) return undefined;
  const trust = createTrust(ownership?.trust ?? []);
  const hasCertificate = ({ clientCertificate }: ClientPeer): boolean =>
    clientCertificate?.subjectAltNames.some(
      (name) => name.startsWith(DNS_NAME) && trust.hasName(name.slice(DNS_NAME.length)),
    ) === true;
  return {
    trustsCaller: (peer) => trust.any && (trust.hasAddress(peer.remoteAddress) || hasCertificate(peer)),
    trustsCallee: (upstream, { host, name }) =>
      trusted.has(upstream) || (trust.any && (trust.hasAddress(host) || trust.hasName(name ?? host))),
    service: ownership?.service,
    marginMs: ownership?.marginMs,
    alias: ownership?.alias,
    probeEvery: ownership?.probeEvery,
  };
}
