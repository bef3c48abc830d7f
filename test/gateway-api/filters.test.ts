import { deepEqual, equal, ok } from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { readGatewayDuration } from '../../src/config/gateway-api/schema/parts.ts';
import { changedFields } from '../../src/gateway/filters/field-changes.ts';
import type { RequestCopy } from '../../src/gateway/filters/mirror.ts';
import { CopyInMaking } from '../../src/gateway/filters/request-copy.ts';
import { replacePrefix } from '../../src/gateway/rewrite.ts';
import { localFailure } from '../../src/engine/failures.ts';
import { createReplayMemory } from '../../src/transport/body/replay-memory.ts';
import type { BodySink } from '../../src/transport/body/request-body.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { refusedAddress } from '../support/addresses.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { RawResponse } from '../support/raw-response.ts';
import { requestRaw } from '../support/raw-client.ts';
import type { OriginScript, ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import { gateway, read, route, service, startGatewayApi, troubles } from './support.ts';

failOnLeaks();

const filter = (type: string, value: object): object => ({
  type,
  [`${type[0]!.toLowerCase()}${type.slice(1)}`.replace('uRL', 'url')]: value,
});

interface Rig {
  readonly origin: ScriptedOrigin;
  readonly port: number;
  get(target: string, headers?: Record<string, string>): Promise<RawResponse>;
}

async function startFilters(
  t: TestContext,
  filters: readonly object[],
  rule: object = {},
  script: OriginScript = {},
): Promise<Rig> {
  const origin = await startOrigin(script, { t });
  const backendRefs = [{ name: 'main', port: 80 }];
  const { port } = await startGatewayApi(
    t,
    gateway(),
    route([{ backendRefs, ...rule, filters }]),
    ...service('main', [origin.address]),
  );
  return {
    origin,
    port,
    get: (target, headers = {}) => requestRaw(port, { target, headers: { Host: 'shop.example', ...headers } }),
  };
}

test('fields of the request are set, added and removed, on every attempt alike', async (t) => {
  const modifier = filter('RequestHeaderModifier', {
    set: [{ name: 'X-Set', value: 'new' }],
    add: [
      { name: 'x-add', value: 'more' },
      { name: 'X-Fresh', value: '1' },
    ],
    remove: ['X-Gone'],
  });
  const script = [{ do: 'respond', status: 503 }, { do: 'respond' }] as const;
  const { origin, get } = await startFilters(t, [modifier], { retry: { codes: [503], backoff: '1ms' } }, script);
  const response = await get('/', { 'x-set': 'old', 'X-Add': 'some', 'x-gone': 'x', 'X-Stays': 's' });
  equal(response.status, 200);
  equal(origin.requestCount(), 2);
  for (const number of [1, 2]) {
    const seen = origin.request(number);
    deepEqual(
      ['x-set', 'x-add', 'x-fresh', 'x-gone', 'x-stays', 'host'].map((name) => seen.values(name)),
      [['new'], ['some,more'], ['1'], [], ['s'], ['shop.example']],
    );
  }
});

test('fields of the response are set, added and removed', async (t) => {
  const modifier = filter('ResponseHeaderModifier', {
    set: [{ name: 'Server', value: 'edge' }],
    add: [
      { name: 'Set-Cookie', value: 'b=2' },
      { name: 'Vary', value: 'x-tier' },
    ],
    remove: ['X-Debug'],
  });
  const headers = { Server: 'origin', 'Set-Cookie': 'a=1', Vary: 'accept', 'x-debug': '1' };
  const { get } = await startFilters(t, [modifier], {}, { do: 'respond', headers });
  const response = await get('/');
  deepEqual(
    ['server', 'set-cookie', 'vary', 'x-debug'].map((name) => response.values(name)),
    [['edge'], ['a=1', 'b=2'], ['accept,x-tier'], []],
  );
});

test('a changed field keeps its place among the others out of the way of what is not named', () => {
  const changes = { set: [], add: [{ name: 'cookie', value: 'b=2' }], remove: ['x'] };
  deepEqual(changedFields(['Cookie', 'a=1', 'X', '1', 'Y', '2'], changes), [
    'Cookie',
    'a=1',
    'Y',
    '2',
    'cookie',
    'b=2',
  ]);
});

// The table of HTTPPathModifier.replacePrefixMatch.
const prefixes: readonly (readonly [string, string, string, string])[] = [
  ['/foo/bar', '/foo', '/xyz', '/xyz/bar'],
  ['/foo/bar', '/foo', '/xyz/', '/xyz/bar'],
  ['/foo/bar', '/foo/', '/xyz', '/xyz/bar'],
  ['/foo/bar', '/foo/', '/xyz/', '/xyz/bar'],
  ['/foo', '/foo', '/xyz', '/xyz'],
  ['/foo/', '/foo', '/xyz', '/xyz/'],
  ['/foo/bar', '/foo', '', '/bar'],
  ['/foo/', '/foo', '', '/'],
  ['/foo', '/foo', '', '/'],
  ['/foo/', '/foo', '/', '/'],
  ['/foo', '/foo', '/', '/'],
];

test('a prefix is replaced as the table of the Gateway API says, and the query stays', async (t) => {
  for (const [path, prefix, replacement, expected] of prefixes)
    equal(
      replacePrefix(path, prefix, replacement === '' ? '/' : replacement),
      expected,
      `${path} ${prefix} ${replacement}`,
    );
  const rewrite = filter('URLRewrite', {
    hostname: 'inner.example',
    path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '' },
  });
  const { origin, get } = await startFilters(t, [rewrite], { matches: [{ path: { value: '/foo' } }] });
  await get('/foo/bar?x=/foo');
  await get('/foo');
  deepEqual(
    [1, 2].map((number) => origin.request(number).target),
    ['/bar?x=/foo', '/'],
  );
  deepEqual(origin.request().values('host'), ['inner.example']);
});

