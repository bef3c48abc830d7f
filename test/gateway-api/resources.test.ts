import { deepEqual, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { formatFault } from '../../src/config/fault.ts';
import { formatCondition, isTrouble } from '../../src/config/gateway-api/condition.ts';
import { hasTrouble, parseGatewayApi } from '../../src/config/gateway-api/gateway-api.ts';
import { configOf, gateway, manifest, read, resource, route, service, troubles } from './support.ts';

const main = service('main', ['127.0.0.1:9001']);

test('every trouble is told with the file, line and field it is about', () => {
  const text = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge }
spec:
  gatewayClassName: mulligan
  listeners:
    - { name: http, port: 8080, protocol: HTTP }
    - name: https
      port: 8443
      protocol: HTTPS
---
# the second document
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: orders
  namespace: shop
spec:
  parentRefs:
    - name: edge
      namespace: default
  rules:
    - retry:
        attemps: 3
      backendRefs:
        - name: main
          port: 80
---
apiVersion: v1
kind: List
items:
  - apiVersion: gateway.networking.k8s.io/v1
    kind: HTTPRoute
    metadata: { name: bad }
    spec:
      rules:
        - timeouts: { request: 1s, backendRequest: 2s }
`;
  const { faults, conditions } = parseGatewayApi([{ name: 'shop/all.yaml', text }]);
  deepEqual(
    [...faults.map(formatFault), ...conditions.filter(isTrouble).map(formatCondition)],
    [
      'shop/all.yaml:24:9 spec.rules[0].retry.attemps: is not a known field: it is ignored (HTTPRoute shop/orders; did you mean `attempts`?)',
      'shop/all.yaml:37:52 spec.rules[0].timeouts.backendRequest: is longer than timeouts.request, which bounds it (HTTPRoute default/bad; make it at most as long)',
      'shop/all.yaml:10:17 Gateway default/edge listener https Accepted=False UnsupportedProtocol: spec.listeners[1].protocol: HTTPS is not supported: listeners speak HTTP',
      'shop/all.yaml:26:11 HTTPRoute shop/orders ResolvedRefs=False BackendNotFound: spec.rules[0].backendRefs[0]: there is no Service shop/main in the folder',
      'shop/all.yaml:20:7 HTTPRoute shop/orders parent edge Accepted=False NotAllowedByListeners: spec.parentRefs[0]: allowedRoutes of the listener does not take routes of this namespace',
      'shop/all.yaml:37:52 HTTPRoute default/bad Accepted=False Invalid: spec.rules[0].timeouts.backendRequest: is longer than timeouts.request, which bounds it; the whole resource is left out, as an API server would',
    ],
  );
});

test('what is in effect says so in its conditions, and nothing is told about it', () => {
  const reading = read(gateway(), route([{}]), ...main);
  deepEqual(
    reading.conditions.map(({ kind, name, section, type, status, reason }) =>
      [kind, name, section, type, status, reason].join(' '),
    ),
    [
      'Gateway edge listener l0 Accepted True Accepted',
      'Gateway edge listener l0 Programmed True Programmed',
      'Gateway edge  Accepted True Accepted',
      'Gateway edge  Programmed True Programmed',
      'HTTPRoute main parent edge Accepted True Accepted',
      'HTTPRoute main  ResolvedRefs True ResolvedRefs',
    ],
  );
  deepEqual([troubles(reading), hasTrouble(reading)], [[], false]);
});

test('kinds that are not read are passed over with one note for each kind', () => {
  const other = (kind: string, apiVersion: string, name: string): object => ({ apiVersion, kind, metadata: { name } });
  const reading = read(
    gateway(),
    other('GRPCRoute', 'gateway.networking.k8s.io/v1', 'a'),
    other('GRPCRoute', 'gateway.networking.k8s.io/v1', 'b'),
    other('Pod', 'v1', 'a'),
    {
      apiVersion: 'v1',
      kind: 'List',
      items: [other('Pod', 'v1', 'b'), other('Service', 'serving.knative.dev/v1', 'c')],
    },
  );
  deepEqual(troubles(reading), [
    'warning: GRPCRoute (gateway.networking.k8s.io) is not a kind that is read here: all 2 are ignored',
    'warning: Pod is not a kind that is read here: all 2 are ignored',
    'warning: Service (serving.knative.dev) is not a kind that is read here: it is ignored',
  ]);
  equal(hasTrouble(reading), false);
});

test('a document that is broken, nameless or a repetition takes only itself down', () => {
  const good = manifest([gateway(), route([{}]), ...main]);
  const text = `${good}\n---\na: [\n---\n- 1\n---\nkind: HTTPRoute\n---\n${manifest([resource('Service', '', {}), gateway([{ port: 9090 }])])}`;
  const reading = parseGatewayApi([{ name: 'a.yaml', text }]);
  equal(configOf(reading).listeners.length, 1);
  equal(configOf(reading).listeners[0]!.address.port, 8080);
  const lines = troubles(reading);
  equal(lines.length, 5, lines.join('\n'));
  match(lines[1]!, /is not a Kubernetes resource \(it has apiVersion/);
  match(lines[2]!, /is not a Kubernetes resource \(give it apiVersion and kind\)/);
  match(lines[3]!, /metadata: Service has no name/);
  match(lines[4]!, /metadata\.name: Gateway default\/edge is there twice/);
  deepEqual(reading.refused, ['a.yaml']);
});

test('no Gateway that can be served is no configuration', () => {
  for (const resources of [
    [],
    [route([{}]), ...main],
    [gateway([{ protocol: 'HTTPS' }])],
    [gateway([{ port: 0 }])],
    [gateway([{ tls: {} }])],
    [
      resource('Gateway', 'edge', {
        spec: {
          gatewayClassName: 'x',
          listeners: [{ name: 'a', port: 80, protocol: 'HTTP' }],
          addresses: [{ type: 'Hostname', value: 'a.example' }],
        },
      }),
    ],
  ]) {
    const reading = read(...resources);
    equal(reading.config, undefined);
    equal(hasTrouble(reading), true);
  }
});
