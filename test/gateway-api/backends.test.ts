import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { failOnLeaks } from '../support/leak-check.ts';
import { requestRaw } from '../support/raw-client.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { configOf, gateway, read, resource, route, service, startGatewayApi, troubles } from './support.ts';

failOnLeaks();

const main = service('main', ['127.0.0.1:9001']);

const references: readonly (readonly [string, object, readonly object[], string])[] = [
  ['that is not there', { name: 'nope', port: 80 }, [], 'BackendNotFound'],
  ['without the port', { name: 'main', port: 81 }, [], 'BackendNotFound'],
  [
    'of another kind',
    { name: 'main', port: 80, kind: 'ServiceImport', group: 'multicluster.x-k8s.io' },
    [],
    'InvalidKind',
  ],
  [
    'in another namespace',
    { name: 'far', namespace: 'other', port: 80 },
    service('far', ['127.0.0.1:1'], { namespace: 'other' }),
    'RefNotPermitted',
  ],
  [
    'that lives elsewhere',
    { name: 'ext', port: 80 },
    [resource('Service', 'ext', { spec: { type: 'ExternalName', externalName: 'a', ports: [{ port: 80 }] } })],
    'UnsupportedValue',
  ],
  [
    'that speaks HTTP/2',
    { name: 'h2', port: 80 },
    [resource('Service', 'h2', { spec: { ports: [{ port: 80, appProtocol: 'kubernetes.io/h2c' }] } })],
    'UnsupportedProtocol',
  ],
];

for (const [what, reference, more, reason] of references) {
  test(`a backend ${what} is told as ${reason}, and its share gets 500`, async (t) => {
    const origin = await startOrigin({}, { t });
    const backendRefs = [reference, { name: 'main', port: 80, weight: 3 }];
    const resources = [gateway(), route([{ backendRefs }]), ...service('main', [origin.address]), ...more];
    const reading = read(...resources);
    const lines = troubles(reading);
    equal(lines.length, 1, lines.join('\n'));
    ok(
      lines[0]!.startsWith(`HTTPRoute default/main ResolvedRefs=False ${reason}: spec.rules[0].backendRefs[0]: `),
      lines[0],
    );
    const { port } = await startGatewayApi(t, ...resources);
    const statuses: number[] = [];
    for (let i = 0; i < 8; i++) statuses.push((await requestRaw(port)).status);
    equal(statuses.filter((status) => status === 500).length, 2);
    equal(origin.requestCount(), 6);
  });
}

test('a ReferenceGrant in the other namespace permits the reference it names, and no other', () => {
  const far = service('far', ['127.0.0.1:1'], { namespace: 'other' });
  const rules = [{ backendRefs: [{ name: 'far', namespace: 'other', port: 80 }] }];
  const grant = (from: object, to: object): object =>
    resource(
      'ReferenceGrant',
      'g',
      {
        spec: {
          from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'default', ...from }],
          to: [{ group: '', kind: 'Service', ...to }],
        },
      },
      { namespace: 'other' },
    );
  const isPermitted = (one: object): boolean => troubles(read(gateway(), route(rules), ...far, one)).length === 0;
  equal(isPermitted(grant({}, {})), true);
  equal(isPermitted(grant({}, { name: 'far' })), true);
  equal(isPermitted(grant({}, { name: 'near' })), false);
  equal(isPermitted(grant({ namespace: 'third' }, {})), false);
  equal(isPermitted(grant({ kind: 'GRPCRoute' }, {})), false);
  equal(isPermitted(grant({}, { kind: 'Secret' })), false);
});

test('weights share the requests, and a weight of 0 takes none', async (t) => {
  const [a, b, c] = await Promise.all([startOrigin({}, { t }), startOrigin({}, { t }), startOrigin({}, { t })]);
  const backendRefs = [
    { name: 'a', port: 80, weight: 3 },
    { name: 'b', port: 80, weight: 1 },
    { name: 'c', port: 80, weight: 0 },
  ];
  const { port } = await startGatewayApi(
    t,
    gateway(),
    route([{ backendRefs }]),
    ...service('a', [a.address]),
    ...service('b', [b.address]),
    ...service('c', [c.address]),
  );
  for (let i = 0; i < 20; i++) equal((await requestRaw(port)).status, 200);
  deepEqual(
    [a, b, c].map((origin) => origin.requestCount()),
    [15, 5, 0],
  );
});

const nowhere: readonly (readonly [string, readonly object[] | undefined, number])[] = [
  ['no backend', [], 500],
  ['weights of 0 only', [{ name: 'main', port: 80, weight: 0 }], 500],
  ['an unknown Service', [{ name: 'nope', port: 80 }], 500],
  ['a Service without ready endpoints', [{ name: 'idle', port: 80 }], 503],
];

for (const [what, backendRefs, status] of nowhere) {
  test(`a rule with ${what} answers ${status}`, async (t) => {
    const resources = [gateway(), route([{ backendRefs }]), ...main, ...service('idle', [])];
    const { port, record } = await startGatewayApi(t, ...resources);
    equal((await requestRaw(port)).status, status);
    equal((await record()).attempts.length, 0);
    equal((await record()).route, 'default/main/0');
  });
}