test('a full path is replaced, and the query stays', async (t) => {
  const rewrite = filter('URLRewrite', { path: { type: 'ReplaceFullPath', replaceFullPath: '/one' } });
  const { origin, get } = await startFilters(t, [rewrite]);
  await get('/a/b/c?x=1');
  equal(origin.request().target, '/one?x=1');
  deepEqual(origin.request().values('host'), ['shop.example']);
});

const redirects: readonly (readonly [string, object, string, number, string])[] = [
  ['a host', { hostname: 'other.example' }, '/a?b=c', 302, 'http://other.example:8080/a?b=c'],
  ['a scheme, which brings its port', { scheme: 'https', statusCode: 301 }, '/a', 301, 'https://shop.example/a'],
  ['http, which brings 80', { scheme: 'http', statusCode: 303 }, '/', 303, 'http://shop.example/'],
  ['a port', { port: 8443, scheme: 'https', statusCode: 307 }, '/', 307, 'https://shop.example:8443/'],
  ['port 80 of http', { port: 80 }, '/', 302, 'http://shop.example/'],
  [
    'a full path',
    { path: { type: 'ReplaceFullPath', replaceFullPath: '/new' }, statusCode: 308 },
    '/a?x',
    308,
    'http://shop.example:8080/new?x',
  ],
  [
    'a prefix',
    { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/new' } },
    '/old/1?x',
    302,
    'http://shop.example:8080/new/1?x',
  ],
  ['nothing but a status', { statusCode: 301 }, '//a/%62', 301, 'http://shop.example:8080/a/b'],
];

for (const [what, redirect, target, status, location] of redirects) {
  test(`a redirect to ${what} answers ${status} without asking a backend`, async (t) => {
    const prefix = target.startsWith('/old') ? '/old' : '/';
    const { origin, get } = await startFilters(t, [filter('RequestRedirect', redirect)], {
      matches: [{ path: { value: prefix } }],
      backendRefs: [],
    });
    const response = await get(target, { Host: 'shop.example:1234' });
    deepEqual([response.status, response.value('location'), response.complete], [status, location, true]);
    equal(origin.requestCount(), 0);
  });
}

test('a redirect takes the changes of response fields along', async (t) => {
  const modifier = filter('ResponseHeaderModifier', { add: [{ name: 'X-Why', value: 'moved' }] });
  const { get } = await startFilters(t, [modifier, filter('RequestRedirect', { hostname: 'a.example' })], {
    backendRefs: [],
  });
  equal((await get('/')).value('x-why'), 'moved');
});

async function startMirror(
  t: TestContext,
  mirrorScript: OriginScript,
  mirror: object = {},
): Promise<Rig & { copies: ScriptedOrigin }> {
  const [origin, copies] = await Promise.all([
    startOrigin({ do: 'respond', body: 'real' }, { t }),
    startOrigin(mirrorScript, { t }),
  ]);
  const filters = [
    filter('RequestHeaderModifier', { add: [{ name: 'x-tier', value: 'gold' }] }),
    filter('RequestMirror', { backendRef: { name: 'shadow', port: 80 }, ...mirror }),
  ];
  const { port } = await startGatewayApi(
    t,
    gateway(),
    route([{ filters, backendRefs: [{ name: 'main', port: 80 }], retry: { codes: [500], backoff: '1ms' } }]),
    ...service('main', [origin.address]),
    ...service('shadow', [copies.address]),
  );
  return { origin, copies, port, get: (target) => requestRaw(port, { target }) };
}

test('a mirror gets the same request, body and changed fields, and its answer goes nowhere', async (t) => {
  const { origin, copies, port } = await startMirror(t, { do: 'respond', status: 500, body: 'copy' });
  const response = await requestRaw(port, {
    method: 'POST',
    target: '/a?b',
    body: [Buffer.from('one '), Buffer.from('two')],
  });
  deepEqual([response.status, response.text], [200, 'real']);
  await copies.waitForRequest();
  await copies.waitFor(() => copies.request().complete);
  const seen = [origin.request(), copies.request()].map((request) => [
    request.method,
    request.target,
    request.body.toString(),
    request.values('x-tier'),
    request.values('host'),
  ]);
  deepEqual(seen[1], seen[0]);
  deepEqual(seen[0]!.slice(0, 4), ['POST', '/a?b', 'one two', ['gold']]);
});

test('a copy is never sent again, whatever becomes of it, and never holds up the answer', async (t) => {
  for (const script of [{ do: 'respond', status: 500 }, { do: 'reset' }, { do: 'hang' }] as const) {
    const { origin, copies, get } = await startMirror(t, script);
    equal((await get('/')).text, 'real');
    await copies.waitForRequest();
    equal((await get('/')).text, 'real');
    await copies.waitForRequest(2);
    deepEqual([origin.requestCount(), copies.requestCount()], [2, 2]);
  }
});

test('a mirror that refuses connections changes nothing', async (t) => {
  const refused = await refusedAddress({ t });
  const origin = await startOrigin({}, { t });
  const { port } = await startGatewayApi(
    t,
    gateway(),
    route([
      {
        filters: [filter('RequestMirror', { backendRef: { name: 'shadow', port: 80 } })],
        backendRefs: [{ name: 'main', port: 80 }],
      },
    ]),
    ...service('main', [origin.address]),
    ...service('shadow', [refused.address]),
  );
  for (let i = 0; i < 3; i++) equal((await requestRaw(port, { method: 'POST', body: 'x' })).status, 200);
  equal(origin.requestCount(), 3);
});

test('a body larger than what is kept is not copied, and reaches the backend whole', async (t) => {
  const { origin, copies, port } = await startMirror(t, {});
  const body = Buffer.alloc(200_000, 'x');
  equal((await requestRaw(port, { method: 'POST', body })).status, 200);
  equal(origin.request().bodyBytes, body.length);
  equal((await requestRaw(port, { method: 'POST', body: 'small' })).status, 200);
  await copies.waitForRequest();
  equal(copies.request().bodyBytes, 5);
  equal(copies.requestCount(), 1);
});

test('a mirror of 0 percent gets nothing, and one of a half gets some', async (t) => {
  const none = await startMirror(t, {}, { percent: 0 });
  equal((await none.get('/')).text, 'real');
  const half = await startMirror(t, {}, { fraction: { numerator: 1, denominator: 2 } });
  for (let i = 0; i < 60; i++) await half.get('/');
  await half.copies.waitForRequest();
  const count = half.copies.requestCount();
  // 60 even draws stay within 8 and 52 but for once in ten thousand million.
  ok(count < 53, `${count} copies of 60`);
  equal(none.copies.requestCount(), 0);
});

const unusable: readonly (readonly [string, readonly object[], object, string])[] = [
  [
    'CORS',
    [{ type: 'CORS', cors: {} }],
    {},
    'UnsupportedValue: spec.rules[1].filters[0].type: filter CORS is not supported',
  ],
  [
    'ExtensionRef',
    [{ type: 'ExtensionRef', extensionRef: { name: 'x' } }],
    {},
    'UnsupportedValue: spec.rules[1].filters[0].type: filter ExtensionRef is not supported',
  ],
  [
    'Content-Length',
    [filter('RequestHeaderModifier', { set: [{ name: 'Content-Length', value: '1' }] })],
    {},
    'UnsupportedValue: spec.rules[1].filters[0].requestHeaderModifier.set[0]: Content-Length must not be changed here',
  ],
  [
    'the Idempotency-Key, by which a repeated request is known',
    [filter('RequestHeaderModifier', { remove: ['idempotency-key'] })],
    {},
    'UnsupportedValue: spec.rules[1].filters[0].requestHeaderModifier.remove[0]: idempotency-key must not be changed here',
  ],
  [
    'one field twice',
    [filter('RequestHeaderModifier', { set: [{ name: 'a', value: '1' }], remove: ['A'] })],
    {},
    'IncompatibleFilters: spec.rules[1].filters[0].requestHeaderModifier.remove[0]: A is changed twice',
  ],
  [
    'a redirect and a rewrite',
    [filter('RequestRedirect', {}), filter('URLRewrite', {})],
    { backendRefs: [] },
    'IncompatibleFilters: spec.rules[1].filters: RequestRedirect and URLRewrite contradict each other',
  ],
  [
    'a redirect and a backend',
    [filter('RequestRedirect', {})],
    {},
    'IncompatibleFilters: spec.rules[1].backendRefs: a rule that redirects has no backends',
  ],
  [
    'a replaced prefix without one',
    [filter('URLRewrite', { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } })],
    { matches: [{ path: { type: 'Exact', value: '/b' } }] },
    'IncompatibleFilters',
  ],
];

