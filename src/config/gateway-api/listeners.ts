import { isIP } from 'node:net';
import { readAddress } from '../address.ts';
import type { HostPort } from '../address.ts';
import { condition } from './condition.ts';
import type { HostPattern } from './hostnames.ts';
import type { Report } from './read-spec.ts';
import { readSpec } from './read-spec.ts';
import type { Resource } from './resource.ts';
import type { GatewaySpec, ListenerSpec } from './schema/gateway.ts';
import { gateway } from './schema/gateway.ts';
import { createRouteAdmission } from './route-admission.ts';

/** One listener of one Gateway: an entrance with a host name, one of several on its addresses. */
export interface GatewayListener {
  readonly gateway: Resource;
  readonly name: string;
  readonly hostname: HostPattern;
  readonly port: number;
  readonly addresses: readonly HostPort[];
  /** Whether routes of the namespace may attach. */
  admits(namespace: string): boolean;
}

const httpRouteKind = 'gateway.networking.k8s.io/HTTPRoute';

interface Candidate {
  readonly resource: Resource;
  readonly index: number;
  readonly spec: ListenerSpec;
  readonly addresses: readonly HostPort[];
}

/** The listeners that can be served; what keeps one from it is told as a condition. */
export function readListeners(resources: readonly Resource[], report: Report): readonly GatewayListener[] {
  const admission = createRouteAdmission(resources);
  const gateways = resources
    .filter(({ kind }) => kind === 'Gateway')
    .flatMap((resource) => {
      const read = readSpec(resource, gateway, report);
      return read === undefined ? [] : [{ resource, ...read }];
    });
  const candidates = gateways.flatMap(({ resource, spec }) => candidatesOf(resource, spec, report));
  const served: GatewayListener[] = [];
  for (const candidate of candidates) {
    const { resource, spec, addresses } = candidate;
    if (!isSound(candidate, candidates, report)) continue;
    served.push({
      gateway: resource,
      name: spec.name,
      hostname: spec.hostname,
      port: spec.port,
      addresses,
      admits: admission(resource.namespace, spec.allowedRoutes.namespaces),
    });
    const at = { section: `listener ${spec.name}` };
    report.conditions.push(
      condition(resource, 'Accepted', 'True', 'Accepted', at),
      condition(resource, 'Programmed', 'True', 'Programmed', at),
    );
  }
  for (const { resource, spec } of gateways) tellGateway(resource, spec, served, report);
  return served;
}

function candidatesOf(resource: Resource, { addresses, listeners }: GatewaySpec['spec'], report: Report): Candidate[] {
  const hosts: string[] = [];
  for (const [index, { type, value }] of (addresses ?? []).entries()) {
    if (type === 'IPAddress' && value !== undefined && isIP(value) !== 0) hosts.push(value.toLowerCase());
    else
      report.conditions.push(
        condition(resource, 'Accepted', 'False', 'UnsupportedAddress', {
          path: ['spec', 'addresses', index],
          message: 'only type IPAddress with an address of this machine is supported',
        }),
      );
  }
  if (hosts.length === 0 && (addresses ?? []).length > 0) return [];
  if (hosts.length === 0) hosts.push('0.0.0.0');
  return listeners.map((spec, index) => ({
    resource,
    index,
    spec,
    addresses: hosts.flatMap((host) => {
      const reading = readAddress(host.includes(':') ? `[${host}]:${spec.port}` : `${host}:${spec.port}`, 'listener');
      return reading.ok ? [reading.value] : [];
    }),
  }));
}

/** Tells why a listener cannot be served; of listeners that contradict each other, none can be. */
function isSound(candidate: Candidate, all: readonly Candidate[], report: Report): boolean {
  const { resource, index, spec } = candidate;
  const section = `listener ${spec.name}`;
  const at = (...path: string[]): (string | number)[] => ['spec', 'listeners', index, ...path];
  const refuse = (
    type: 'Accepted' | 'ResolvedRefs' | 'Conflicted',
    reason: string,
    field: string,
    message: string,
  ): false => {
    const status = type === 'Conflicted' ? 'True' : 'False';
    report.conditions.push(condition(resource, type, status, reason, { section, path: at(field), message }));
    return false;
  };
  const kinds = spec.allowedRoutes.kinds?.map(({ group, kind }) => `${group}/${kind}`);
  const strange = kinds?.filter((kind) => kind !== httpRouteKind) ?? [];
  if (strange.length > 0)
    refuse(
      'ResolvedRefs',
      'InvalidRouteKinds',
      'allowedRoutes',
      `${strange.join(', ')} is not supported: routes are HTTPRoutes`,
    );
  const others = all.filter((other) => other !== candidate && meets(candidate, other));
  const protocol = others.find((other) => other.spec.protocol !== spec.protocol && other.spec.port === spec.port);
  if (protocol !== undefined)
    return refuse(
      'Conflicted',
      'ProtocolConflict',
      'protocol',
      `${nameOf(protocol)} speaks ${protocol.spec.protocol} on the same port`,
    );
  if (spec.protocol !== 'HTTP')
    return refuse(
      'Accepted',
      'UnsupportedProtocol',
      'protocol',
      `${spec.protocol} is not supported: listeners speak HTTP`,
    );
  const twin = others.find((other) => other.spec.hostname === spec.hostname);
  if (twin !== undefined)
    return refuse(
      'Conflicted',
      'HostnameConflict',
      spec.hostname === undefined ? 'port' : 'hostname',
      `${nameOf(twin)} has the same address, port and hostname; Gateways of their own need spec.addresses of their own`,
    );
  const shadow = all.find((other) => other !== candidate && other.resource !== resource && overlaps(candidate, other));
  if (shadow !== undefined)
    return refuse('Accepted', 'PortUnavailable', 'port', `${nameOf(shadow)} listens on every address of this port`);
  return kinds === undefined || kinds.includes(httpRouteKind);
}

/** They share an address and port. */
function meets(a: Candidate, b: Candidate): boolean {
  return a.addresses.some(({ key }) => b.addresses.some((other) => other.key === key));
}

/** `b` listens on every address of the port; `a` on one of them, which cannot be opened then. */
function overlaps(a: Candidate, b: Candidate): boolean {
  const isAny = ({ host }: HostPort): boolean => host === '0.0.0.0' || host === '::';
  return a.spec.port === b.spec.port && !a.addresses.some(isAny) && b.addresses.some(isAny);
}

function nameOf({ resource: { namespace, name }, spec }: Candidate): string {
  return `listener ${spec.name} of Gateway ${namespace}/${name}`;
}

function tellGateway(
  resource: Resource,
  { listeners }: GatewaySpec['spec'],
  served: readonly GatewayListener[],
  report: Report,
): void {
  const servedCount = served.filter((listener) => listener.gateway === resource).length;
  if (servedCount === 0) {
    const message = 'none of its listeners can be served';
    report.conditions.push(
      condition(resource, 'Accepted', 'False', 'ListenersNotValid', { path: ['spec', 'listeners'], message }),
      condition(resource, 'Programmed', 'False', 'Invalid', { path: ['spec', 'listeners'], message }),
    );
    return;
  }
  const reason = servedCount === listeners.length ? 'Accepted' : 'ListenersNotValid';
  report.conditions.push(
    condition(resource, 'Accepted', 'True', reason),
    condition(resource, 'Programmed', 'True', 'Programmed'),
  );
}
