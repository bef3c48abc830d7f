import { ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseGatewayApi } from '../../src/config/gateway-api/gateway-api.ts';
import { buildState, retireState } from '../../src/gateway/build.ts';
import { createSystemClock } from '../../src/transport/system-time.ts';
import { gateway, manifest, resource, route, service } from './support.ts';

/** Resources that use every field. */
const whole: readonly object[] = [
  gateway([
    {
      hostname: '*.example',
      allowedRoutes: {
        namespaces: { from: 'Selector', selector: { matchLabels: { a: 'b' } } },
        kinds: [{ kind: 'HTTPRoute' }],
      },
    },
    { name: 'b', port: 81 },
  ]),
  route(
    [
      {
        name: 'r',
        matches: [
          {
            path: { type: 'PathPrefix', value: '/a' },
            headers: [{ name: 'x', value: '1' }],
            queryParams: [{ name: 'p', value: '1' }],
            method: 'GET',
          },
        ],
        filters: [
          {
            type: 'RequestHeaderModifier',
            requestHeaderModifier: {
              set: [{ name: 'a', value: '1' }],
              add: [{ name: 'b', value: '1' }],
              remove: ['c'],
            },
          },
          {
            type: 'URLRewrite',
            urlRewrite: { hostname: 'a.example', path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/b' } },
          },
          { type: 'RequestMirror', requestMirror: { backendRef: { name: 'main', port: 80 }, percent: 50 } },
        ],
        backendRefs: [
          { name: 'main', port: 80, weight: 1 },
          { name: 'far', namespace: 'other', port: 80, weight: 0 },
        ],
        timeouts: { request: '10s', backendRequest: '1s' },
        retry: { codes: [500], attempts: 2, backoff: '1s' },
      },
      {
        filters: [
          {
            type: 'RequestRedirect',
            requestRedirect: {
              scheme: 'https',
              hostname: 'b.example',
              port: 1,
              statusCode: 301,
              path: { type: 'ReplaceFullPath', replaceFullPath: '/' },
            },
          },
        ],
      },
    ],
    {
      hostnames: ['a.example', '*.b.example'],
      parentRefs: [{ name: 'edge', sectionName: 'l0', port: 8080 }, { name: 'edge' }],
    },
  ),
  ...service('main', ['127.0.0.1:9001', '127.0.0.2:9001']),
  ...service('far', ['127.0.0.1:9002'], { namespace: 'other' }),
  resource(
    'ReferenceGrant',
    'g',
    {
      spec: {
        from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'default' }],
        to: [{ group: '', kind: 'Service', name: 'far' }],
      },
    },
    { namespace: 'other' },
  ),
  resource('BackendTrafficPolicy', 'p', {
    spec: {
      targetRefs: [{ group: '', kind: 'Service', name: 'main' }],
      retryConstraint: { budget: { percent: 20, interval: '10s' }, minRetryRate: { count: 10, interval: '1s' } },
    },
  }),
];

const odd: readonly unknown[] = [
  null,
  undefined,
  '',
  'x',
  '/',
  '*',
  '*.example',
  '0s',
  '596h',
  '1ms',
  0,
  -1,
  1,
  1.5,
  80,
  1000,
  65_536,
  1e9,
  true,
  [],
  {},
  [null],
  [{}],
  { a: 1 },
  'RequestRedirect',
  'Exact',
  'HTTPS',
  '127.0.0.1',
  '::1',
];

/** Every place of a value below this one. */
function pathsOf(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...path]];
  return [[...path], ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], next: unknown): unknown {
  if (key === undefined) return next;
  const inner = value as Record<string, unknown>;
  const changed = replaced(inner[key], rest, next);
  return Array.isArray(value)
    ? value.map((item: unknown, index) => (String(index) === key ? changed : item))
    : { ...inner, [key]: changed };
}

test('whatever stands in a field, the reading ends, and what it gives can be served', () => {
  const clock = createSystemClock();
  const change = fc
    .constantFrom(...pathsOf(whole).filter((path) => path.length > 2))
    .chain((path) => fc.record({ path: fc.constant(path), next: fc.constantFrom(...odd) }));
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      let resources: unknown = whole;
      for (const { path, next } of changes) {
        try {
          resources = replaced(resources, path, next);
        } catch {
          // An earlier change took the place away.
        }
      }
      const reading = parseGatewayApi([{ name: 'a.yaml', text: manifest(resources as object[]) }]);
      for (const { line, message } of reading.faults) ok(line > 0 && message !== '');
      if (reading.config !== undefined) retireState(buildState(reading.config, clock));
    }),
    { numRuns: 200 },
  );
});

test('the resources of the test above are in effect as they stand there', () => {
  const { conditions, config } = parseGatewayApi([{ name: 'a.yaml', text: manifest(whole) }]);
  ok(config !== undefined && config.routes.length > 5, JSON.stringify(conditions));
});
