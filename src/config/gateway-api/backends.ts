import { readAddress } from '../address.ts';
import type { BudgetConfig, EndpointSettings, UpstreamConfig } from '../gateway-config.ts';
import type { Report } from './read-spec.ts';
import { readSpec } from './read-spec.ts';
import type { Resource } from './resource.ts';
import type { EndpointSliceSpec, ServicePort, ServiceSpec } from './schema/cluster.ts';
import { endpointSlice, service } from './schema/cluster.ts';
import type { Templates } from './templates.ts';
import type { BackendObject } from './schema/filter.ts';
import { createGrants } from './grants.ts';
import { readBudgets } from './budgets.ts';

/** What a reference to a backend leads to. */
export type Backend =
  | { readonly type: 'upstream'; readonly upstream: string }
  /** The Service is there; nothing of it can serve now. */
  | { readonly type: 'no-endpoint'; readonly message: string }
  | {
      readonly type: 'invalid';
      readonly reason:
        | 'BackendNotFound'
        | 'RefNotPermitted'
        | 'InvalidKind'
        | 'UnsupportedProtocol'
        | 'UnsupportedValue';
      readonly message: string;
    };

/** Finds the backends of references, and keeps the upstreams that are used. */
export interface Backends {
  /** @param use Copies of requests go over connections of their own, so that they can take none from real requests. */
  resolve(from: Resource, reference: BackendObject, use?: 'mirror'): Backend;
  /** One for each Service port that something refers to. */
  readonly upstreams: readonly UpstreamConfig[];
}

/** Copies of requests under way to one Service port; those above it are dropped. */
const maxCopies = 100;

interface KnownService {
  readonly resource: Resource;
  readonly spec: ServiceSpec['spec'];
}

export function createBackends(resources: readonly Resource[], templates: Templates, report: Report): Backends {
  const services = new Map<string, KnownService>();
  const slices = new Map<string, EndpointSliceSpec[]>();
  for (const resource of resources) {
    if (resource.kind === 'Service') {
      const read = readSpec(resource, service, report);
      if (read !== undefined) services.set(`${resource.namespace}/${resource.name}`, { resource, spec: read.spec });
    } else if (resource.kind === 'EndpointSlice') {
      const read = readSpec(resource, endpointSlice, report);
      const owner = resource.labels.get('kubernetes.io/service-name');
      if (read === undefined || owner === undefined) continue;
      const key = `${resource.namespace}/${owner}`;
      slices.set(key, [...(slices.get(key) ?? []), read]);
    }
  }
  const permits = createGrants(resources, report);
  const budgets = readBudgets(resources, new Set(services.keys()), report);
  const upstreams = new Map<string, UpstreamConfig>();

  return {
    get upstreams() {
      return [...upstreams.values()];
    },
    resolve(from, { group, kind, namespace = from.namespace, name, port }, use) {
      if (group !== '' || kind !== 'Service')
        return invalid(
          'InvalidKind',
          `${group === '' ? 'core' : group}/${kind} is not supported: backends are Services`,
        );
      const key = `${namespace}/${name}`;
      if (namespace !== from.namespace && !permits(from, { namespace, name }))
        return invalid(
          'RefNotPermitted',
          `Service ${key} is in another namespace and no ReferenceGrant there allows it`,
        );
      const found = services.get(key);
      if (found === undefined) return invalid('BackendNotFound', `there is no Service ${key} in the folder`);
      if (found.spec.type === 'ExternalName')
        return invalid(
          'UnsupportedValue',
          `Service ${key} is of type ExternalName, which could lead anywhere: it is not supported`,
        );
      if (port === undefined) return invalid('UnsupportedValue', 'has no port: give the port of the Service');
      const servicePort = found.spec.ports.find((one) => one.port === port && (one.protocol ?? 'TCP') === 'TCP');
      if (servicePort === undefined) return invalid('BackendNotFound', `Service ${key} has no TCP port ${port}`);
      const { appProtocol } = servicePort;
      if (appProtocol !== undefined && appProtocol !== null && appProtocol !== 'http')
        return invalid(
          'UnsupportedProtocol',
          `port ${port} of Service ${key} speaks ${appProtocol}: only http is supported`,
        );
      const addresses = endpointsOf(slices.get(key) ?? [], servicePort);
      if (addresses.length === 0)
        return { type: 'no-endpoint', message: `Service ${key} has no ready endpoint for port ${port}` };
      const upstream = use === undefined ? `${key}:${port}` : `${key}:${port} (${use})`;
      if (!upstreams.has(upstream))
        upstreams.set(upstream, {
          ...upstreamConfig(upstream, addresses, budgets.get(key), templates),
          ...(use === undefined ? {} : { maxInflightRequests: maxCopies }),
        });
      return { type: 'upstream', upstream };
    },
  };
}

function invalid(reason: (Backend & { type: 'invalid' })['reason'], message: string): Backend {
  return { type: 'invalid', reason, message };
}

/** GEP-3388: a Service with a retry constraint answers 503 when its budget refuses a retry. */
function upstreamConfig(
  name: string,
  addresses: readonly EndpointSettings['address'][],
  budget: BudgetConfig | undefined,
  { upstream }: Templates,
): UpstreamConfig {
  return {
    ...upstream,
    name,
    endpoints: addresses.map((address) => ({ ...upstream.endpoints[0]!, address })),
    ...(budget === undefined ? {} : { budget, onExhausted: '503' as const }),
  };
}

/** Ready endpoints; when there is none, those that still serve while they end, as kube-proxy does. */
function endpointsOf(slices: readonly EndpointSliceSpec[], port: ServicePort): EndpointSettings['address'][] {
  const ready = addressesOf(slices, port, ({ ready: isReady }) => isReady !== false);
  if (ready.length > 0) return ready;
  return addressesOf(slices, port, ({ serving, terminating }) => serving === true && terminating === true);
}

function addressesOf(
  slices: readonly EndpointSliceSpec[],
  servicePort: ServicePort,
  takes: (conditions: EndpointSliceSpec['endpoints'][number]['conditions']) => boolean,
): EndpointSettings['address'][] {
  const found = new Map<string, EndpointSettings['address']>();
  for (const { addressType, endpoints, ports } of slices) {
    const port = targetPort(ports, servicePort);
    if (port === undefined) continue;
    for (const { addresses, conditions } of endpoints) {
      if (!takes(conditions)) continue;
      for (const host of addresses) {
        const reading = readAddress(addressType === 'IPv6' ? `[${host}]:${port}` : `${host}:${port}`, 'endpoint');
        if (reading.ok) found.set(reading.value.key, reading.value);
      }
    }
  }
  return [...found.values()];
}

/** A slice names its ports as the Service does; one that names none leaves it to the Service. */
function targetPort(
  ports: EndpointSliceSpec['ports'],
  { name, targetPort: target, port }: ServicePort,
): number | undefined {
  if (ports.length === 0) return typeof target === 'string' ? undefined : (target ?? port);
  const own = ports.find((one) => (one.name ?? '') === (name ?? ''));
  return own === undefined ? undefined : (own.port ?? undefined);
}
