import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { intersection } from '../../src/config/gateway-api/hostnames.ts';
import { gateway, nameRoutes, read, route, service, troubles } from './support.ts';

const main = service('main', ['127.0.0.1:9001']);

test('host names intersect as the Gateway API says', () => {
  const rows: readonly (readonly [string | undefined, string | undefined, string | undefined | false])[] = [
    [undefined, undefined, undefined],
    ['a.example', undefined, 'a.example'],
    [undefined, '*.example', '*.example'],
    ['a.example', 'a.example', 'a.example'],
    ['a.example', 'b.example', false],
    ['a.example', '*.example', 'a.example'],
    ['a.b.example', '*.example', 'a.b.example'],
    ['example', '*.example', false],
    ['xexample', '*.example', false],
    ['*.example', '*.example', '*.example'],
    ['*.a.example', '*.example', '*.a.example'],
    ['*.xexample', '*.example', false],
    ['*.example', '*.test', false],
  ];
  for (const [a, b, both] of rows) {
    const expected = both === false ? 'none' : { host: both };
    deepEqual(intersection(a, b), expected, `${a} and ${b}`);
    deepEqual(intersection(b, a), expected, `${b} and ${a}`);
  }
});

/** Matches in the order that the specification gives them; each is tried with a request that all of them take. */
const ranked: readonly (readonly [string, object])[] = [
  ['exact path', { path: { type: 'Exact', value: '/a/b' } }],
  ['longer prefix', { path: { value: '/a/b' } }],
  [
    'prefix, method, field and parameter',
    {
      path: { value: '/a' },
      method: 'GET',
      headers: [{ name: 'X-A', value: '1' }],
      queryParams: [{ name: 'p', value: '1' }],
    },
  ],
  ['prefix and method', { path: { value: '/a' }, method: 'GET' }],
  [
    'prefix and two fields',
    {
      path: { value: '/a' },
      headers: [
        { name: 'x-a', value: '1' },
        { name: 'x-b', value: '2' },
      ],
    },
  ],
  [
    'prefix, one field and a parameter',
    { path: { value: '/a' }, headers: [{ name: 'x-a', value: '1' }], queryParams: [{ name: 'p', value: '1' }] },
  ],
  ['prefix and one field', { path: { value: '/a' }, headers: [{ name: 'x-a', value: '1' }] }],
  [
    'prefix and two parameters',
    {
      path: { value: '/a' },
      queryParams: [
        { name: 'p', value: '1' },
        { name: 'q', value: '2 3' },
      ],
    },
  ],
  ['prefix and one parameter', { path: { value: '/a' }, queryParams: [{ name: 'p', value: '1' }] }],
  ['prefix', { path: { value: '/a/' } }],
  ['everything', {}],
];

test('the more specific match takes the request, wherever it stands', () => {
  const fields = ['X-A', '1', 'x-b', '2'];
  for (let first = 0; first < ranked.length; first += 1) {
    // All that are less specific stand before it.
    const rules = ranked
      .slice(first)
      .map(([name, match]) => ({ name: name.replaceAll(/[ ,]+/g, '-'), matches: [match] }));
    const nameOf = nameRoutes(read(gateway(), route(rules.toReversed()), ...main));
    equal(nameOf('GET shop.example /a/b?p=1&q=2%203', fields), `default/main/${rules[0]!.name}`);
  }
});

test('between routes the older one wins, then the first by name; within one the first rule', () => {
  const at = (name: string, creationTimestamp?: string): object =>
    route([{}, {}], {}, name, creationTimestamp === undefined ? {} : { creationTimestamp });
  const winner = (...routes: readonly object[]): string =>
    nameRoutes(read(gateway(), ...routes, ...main))('GET a.example /');
  equal(winner(at('b'), at('a')), 'default/a/0');
  equal(winner(at('b', '2020-01-01T00:00:00Z'), at('a', '2021-01-01T00:00:00Z')), 'default/b/0');
  equal(winner(at('b', '2020-01-01T00:00:00Z'), at('a')), 'default/b/0');
});

test('the more specific host name wins before any path does', () => {
  const exactly = { matches: [{ path: { type: 'Exact', value: '/x' } }] };
  const nameOf = nameRoutes(
    read(
      gateway(),
      route([exactly], {}, 'any'),
      route([exactly], { hostnames: ['*.example'] }, 'wide'),
      route([exactly, {}], { hostnames: ['*.shop.example'] }, 'narrow'),
      route([{}], { hostnames: ['eu.shop.example', 'us.shop.example'] }, 'exact'),
      ...main,
    ),
  );
  deepEqual(
    ['us.shop.example', 'EU.shop.example:8080', 'x.shop.example', 'shop.example', 'test'].map((host) =>
      nameOf(`GET ${host} /x`),
    ),
    ['default/exact/0', 'default/exact/0', 'default/narrow/0', 'default/wide/0', 'default/any/0'],
  );
});