for (const [what, filters, more, told] of unusable) {
  test(`a rule with ${what} answers 500 instead of passing requests without its filter`, async (t) => {
    const origin = await startOrigin({}, { t });
    const rules = [
      {},
      { matches: [{ path: { value: '/b' } }], backendRefs: [{ name: 'main', port: 80 }], ...more, filters },
    ];
    const resources = [gateway(), route(rules), ...service('main', [origin.address])];
    const lines = troubles(read(...resources));
    equal(lines.length, 1, lines.join('\n'));
    if (told !== 'IncompatibleFilters')
      equal(lines[0], `HTTPRoute default/main PartiallyInvalid=True ${told}; its requests get 500`);
    const { port } = await startGatewayApi(t, ...resources);
    equal((await requestRaw(port, { target: '/b' })).status, 500);
    equal(origin.requestCount(), 0);
    equal((await requestRaw(port, { target: '/a' })).status, 200);
  });
}

test('durations are read as GEP-2257 writes them', () => {
  const values = {
    '0s': 0,
    '500ms': 500,
    '10s': 10_000,
    '1m30s': 90_000,
    '1h2m3s4ms': 3_723_004,
    '99999ms': 99_999,
    '1s1s': 2000,
  };
  for (const [text, valueMs] of Object.entries(values))
    deepEqual(readGatewayDuration(text), { ok: true, value: valueMs }, text);
  for (const text of [
    '',
    '1',
    '1.5s',
    '-1s',
    '100000ms',
    '1s2s3s4s5s',
    '1d',
    ' 1s',
    '1 s',
    '1S',
    '99999h',
    5,
    null,
    ['1s'],
  ])
    equal(readGatewayDuration(text).ok, false, String(text));
});

