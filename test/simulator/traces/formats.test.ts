import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSource } from '../../../src/simulator/read-source.ts';
import { formatFault } from '../../../src/config/fault.ts';
import { drawn, type DrawnSpan, jaeger, otlp, sourceOf, zipkin } from './support.ts';

// A request of the shop: the price is asked for once and fails, and is asked for again; the stock is a server without a client's span.
const REQUEST: readonly DrawnSpan[] = [
  { id: 'a', service: 'shop', name: 'POST /buy', method: 'POST', status: 200, fromMs: 0, toMs: 60 },
  { id: 'b', parent: 'a', service: 'shop', name: 'GET', kind: 'client', status: 503, fromMs: 10, toMs: 20 },
  { id: 'c', parent: 'b', service: 'price', name: 'GET /price/{id}', method: 'GET', status: 503, fromMs: 12, toMs: 18 },
  {
    id: 'd',
    parent: 'a',
    service: 'shop',
    name: 'GET',
    kind: 'client',
    status: 200,
    resendCount: 1,
    fromMs: 25,
    toMs: 35,
  },
  { id: 'e', parent: 'd', service: 'price', name: 'GET /price/{id}', method: 'GET', status: 200, fromMs: 27, toMs: 33 },
  { id: 'f', parent: 'a', service: 'stock', name: 'take', fromMs: 40, toMs: 50 },
];

for (const [format, write] of [
  ['otlp', otlp],
  ['jaeger', jaeger],
  ['zipkin', zipkin],
] as const) {
  test(`${format} is told by its content, and read as calls, times, errors and retries`, () => {
    const source = sourceOf(write(REQUEST));
    assert.equal(source.format, format);
    assert.deepEqual(drawn(source), ['shop/POST-buy -> price/GET-price-id retries=1', 'shop/POST-buy -> stock/take']);
    const { operations, roots } = source.topology;
    assert.deepEqual(
      operations.map(({ name, method, errorRatio, serviceTime }) => [name, method, errorRatio, serviceTime]),
      [
        ['shop/POST-buy', 'POST', 0, { kind: 'constant', ms: 30 }],
        ['price/GET-price-id', 'GET', 0.5, { kind: 'constant', ms: 6 }],
        ['stock/take', 'GET', 0, { kind: 'constant', ms: 10 }],
      ].toSorted(
        (a, b) => operations.findIndex(({ name }) => name === a[0]) - operations.findIndex(({ name }) => name === b[0]),
      ),
    );
    assert.equal(roots.length, 1);
    assert.match(source.assumptions[0]!, /^read 6 spans of 1 traces over 1 s, with 1 retries in them/);
  });

  test(`the place of a call in ${format} is that of its retry`, () => {
    const source = sourceOf(write(REQUEST));
    const call = source.topology.calls.findIndex(({ policy }) => policy.maxRetries === 1);
    const { path, line, column } = source.placeOfCall(call);
    const text = JSON.stringify(write(REQUEST));
    assert.match(path, /\[3\]$|spans\[2\]$/);
    assert.equal(line, 1);
    assert.match(text.slice(column - 1, column + 200), /"d"/);
  });
}

test('JSON lines of OTLP are one file', () => {
  const text = `${JSON.stringify(otlp(REQUEST.slice(0, 3)))}\n\n${JSON.stringify(otlp(REQUEST.slice(3)))}\n`;
  const reading = readSource(text, 't.jsonl');
  assert.ok(reading.ok);
  assert.equal(reading.source.topology.operations.length, 3);
  const call = reading.source.topology.calls.findIndex(({ policy }) => policy.maxRetries === 1);
  assert.equal(reading.source.placeOfCall(call).line, 3);
});

test('logs and metrics between the traces of a collector are passed over, and alone they are no traces', () => {
  const others = '{"resourceMetrics":[]}\n{"resourceLogs":[]}\n';
  const reading = readSource(`${others}${JSON.stringify(otlp(REQUEST))}\n`, 't.jsonl');
  assert.ok(reading.ok);
  assert.equal(reading.source.topology.operations.length, 3);
  assert.match(faults(others), /^t\.json:1:1 has no spans/);
});