test('a request goes to the most specific listener of its port, and to no other if that has no route for it', () => {
  const nameOf = nameRoutes(
    read(
      gateway([
        { name: 'any' },
        { name: 'wide', hostname: '*.example' },
        { name: 'one', hostname: 'a.example' },
        { name: 'other', port: 8081 },
      ]),
      route([{}], { parentRefs: [{ name: 'edge', sectionName: 'any' }] }, 'any'),
      route(
        [{}],
        { parentRefs: [{ name: 'edge', sectionName: 'wide' }], hostnames: ['b.example', 'a.example'] },
        'wide',
      ),
      route([{ matches: [{ path: { value: '/in' } }] }], { parentRefs: [{ name: 'edge', sectionName: 'one' }] }, 'one'),
      ...main,
    ),
  );
  equal(nameOf('GET test /'), 'default/any/0');
  equal(nameOf('GET b.example /'), 'default/wide/0');
  equal(nameOf('GET c.example /'), 'nothing at default/edge/wide');
  equal(nameOf('GET a.example /in'), 'default/one/0');
  equal(nameOf('GET a.example /'), 'nothing at default/edge/one');
  equal(nameOf('GET test /', [], 8081), 'nothing at default/edge/other');
});

test('a route takes only those of its host names that lie within the listener', () => {
  const nameOf = nameRoutes(
    read(
      gateway([{ hostname: '*.shop.example' }]),
      route([{}], { hostnames: ['eu.shop.example', 'other.example'] }),
      ...main,
    ),
  );
  equal(nameOf('GET eu.shop.example /'), 'default/main/0');
  equal(nameOf('GET us.shop.example /'), 'nothing at default/edge/l0');
  equal(nameOf('GET other.example /'), 'no-route');
});

test('a route without host names takes those of the listener', () => {
  const nameOf = nameRoutes(read(gateway([{ hostname: '*.example' }]), route([{}]), ...main));
  equal(nameOf('GET a.example /'), 'default/main/0');
  equal(nameOf('GET test /'), 'no-route');
});

test('the same left over host name is ranked by what the routes say themselves', () => {
  const nameOf = nameRoutes(
    read(
      gateway([{ hostname: 'a.example' }]),
      route([{}], { hostnames: ['*.example'] }, 'a'),
      route([{}], { hostnames: ['a.example'] }, 'b'),
      ...main,
    ),
  );
  equal(nameOf('GET a.example /'), 'default/b/0');
});

test('of two entries for one field or parameter only the first counts', () => {
  const headers = [
    { name: 'x-a', value: '1' },
    { name: 'X-A', value: '2' },
  ];
  const queryParams = [
    { name: 'p', value: '1' },
    { name: 'p', value: '2' },
  ];
  const nameOf = nameRoutes(read(gateway(), route([{ matches: [{ headers, queryParams }] }]), ...main));
  equal(nameOf('GET a /?p=1&p=2', ['x-a', '1']), 'default/main/0');
  equal(nameOf('GET a /?p=2', ['x-a', '1']), 'nothing at default/edge/l0');
  equal(nameOf('GET a /?P=1', ['x-a', '1']), 'nothing at default/edge/l0');
  equal(nameOf('GET a /?p=1', ['x-a', '1', 'x-a', '2']), 'nothing at default/edge/l0');
});

test('a rule without matches, or with none in its list, takes everything', () => {
  for (const rule of [{}, { matches: [] }, { matches: [{}] }])
    equal(nameRoutes(read(gateway(), route([rule]), ...main))('PUT a /b/c'), 'default/main/0');
});

const dropped: readonly (readonly [string, object])[] = [
  ['a regular expression as path', { path: { type: 'RegularExpression', value: '/a.*' } }],
  ['a regular expression for a field', { headers: [{ type: 'RegularExpression', name: 'x', value: 'a+' }] }],
  ['a regular expression for a parameter', { queryParams: [{ type: 'RegularExpression', name: 'x', value: 'a+' }] }],
  ['CONNECT', { method: 'CONNECT' }],
  ['a path that can never match', { path: { value: '/a/../b' } }],
  ['Host as a field', { headers: [{ name: 'Host', value: 'a' }] }],
];

for (const [what, match] of dropped) {
  test(`${what} drops its rule, not the others, and never widens it`, () => {
    const reading = read(
      gateway(),
      route([{ matches: [{ path: { value: '/ok' } }] }, { matches: [{ path: { value: '/b' } }, match] }]),
      ...main,
    );
    const nameOf = nameRoutes(reading);
    equal(nameOf('GET a /ok'), 'default/main/0');
    equal(nameOf('GET a /b'), 'nothing at default/edge/l0');
    const [line, ...more] = troubles(reading);
    deepEqual(more, []);
    equal(
      /^HTTPRoute default\/main PartiallyInvalid=True UnsupportedValue: spec\.rules\[1\]\.matches\[1\]\.[^:]+: Dropped Rule: /.test(
        line!,
      ),
      true,
      line,
    );
  });
}

test('a route all of whose rules are dropped is not accepted', () => {
  const reading = read(gateway(), route([{ matches: [{ method: 'CONNECT' }] }]), ...main);
  deepEqual(troubles(reading), [
    'HTTPRoute default/main parent edge Accepted=False UnsupportedValue: spec.rules[0].matches[0].method: CONNECT is not supported: no tunnels are opened',
  ]);
});