test('addresses come from the slices of the Service that are ready, by the name of the port', () => {
  const slice = (name: string, rest: object, labels: object = { 'kubernetes.io/service-name': 'main' }): object =>
    resource(
      'EndpointSlice',
      name,
      { addressType: 'IPv4', ports: [{ name: 'http', port: 9001 }], ...rest },
      { labels },
    );
  const endpoint = (address: string, conditions: object = {}): object => ({ addresses: [address], conditions });
  const addressesOf = (...slices: readonly object[]): string[] => {
    const ports = [{ name: 'http', port: 80, targetPort: 7777 }];
    const reading = read(gateway(), route([{}]), resource('Service', 'main', { spec: { ports } }), ...slices);
    return (configOf(reading).upstreams[0]?.endpoints ?? []).map(({ address }) => address.key);
  };
  const mixed = [
    endpoint('127.0.0.1'),
    endpoint('127.0.0.2', { ready: false }),
    endpoint('127.0.0.3', { ready: true, serving: true }),
    endpoint('127.0.0.1'),
  ];
  deepEqual(addressesOf(slice('a', { endpoints: mixed })), ['127.0.0.1:9001', '127.0.0.3:9001']);
  deepEqual(addressesOf(slice('a', { endpoints: mixed }, {})), [], 'of no Service');
  deepEqual(
    addressesOf(
      slice('a', { addressType: 'IPv6', endpoints: [endpoint('::1')] }),
      slice('b', { addressType: 'FQDN', endpoints: [endpoint('a.example')] }),
    ),
    ['[::1]:9001', 'a.example:9001'],
  );
  const ending = [
    endpoint('127.0.0.4', { ready: false, serving: true, terminating: true }),
    endpoint('127.0.0.5', { ready: false }),
  ];
  deepEqual(
    addressesOf(slice('a', { endpoints: ending })),
    ['127.0.0.4:9001'],
    'ending ones serve while nobody else does',
  );
  deepEqual(addressesOf(slice('a', { endpoints: [...ending, endpoint('127.0.0.6')] })), ['127.0.0.6:9001']);
  deepEqual(addressesOf(slice('a', { ports: [{ name: 'admin', port: 1 }], endpoints: [endpoint('127.0.0.1')] })), []);
  deepEqual(
    addressesOf(slice('a', { ports: [], endpoints: [endpoint('127.0.0.1')] })),
    ['127.0.0.1:7777'],
    'the target port',
  );
});

test('a policy sets the budget of its Service; the older of two holds, and a target that is not there is told', () => {
  const policy = (name: string, percent: number, target: object = {}, metadata: object = {}): object =>
    resource(
      'BackendTrafficPolicy',
      name,
      {
        spec: {
          targetRefs: [{ group: '', kind: 'Service', name: 'main', ...target }],
          retryConstraint: { budget: { percent }, minRetryRate: { count: 3, interval: '500ms' } },
        },
      },
      metadata,
    );
  const reading = read(
    gateway(),
    route([{}]),
    ...main,
    policy('b', 30),
    policy('a', 40, {}, { creationTimestamp: '2020-01-01T00:00:00Z' }),
    policy('c', 50, { name: 'nope' }),
    policy('d', 5, { kind: 'Pod' }),
  );
  deepEqual(
    troubles(reading).map((line) => line.replace(/: .*/, '')),
    [
      'BackendTrafficPolicy default/b target main Accepted=False Conflicted',
      'BackendTrafficPolicy default/c target nope Accepted=False TargetNotFound',
      'BackendTrafficPolicy default/d target main Accepted=False Invalid',
    ],
  );
  const [upstream] = configOf(reading).upstreams;
  // 3 in 500 ms are 6 in a second: the window is a second at least.
  deepEqual(upstream!.budget, {
    kind: 'ratio',
    percent: 40,
    intervalMs: 10_000,
    minRetryRate: { count: 6, intervalMs: 1000 },
  });
  equal(upstream!.onExhausted, '503');
});

test('without a constraint a Service has the default budget, and a refused retry leaves the last answer', () => {
  const [upstream] = configOf(read(gateway(), route([{}]), ...main)).upstreams;
  deepEqual([upstream!.budget.kind, upstream!.onExhausted], ['ratio', 'original']);
});

test('the configured backoff is the shortest wait', () => {
  const { retry } = configOf(read(gateway(), route([{ retry: { backoff: '100ms' } }]), ...main)).routes[0]!;
  deepEqual(retry.backoff, { curve: 'exponential', baseMs: 200, maxMs: 2000, jitter: 'equal' });
  const long = configOf(read(gateway(), route([{ retry: { backoff: '590h' } }]), ...main)).routes[0]!;
  ok(long.retry.backoff.maxMs <= 2 ** 31 - 1);
});

test('a longer backendRequest alone makes room for itself in the request timeout', () => {
  const timeoutsOf = (timeouts: object): number[] => {
    const { requestMs, attemptMs } = configOf(read(gateway(), route([{ timeouts }]), ...main)).routes[0]!.timeouts;
    return [requestMs, attemptMs];
  };
  deepEqual(timeoutsOf({}), [15_000, 0]);
  deepEqual(timeoutsOf({ backendRequest: '1s' }), [15_000, 1000]);
  deepEqual(timeoutsOf({ backendRequest: '1m' }), [60_000, 60_000]);
  deepEqual(timeoutsOf({ request: '0s', backendRequest: '1m' }), [0, 60_000]);
});