test('both sides of a call of Zipkin may share one id', () => {
  const source = sourceOf(
    zipkin([
      { id: '1', service: 'a', name: 'get', fromMs: 0, toMs: 30 },
      { id: '2', parent: '1', service: 'a', name: 'get', kind: 'client', fromMs: 5, toMs: 25 },
      { id: '2', parent: '1', service: 'b', name: 'read', kind: 'server', fromMs: 6, toMs: 24 },
      { id: '3', parent: '2', service: 'b', name: 'select', kind: 'client', peer: 'postgres', fromMs: 8, toMs: 20 },
    ]),
  );
  assert.deepEqual(
    drawn(source),
    ['b/read -> postgres/select', 'a/get -> b/read'].toSorted((a) => (a.startsWith('a') ? -1 : 1)),
  );
});

test('one trace of Jaeger alone, and a list of them, are read too', () => {
  const { data } = jaeger(REQUEST) as { readonly data: readonly unknown[] };
  assert.equal(sourceOf(data[0]).format, 'jaeger');
  assert.equal(sourceOf(data).format, 'jaeger');
});

test('OTLP with kinds and states by their names is read like that with numbers', () => {
  const text = JSON.stringify(otlp(REQUEST))
    .replaceAll('"kind":2', '"kind":"SPAN_KIND_SERVER"')
    .replaceAll('"kind":3', '"kind":"SPAN_KIND_CLIENT"');
  assert.deepEqual(drawn(sourceOf(JSON.parse(text))), drawn(sourceOf(otlp(REQUEST))));
});

const faults = (text: string, format?: 'otlp' | 'zipkin' | 'jaeger'): string => {
  const reading = readSource(text, 't.json', format);
  assert.ok(!reading.ok);
  return reading.faults.map(formatFault).join('\n');
};

for (const [name, text, format, expected] of [
  [
    'text that was cut off',
    '{"resourceSpans":[{"resource":',
    undefined,
    /^t\.json:1:31 ends in the middle of its JSON \(OpenTelemetry traces .* was expected\)$/,
  ],
  ['a comma too many', '{"resourceSpans":\n[,]}', undefined, /^t\.json:2:2 is no JSON from here on/],
  ['a topology where traces were promised', 'services: {}', 'otlp', /^t\.json:1:1 is no JSON/],
  [
    'another format than was promised',
    '[]',
    'otlp',
    /^t\.json:1:1 must be an object \(an object with `resourceSpans`\)$/,
  ],
  ['no spans at all', '{"resourceSpans":[]}', undefined, /^t\.json:1:1 has no spans \(export traces that have some\)$/],
  ['no list', '{"resourceSpans":5}', undefined, /^t\.json:1:18 resourceSpans: must be an array/],
  [
    'a span without an id',
    '{"resourceSpans":[{"scopeSpans":[{"spans":[\n {"traceId":"a"}]}]}]}',
    undefined,
    /^t\.json:2:2 resourceSpans\[0\]\.scopeSpans\[0\]\.spans\[0\]\.spanId: is missing \(hexadecimal text\)$/,
  ],
  [
    'a span without a time',
    '[{"traceId":"a","id":"1","timestamp":"soon"}]',
    undefined,
    /\[0\]\.timestamp: is not a time \(microseconds since 1970\)$/,
  ],
  [
    'a span that is below itself',
    '[{"traceId":"a","id":"1","parentId":"2","timestamp":1},{"traceId":"a","id":"2","parentId":"1","timestamp":1}]',
    undefined,
    /^t\.json:1:2 \[0\]: is below itself, and so are all the others \(export whole traces/,
  ],
  [
    'a span of no process',
    '{"data":[{"traceID":"a","processes":{},"spans":[{"traceID":"a","spanID":"1","operationName":"x","processID":"p1","startTime":1,"duration":1}]}]}',
    undefined,
    /data\[0\]\.spans\[0\]\.processID: is missing \(the key of a process that has a `serviceName`\)$/,
  ],
] as const) {
  test(`${name} is refused with its place, and what to do`, () => {
    assert.match(faults(text, format), expected);
  });
}
