import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import type { TracingConfig } from '../../src/config/gateway-config.ts';
import { configOf, faultsOf, smallest } from './support.ts';

const withTracing = (text: string): string => `${smallest}tracing: ${text}\n`;

function tracingOf(text: string): TracingConfig | undefined {
  return configOf(withTracing(text)).tracing;
}

test('a collector is enough', () => {
  deepEqual(tracingOf('{ otlp: http://127.0.0.1:4318 }'), {
    collectorUrl: 'http://127.0.0.1:4318/v1/traces',
    sampling: 'parent',
    service: 'mulligan',
    headers: [],
  });
});

test('without it there is none', () => deepEqual(configOf(smallest).tracing, undefined));

for (const [written, posted] of [
  ['http://collector:4318/', 'http://collector:4318/v1/traces'],
  ['https://otlp.example/ingest', 'https://otlp.example/ingest/v1/traces'],
  ['https://otlp.example/ingest/', 'https://otlp.example/ingest/v1/traces'],
  ['http://127.0.0.1:4318/v1/traces', 'http://127.0.0.1:4318/v1/traces'],
] as const)
  test(`spans for ${written} are posted to ${posted}`, () =>
    deepEqual(tracingOf(`{ otlp: '${written}' }`)?.collectorUrl, posted));

test('everything can be set', () => {
  const text = `{ otlp: http://127.0.0.1:4318, sample: { ratio: 0.1 }, service: edge, headers: { Authorization: { env: OTLP_KEY }, x-tenant: { file: /etc/tenant } } }`;
  deepEqual(tracingOf(text), {
    collectorUrl: 'http://127.0.0.1:4318/v1/traces',
    sampling: { ratio: 0.1 },
    service: 'edge',
    headers: [
      { name: 'authorization', source: { env: 'OTLP_KEY' } },
      { name: 'x-tenant', source: { file: '/etc/tenant' } },
    ],
  });
});

/** Each row: what is written, and every fault it gives. */
const rows: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'no collector',
    '{ service: edge }',
    [
      '8:10 tracing.otlp: is missing (The collector: its URL for OTLP over HTTP. `/v1/traces` is added unless it is there.)',
    ],
  ],
  [
    'an address',
    '{ otlp: 127.0.0.1:4318 }',
    ['8:18 tracing.otlp: is not a URL of http or https (for example http://127.0.0.1:4318)'],
  ],
  [
    'another scheme',
    '{ otlp: grpc://127.0.0.1 }',
    ['8:18 tracing.otlp: is not a URL of http or https (for example http://127.0.0.1:4318)'],
  ],
  [
    'a secret in the URL',
    '{ otlp: http://me:secret@127.0.0.1 }',
    [
      '8:18 tracing.otlp: holds a user name (secrets do not belong here: use headers: { authorization: { file: PATH } })',
    ],
  ],
  [
    'a query',
    "{ otlp: 'http://127.0.0.1/?key=1' }",
    ['8:18 tracing.otlp: has a query or a fragment (write the scheme, the host, the port and perhaps a path)'],
  ],
  [
    'the port of gRPC',
    '{ otlp: http://127.0.0.1:4317 }',
    [
      '8:18 warning: tracing.otlp: port 4317 is that of OTLP over gRPC, which is not spoken here (OTLP over HTTP has port 4318)',
    ],
  ],
  [
    'a sample that is none',
    '{ otlp: http://a, sample: never }',
    ['8:36 tracing.sample: is not a choice of requests (write parent, always or { ratio: 0.1 })'],
  ],
  [
    'a ratio of 0',
    '{ otlp: http://a, sample: { ratio: 0 } }',
    ['8:36 tracing.sample: must have a ratio above 0, at most 1 (to record nothing, remove `tracing`)'],
  ],
  [
    'a ratio in percent',
    '{ otlp: http://a, sample: { ratio: 10 } }',
    ['8:36 tracing.sample: must have a ratio above 0, at most 1 (to record nothing, remove `tracing`)'],
  ],
  [
    'a value in the file',
    '{ otlp: http://a, headers: { authorization: Bearer abc } }',
    [
      '8:54 tracing.headers.authorization: must be a mapping, not text (write { file: PATH } or { env: NAME }: the value itself never stands in this file)',
    ],
  ],
  [
    'a header without a source',
    '{ otlp: http://a, headers: { authorization: {} } }',
    ['8:54 tracing.headers.authorization: is empty (write { file: PATH } or { env: NAME })'],
  ],
  [
    'a header with two sources',
    '{ otlp: http://a, headers: { authorization: { file: a, env: B } } }',
    ['8:54 tracing.headers.authorization: has two sources (keep `file` or `env`)'],
  ],
  [
    'a field that is not one',
    "{ otlp: http://a, headers: { 'a b': { env: B } } }",
    ['8:39 tracing.headers["a b"]: "a b" is not a field name (for example authorization)'],
  ],
  [
    'a field of the exporter',
    '{ otlp: http://a, headers: { Content-Type: { env: B } } }',
    ['8:39 tracing.headers.Content-Type: is set by the exporter (remove it)'],
  ],
  [
    'a variable that is none',
    '{ otlp: http://a, headers: { a: { env: a-b } } }',
    [
      '8:49 tracing.headers.a.env: is not the name of an environment variable (for example OTLP_AUTHORIZATION; the value itself never stands in this file)',
    ],
  ],
];

for (const [name, text, expected] of rows)
  test(`${name} is told with its place`, () => deepEqual(faultsOf(withTracing(text)), expected));
