import type { TestContext } from 'node:test';
import { formatFault } from '../../src/config/fault.ts';
import { formatCondition, isTrouble } from '../../src/config/gateway-api/condition.ts';
import type { GatewayApiReading } from '../../src/config/gateway-api/gateway-api.ts';
import { parseGatewayApi } from '../../src/config/gateway-api/gateway-api.ts';
import type { GatewayConfig, RouteConfig } from '../../src/config/gateway-config.ts';
import { createRouter } from '../../src/gateway/router.ts';
import type { RunningGateway } from '../support/running-gateway.ts';
import { serveConfig } from '../support/running-gateway.ts';

/** A resource of the group and version that the kind is at home in. */
export function resource(kind: string, name: string, rest: object, metadata: object = {}): object {
  return { apiVersion: versions[kind], kind, metadata: { name, ...metadata }, ...rest };
}

const versions: Readonly<Record<string, string>> = {
  Gateway: 'gateway.networking.k8s.io/v1',
  HTTPRoute: 'gateway.networking.k8s.io/v1',
  ReferenceGrant: 'gateway.networking.k8s.io/v1beta1',
  BackendTrafficPolicy: 'gateway.networking.k8s.io/v1alpha2',
  XBackendTrafficPolicy: 'gateway.networking.x-k8s.io/v1alpha1',
  Service: 'v1',
  Namespace: 'v1',
  EndpointSlice: 'discovery.k8s.io/v1',
};

/** A Gateway on port 8080, or with the listeners given. */
export function gateway(listeners: readonly object[] = [{}], name: string = 'edge', metadata: object = {}): object {
  const filled = listeners.map((one, index) => ({ name: `l${index}`, port: 8080, protocol: 'HTTP', ...one }));
  return resource('Gateway', name, { spec: { gatewayClassName: 'mulligan', listeners: filled } }, metadata);
}

/** A route at the Gateway `edge`, with one rule to the Service `main` where nothing else is said. */
export function route(
  rules: readonly object[],
  spec: object = {},
  name: string = 'main',
  metadata: object = {},
): object {
  const filled = rules.map((rule) => ({
    ...('backendRefs' in rule || 'filters' in rule ? {} : { backendRefs: [{ name: 'main', port: 80 }] }),
    ...rule,
  }));
  return resource('HTTPRoute', name, { spec: { parentRefs: [{ name: 'edge' }], rules: filled, ...spec } }, metadata);
}

/** A Service with one port 80 and the addresses (`127.0.0.1:9001`) behind it. */
export function service(name: string, addresses: readonly string[], metadata: object = {}): object[] {
  const { namespace } = metadata as { namespace?: string };
  const slices = addresses.map((address, index) => {
    const at = address.lastIndexOf(':');
    return resource(
      'EndpointSlice',
      `${name}-${index}`,
      {
        addressType: 'IPv4',
        ports: [{ name: 'http', port: Number(address.slice(at + 1)) }],
        endpoints: [{ addresses: [address.slice(0, at)], conditions: { ready: true } }],
      },
      { ...(namespace === undefined ? {} : { namespace }), labels: { 'kubernetes.io/service-name': name } },
    );
  });
  return [
    resource('Service', name, { spec: { ports: [{ name: 'http', port: 80, targetPort: 'http' }] } }, metadata),
    ...slices,
  ];
}

/** The resources as one file, one document each; JSON is YAML. */
export function manifest(resources: readonly object[]): string {
  return resources.map((one) => JSON.stringify(one)).join('\n---\n');
}

export function read(...resources: readonly object[]): GatewayApiReading {
  return parseGatewayApi([{ name: 'all.yaml', text: manifest(resources) }]);
}

/** Everything that is told as not in effect, without its place. */
export function troubles({ conditions, faults }: GatewayApiReading): string[] {
  return [...faults.map(formatFault), ...conditions.filter(isTrouble).map(formatCondition)].map((line) =>
    line.replace(/^[^ ]+ /, ''),
  );
}

export function configOf(reading: GatewayApiReading): GatewayConfig {
  if (reading.config === undefined) throw new Error(`no usable Gateway:\n${troubles(reading).join('\n')}`);
  return reading.config;
}

/** Says which route takes a request: `namespace/name/rule`. */
export function nameRoutes(
  reading: GatewayApiReading,
): (request: string, fields?: readonly string[], port?: number) => string {
  const router = createRouter(configOf(reading).routes.map((one) => ({ route: one, target: nameOf(one) })));
  return (request, fields = [], port = 8080) => {
    const [method = '', host = '', path = ''] = request.split(' ');
    const routing = router.route({ method, host, path, fields: [...fields], listener: `0.0.0.0:${port}` });
    return routing.type === 'route' ? routing.target : routing.type;
  };
}

function nameOf({ name, refusals = [], targets }: RouteConfig): string {
  return targets.length === 0 && refusals[0]?.status === 404 ? `nothing at ${name}` : name;
}

/** The gateway of these resources, its listeners on free ports of 127.0.0.1; `portOf` takes the port of the resource. */
export async function startGatewayApi(t: TestContext, ...resources: readonly object[]): Promise<RunningGateway> {
  const config = configOf(read(...resources));
  const address = { host: '127.0.0.1', port: 0, key: '127.0.0.1:0' };
  const listeners = config.listeners.map((one) => Object.assign({}, one, { address }));
  const running = await serveConfig(t, { ...config, listeners });
  return { ...running, portOf: (port) => running.portOf(`0.0.0.0:${port}`) };
}
