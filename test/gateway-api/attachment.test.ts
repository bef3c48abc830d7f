import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, gateway, nameRoutes, read, resource, route, service, troubles } from './support.ts';

const main = service('main', ['127.0.0.1:9001']);

const listenerRows: readonly (readonly [string, readonly object[], readonly string[], number])[] = [
  [
    'the same port and host',
    [{ name: 'a' }, { name: 'b' }, { name: 'c', hostname: 'c.example' }],
    ['listener a Conflicted=True HostnameConflict', 'listener b Conflicted=True HostnameConflict'],
    1,
  ],
  [
    'two protocols on a port',
    [{ name: 'a' }, { name: 'b', protocol: 'HTTPS' }, { name: 'c', port: 81 }],
    ['listener a Conflicted=True ProtocolConflict', 'listener b Conflicted=True ProtocolConflict'],
    1,
  ],
  [
    'another protocol',
    [{ name: 'a' }, { name: 'b', protocol: 'TCP', port: 81 }],
    ['listener b Accepted=False UnsupportedProtocol'],
    1,
  ],
  [
    'routes of another kind',
    [{ name: 'a' }, { name: 'b', port: 81, allowedRoutes: { kinds: [{ kind: 'GRPCRoute' }] } }],
    ['listener b ResolvedRefs=False InvalidRouteKinds'],
    1,
  ],
];

for (const [what, listeners, told, count] of listenerRows) {
  test(`listeners with ${what} are told, and the others are served`, () => {
    const reading = read(gateway(listeners));
    deepEqual(
      troubles(reading).map((line) => line.replace('Gateway default/edge ', '').replace(/: .*/, '')),
      told,
    );
    equal(configOf(reading).listeners.length, count);
    ok(
      reading.conditions.some(
        ({ section, type, reason }) => section === '' && type === 'Accepted' && reason === 'ListenersNotValid',
      ),
    );
  });
}

test('Gateways share a port by addresses of their own', () => {
  const at = (name: string, ...addresses: string[]): object => {
    const listeners = [{ name: 'a', port: 8080, protocol: 'HTTP' }];
    return resource('Gateway', name, {
      spec: {
        gatewayClassName: 'x',
        listeners,
        ...(addresses.length === 0 ? {} : { addresses: addresses.map((value) => ({ value })) }),
      },
    });
  };
  const keysOf = (...gateways: readonly object[]): string[] | undefined =>
    read(...gateways).config?.listeners.map(({ address }) => address.key);
  deepEqual(keysOf(at('a', '127.0.0.1', '::1'), at('b', '127.0.0.2')), [
    '127.0.0.1:8080',
    '[::1]:8080',
    '127.0.0.2:8080',
  ]);
  deepEqual(keysOf(at('a', '127.0.0.1'), at('b', '127.0.0.1')), undefined);
  // One of the two could not be opened beside the other.
  deepEqual(keysOf(at('a', '127.0.0.1'), at('b')), ['0.0.0.0:8080']);
});

test('a listener takes routes of the namespaces that it allows', () => {
  const accepts = (namespaces: object, namespace: string): boolean => {
    const spec = { parentRefs: [{ name: 'edge', namespace: 'default' }] };
    const reading = read(
      gateway([{ allowedRoutes: { namespaces } }]),
      resource('Namespace', 'gold', {}, { labels: { tier: 'gold' } }),
      route([{}], spec, 'main', { namespace }),
      ...service('main', ['127.0.0.1:1'], { namespace }),
    );
    return troubles(reading).length === 0;
  };
  deepEqual(
    ['default', 'gold'].map((namespace) => accepts({}, namespace)),
    [true, false],
  );
  deepEqual(
    ['default', 'gold'].map((namespace) => accepts({ from: 'All' }, namespace)),
    [true, true],
  );
  deepEqual(
    ['default', 'gold'].map((namespace) => accepts({ from: 'None' }, namespace)),
    [false, false],
  );
  const selects = (selector: object): boolean[] =>
    ['gold', 'other'].map((namespace) => accepts({ from: 'Selector', selector }, namespace));
  deepEqual(selects({ matchLabels: { tier: 'gold' } }), [true, false]);
  deepEqual(selects({ matchLabels: { 'kubernetes.io/metadata.name': 'other' } }), [false, true]);
  deepEqual(selects({ matchExpressions: [{ key: 'tier', operator: 'In', values: ['gold'] }] }), [true, false]);
  deepEqual(selects({ matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['gold'] }] }), [false, true]);
  deepEqual(selects({ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }), [true, false]);
  deepEqual(selects({ matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }), [false, true]);
});

const parents: readonly (readonly [string, readonly object[], string])[] = [
  ['a Gateway that is not there', [{ name: 'nope' }], 'NoMatchingParent'],
  ['a listener that is not there', [{ name: 'edge', sectionName: 'nope' }], 'NoMatchingParent'],
  ['a port that is not there', [{ name: 'edge', port: 1 }], 'NoMatchingParent'],
  ['a Service', [{ name: 'main', kind: 'Service', group: '' }], 'NoMatchingParent'],
  ['nothing', [], 'NoMatchingParent'],
];

for (const [what, parentRefs, reason] of parents) {
  test(`a route whose parent is ${what} is not accepted: ${reason}`, () => {
    const reading = read(gateway(), route([{}], { parentRefs }), ...main);
    const [line, ...more] = troubles(reading);
    deepEqual(more, []);
    match(line!, new RegExp(`^HTTPRoute default/main .*Accepted=False ${reason}`));
    equal(nameRoutes(reading)('GET a /'), 'nothing at default/edge/l0');
  });
}

test('a route outside the host name of its listener is not accepted, and accepted elsewhere all the same', () => {
  const listeners = [
    { name: 'a', hostname: 'a.example' },
    { name: 'b', hostname: 'b.example' },
  ];
  const parentRefs = [
    { name: 'edge', sectionName: 'a' },
    { name: 'edge', sectionName: 'b' },
  ];
  const reading = read(gateway(listeners), route([{}], { parentRefs, hostnames: ['b.example'] }), ...main);
  deepEqual(
    troubles(reading).map((line) => line.replace(/: .*/, '')),
    ['HTTPRoute default/main parent edge/a Accepted=False NoMatchingListenerHostname'],
  );
  equal(nameRoutes(reading)('GET b.example /'), 'default/main/0');
});