test('what is kept of bodies for copies has one limit, and is given back however a request ends', () => {
  const memory = createReplayMemory(10);
  const sent: string[] = [];
  const mirror = { takes: () => true, send: ({ body }: RequestCopy) => sent.push(String(body)) };
  const clock = createManualClock();
  const begin = (): { sink: () => BodySink; copy: CopyInMaking } => {
    let sink: BodySink | undefined;
    const copy = new CopyInMaking({ mirrors: [mirror], capBytes: 8, memory, clock });
    const source = { start: (given: BodySink) => void (sink = given), pause() {}, resume() {} };
    copy.tap(source).start({ chunk() {}, end() {}, fail() {} });
    copy.head({ method: 'POST', path: '/', fields: [] });
    return { sink: () => sink!, copy };
  };
  const [whole, refused, failed, left, large] = [begin(), begin(), begin(), begin(), begin()];
  whole.sink().chunk(Buffer.from('123456'));
  refused.sink().chunk(Buffer.from('12345'));
  equal(memory.usedBytes, 6);
  refused.sink().end([]);
  whole.sink().end([]);
  deepEqual([memory.usedBytes, sent], [0, ['123456']]);
  failed.sink().chunk(Buffer.from('1'));
  failed.sink().fail(localFailure('http_request_error', 'cut'));
  left.sink().chunk(Buffer.from('12'));
  large.sink().chunk(Buffer.from('123456789'));
  equal(memory.usedBytes, 2);
  clock.advance(10_000);
  left.sink().end([]);
  deepEqual([memory.usedBytes, sent], [0, ['123456']]);
});
