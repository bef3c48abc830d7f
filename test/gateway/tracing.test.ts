import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { GatewayConfig } from '../../src/config/gateway-config.ts';
// Before leaks are looked for: the SDK opens standard input when it is loaded, once a process.
import '../../src/telemetry/opentelemetry.ts';
import type { Collector } from '../support/collector.ts';
import { startCollector } from '../support/collector.ts';
import type { FieldsInput } from '../support/fields.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import type { OriginScript } from '../support/origin-script.ts';
import { connectRaw, requestRaw } from '../support/raw-client.ts';
import type { FileObject } from '../support/running-gateway.ts';
import type { ScriptedOrigin } from '../support/scripted-origin.ts';
import { startOrigin } from '../support/scripted-origin.ts';
import type { LiveGateway } from './live-gateway.ts';
import { liveConfig, startLive } from './live-gateway.ts';

failOnLeaks();

const traceId = '0af7651916cd43dd8448eb211c80319c';
const clientSpan = 'b7ad6b7169203331';
const recorded = `00-${traceId}-${clientSpan}-01`;
const notRecorded = `00-${traceId}-${clientSpan}-00`;

interface Rig extends LiveGateway {
  readonly origin: ScriptedOrigin;
  readonly collector: Collector;
  get(headers?: FieldsInput, target?: string): Promise<number>;
  /** Ends the gateway in order; every span has reached the collector then. */
  drain(): Promise<void>;
}

function config(
  origin: string,
  tracing: FileObject | undefined,
  route: FileObject = {},
  more: FileObject = {},
): GatewayConfig {
  return liveConfig({
    upstreams: { main: { endpoints: [origin] } },
    routes: [{ name: 'orders', upstream: 'main', retry: { attempts: 2, codes: [503], backoff: '1ms' }, ...route }],
    shutdown: { drain: '10s' },
    ...(tracing === undefined ? {} : { tracing }),
    ...more,
  });
}

async function startRig(
  t: TestContext,
  script: OriginScript,
  tracing: FileObject = {},
  route?: FileObject,
): Promise<Rig> {
  const origin = await startOrigin(script, { t });
  const collector = await startCollector({ t });
  const live = await startLive(t, config(origin.address, { otlp: collector.url, ...tracing }, route));
  return {
    ...live,
    origin,
    collector,
    get: async (headers = {}, target = '/') => (await requestRaw(live.address, { target, headers })).status,
    drain: async () => {
      equal(await live.gateway.drain(), true);
    },
  };
}

const failOnce: OriginScript = [{ do: 'respond', status: 503 }, { do: 'respond' }];

test('a request with two attempts is three spans: the client’s is above ours, and ours above the attempts', async (t) => {
  const { origin, collector, get, drain } = await startRig(t, failOnce);
  equal(await get({ traceparent: recorded }), 200);
  await drain();
  equal(collector.spans.length, 3);
  const server = collector.server();
  const [first, second] = collector.clients();
  deepEqual(
    collector.spans.map((span) => span.traceId),
    [traceId, traceId, traceId],
  );
  equal(server.parentSpanId, clientSpan);
  deepEqual([first?.parentSpanId, second?.parentSpanId], [server.spanId, server.spanId]);
  equal(new Set(collector.spans.map(({ spanId }) => spanId)).size, 3);
  deepEqual(
    [1, 2].map((number) => origin.request(number).values('traceparent')),
    [[`00-${traceId}-${first!.spanId}-01`], [`00-${traceId}-${second!.spanId}-01`]],
  );
  ok(first!.startMs >= server.startMs && second!.startMs >= first!.startMs, 'one after the other');
  ok(server.endMs >= second!.endMs - 0.01, 'the request spans its attempts');
});

test('the attempts say what the record says', async (t) => {
  const { origin, collector, get, drain } = await startRig(t, failOnce, { service: 'edge' });
  await get({}, '/orders/1');
  await drain();
  const [first, second] = collector.clients();
  deepEqual(
    { name: first!.name, isError: first!.isError, service: first!.service },
    { name: 'GET', isError: true, service: 'edge' },
  );
  deepEqual(first!.attributes, {
    'http.request.method': 'GET',
    'url.full': `http://${origin.address}/orders/1`,
    'url.path': '/orders/1',
    'server.address': '127.0.0.1',
    'server.port': origin.port,
    'network.protocol.version': '1.1',
    'http.response.status_code': 503,
    'error.type': '503',
    'mulligan.upstream': 'main',
    'mulligan.connection_reused': false,
    'mulligan.safety_class': 'answered',
  });
  const { attributes } = second!;
  deepEqual(
    ['http.request.resend_count', 'http.response.status_code', 'error.type', 'mulligan.stop_reason'].map(
      (name) => attributes[name],
    ),
    [1, 200, undefined, 'success'],
  );
  equal(second!.isError, false);
});

test('the request says what its client got, and why there was no further retry', async (t) => {
  const { collector, get, drain } = await startRig(
    t,
    { do: 'respond', status: 503 },
    {},
    { retry: { attempts: 1, codes: [503], backoff: '1ms' } },
  );
  await get({ host: 'shop.example:8080' }, '/orders/1');
  await drain();
  const { name, isError, attributes } = collector.server();
  deepEqual([name, isError], ['GET orders', true]);
  ok(Number(attributes['mulligan.wait_ms']) >= 0);
  deepEqual(
    { ...attributes, 'mulligan.wait_ms': 0 },
    {
      'http.request.method': 'GET',
      'url.scheme': 'http',
      'url.path': '/orders/1',
      'server.address': 'shop.example',
      'server.port': 8080,
      'network.protocol.version': '1.1',
      'http.response.status_code': 503,
      'error.type': '503',
      'mulligan.route': 'orders',
      'mulligan.upstream': 'main',
      'mulligan.flags': ['URX'],
      'mulligan.retry_count': 1,
      'mulligan.wait_ms': 0,
      'mulligan.stop_reason': 'attempts-exhausted',
    },
  );
});

test('an attempt that died says how', async (t) => {
  const { origin, collector, get, drain } = await startRig(t, {});
  await origin.stopListening();
  equal(await get(), 502);
  await drain();
  const [attempt] = collector.clients();
  deepEqual([attempt?.attributes['error.type'], attempt?.isError], ['connection_refused', true]);
  match(attempt?.message ?? '', /ECONNREFUSED/);
  equal(collector.server().attributes['error.type'], 'connection_refused');
});

test('a response that breaks is an error of its attempt and of the request', async (t) => {
  const { collector, get, drain } = await startRig(t, {
    do: 'respond',
    body: 'x'.repeat(100),
    cut: { bodyBytes: 10 },
    then: 'destroy',
  });
  await get();
  await drain();
  const broken = [collector.server(), collector.clients()[0]!];
  deepEqual(
    broken.map(({ isError, attributes }) => [
      isError,
      attributes['error.type'],
      attributes['http.response.status_code'],
    ]),
    broken.map(() => [true, 'http_response_incomplete', 200]),
  );
});

test('a client that leaves cancels its attempt', async (t) => {
  const { address, origin, collector, drain } = await startRig(t, { do: 'hang' });
  const client = await connectRaw(address, { t });
  await client.sendRequest({});
  await origin.waitForRequest(1);
  client.reset(); // a FIN right behind its request might mean a client that still reads
  await origin.waitForNoConnection();
  await drain();
  equal(collector.clients()[0]?.attributes['error.type'], 'cancelled');
  equal(collector.server().attributes['error.type'], 'downstream_closed');
});

test('a copy of a request that takes long is a span beside the one it overtakes', async (t) => {
  const [slow, fast] = [await startOrigin({ do: 'hang' }, { t }), await startOrigin({}, { t })];
  const collector = await startCollector({ t });
  const upstream = {
    endpoints: [slow, fast].map(({ address }, priority) => ({ address, priority })),
    retryBudget: { percent: 100 }, // the first request pays for a copy at once
  };
  const file = config(
    slow.address,
    { otlp: collector.url },
    { hedge: { delay: '5ms' } },
    { upstreams: { main: upstream } },
  );
  const { address, gateway } = await startLive(t, file);
  equal((await requestRaw(address)).status, 200);
  await gateway.drain();
  const [first, copy] = collector.clients();
  deepEqual([first?.parentSpanId, copy?.parentSpanId], [collector.server().spanId, collector.server().spanId]);
  deepEqual([first?.attributes['mulligan.superseded'], first?.isError], [true, false]);
  deepEqual([copy?.attributes['mulligan.hedge'], copy?.attributes['http.request.resend_count']], [true, 1]);
  deepEqual(
    [slow, fast].map((origin) => origin.request().value('traceparent')?.split('-')[2]),
    [first?.spanId, copy?.spanId],
  );
});

test('an attempt is told with the path that it was sent with', async (t) => {
  const { origin, collector, get, drain } = await startRig(
    t,
    {},
    {},
    { match: { path: { prefix: '/api' } }, rewrite: { prefix: '/' } },
  );
  await get({}, '/api/orders');
  await drain();
  equal(origin.request().target, '/orders');
  equal(collector.server().attributes['url.path'], '/api/orders');
  equal(collector.clients()[0]?.attributes['url.path'], '/orders');
});

test('tracestate and baggage go on as they came', async (t) => {
  const { origin, get } = await startRig(t, {});
  const sent = [
    ['Traceparent', recorded],
    ['Tracestate', 'a=1'],
    ['tracestate', 'b=2'],
    ['Baggage', 'user=7;x=1'],
  ] as const;
  await get(sent);
  const request = origin.request();
  deepEqual([request.values('tracestate'), request.values('baggage')], [['a=1', 'b=2'], ['user=7;x=1']]);
  equal(request.values('traceparent').length, 1);
});

test('a malformed traceparent begins a new trace, without its tracestate', async (t) => {
  const { origin, collector, get, drain } = await startRig(t, {});
  await get({ traceparent: `${recorded}-more`, tracestate: 'a=1', baggage: 'user=7' });
  await drain();
  const server = collector.server();
  const request = origin.request();
  equal(server.parentSpanId, undefined);
  ok(server.traceId !== traceId);
  deepEqual(request.values('traceparent'), [`00-${server.traceId}-${collector.clients()[0]?.spanId}-01`]);
  deepEqual([request.values('tracestate'), request.values('baggage')], [[], ['user=7']]);
});

test('a client that does not record is not recorded: its context goes on unchanged', async (t) => {
  const { origin, collector, get, drain } = await startRig(t, failOnce);
  await get({ traceparent: notRecorded, tracestate: 'a=1' });
  await drain();
  deepEqual(
    [1, 2].map((number) => [origin.request(number).value('traceparent'), origin.request(number).value('tracestate')]),
    [
      [notRecorded, 'a=1'],
      [notRecorded, 'a=1'],
    ],
  );
  deepEqual(collector.heads, []);
});

test('with always, it is recorded all the same', async (t) => {
  const { collector, get, drain } = await startRig(t, {}, { sample: 'always' });
  await get({ traceparent: notRecorded });
  await drain();
  deepEqual([collector.server().traceId, collector.server().parentSpanId], [traceId, clientSpan]);
});

test('a ratio chooses by trace id alone, and tells the upstream what it chose', async (t) => {
  const { origin, collector, get, drain } = await startRig(t, {}, { sample: { ratio: 0.5 } });
  const chosen = `00-${'a'.repeat(18)}80000000000000-${clientSpan}-01`;
  const left = `00-${'a'.repeat(18)}7fffffffffffff-${clientSpan}-01`;
  for (const traceparent of [chosen, left, chosen, left]) await get({ traceparent });
  await drain();
  deepEqual(
    [1, 2, 3, 4].map((number) => origin.request(number).value('traceparent')?.slice(-2)),
    ['01', '00', '01', '00'],
  );
  const sent = origin.request(2).value('traceparent')!.split('-');
  equal(sent[1], left.split('-')[1]);
  ok(sent[2] !== clientSpan, 'a flag is changed only together with the span id');
  deepEqual([...new Set(collector.spans.map((span) => span.traceId))], [chosen.split('-')[1]]);
});

test('no secret of a request reaches the collector', async (t) => {
  const { collector, get, drain } = await startRig(t, [
    { do: 'respond', status: 503, headers: { 'set-cookie': 'sesame-3' } },
    { do: 'reset' },
  ]);
  await get({ authorization: 'Bearer sesame-1', cookie: 'sesame-2', traceparent: recorded }, '/orders?key=sesame-4');
  await drain();
  ok(collector.spans.length > 0);
  equal(collector.texts.join('').includes('sesame'), false);
});

test('what the client sent goes on unchanged while nothing is configured', async (t) => {
  const origin = await startOrigin({}, { t });
  const { address } = await startLive(t, config(origin.address, undefined));
  const odd = 'not-a-context';
  await requestRaw(address, { headers: { traceparent: odd, tracestate: 'a=1', baggage: 'b=2' } });
  await requestRaw(address);
  const [first, second] = [origin.request(1), origin.request(2)];
  deepEqual(
    ['traceparent', 'tracestate', 'baggage'].map((name) => [first.value(name), second.value(name)]),
    [
      [odd, undefined],
      ['a=1', undefined],
      ['b=2', undefined],
    ],
  );
});

test('a collector that refuses changes nothing for requests, and what is lost is said once', async (t) => {
  const origin = await startOrigin({}, { t });
  const gone = await startOrigin({}, { t });
  await gone.stopListening();
  const { address, gateway, said, heard } = await startLive(
    t,
    config(origin.address, { otlp: `http://${gone.address}` }),
  );
  for (let count = 0; count < 20; count += 1) equal((await requestRaw(address)).status, 200);
  await gateway.stop();
  await heard(/tracing: 40 spans lost so far, lately on the way to http:\/\/127\.0\.0\.1:\d+\/v1\/traces: /);
  equal(said.filter((line) => line.includes('lost')).length, 1);
});

test('spans that the collector does not want are counted in the metrics', async (t) => {
  const origin = await startOrigin({}, { t });
  const collector = await startCollector({ t, status: 400 });
  const file = config(origin.address, { otlp: collector.url }, {}, { admin: { address: '127.0.0.1:0' } });
  const { address, gateway, said } = await startLive(t, file);
  await requestRaw(address);
  await gateway.drain();
  const { text } = await requestRaw(gateway.adminAddress!, {
    target: '/metrics',
    headers: { host: gateway.adminAddress! },
  });
  match(text, /^mulligan_trace_spans_lost_total 2$/m);
  equal(said.filter((line) => line.includes('2 spans lost so far')).length, 1);
});

test('a collector that hangs holds up neither requests nor the end for long', async (t) => {
  const origin = await startOrigin({}, { t });
  const collector = await startCollector({ t, hang: true });
  const { address, gateway, heard } = await startLive(t, config(origin.address, { otlp: collector.url }));
  for (let count = 0; count < 300; count += 1) equal((await requestRaw(address)).status, 200);
  await collector.asked();
  for (let count = 0; count < 20; count += 1) equal((await requestRaw(address)).status, 200);
  await gateway.stop();
  await heard(/tracing: \d+ spans lost so far/);
});

test('the collector gets the fields it wants, from where they are', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-tracing-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'key');
  writeFileSync(file, 'Bearer abc\n');
  const { collector, get, drain } = await startRig(t, {}, { headers: { authorization: { file } } });
  await get();
  await drain();
  const [head] = collector.heads;
  deepEqual([head?.path, head?.headers['authorization']], ['/v1/traces', 'Bearer abc']);
  equal(head?.headers['content-type'], 'application/json');
});

test('a gateway does not start without the value of such a field', async (t) => {
  const origin = await startOrigin({}, { t });
  const tracing = { otlp: 'http://127.0.0.1:4318', headers: { authorization: { env: 'MULLIGAN_TEST_UNSET' } } };
  const started = startLive(t, config(origin.address, tracing));
  const error = await started.then(
    () => undefined,
    (reason: unknown) => reason as Error,
  );
  match(
    error?.message ?? '',
    /^tracing\.headers\.authorization: the environment variable MULLIGAN_TEST_UNSET is empty/,
  );
});

test('a reload moves new requests to another collector; one under way ends where it began', async (t) => {
  const { address, origin, collector, gateway, drain } = await startRig(t, { do: 'respond', gate: 'later' });
  const other = await startCollector({ t });
  const client = await connectRaw(address, { t });
  await client.sendRequest({ target: '/before' });
  await origin.waitForRequest(1);
  await gateway.reload({ ...gateway.config, tracing: config(origin.address, { otlp: other.url }).tracing });
  origin.open('later');
  equal((await client.response()).status, 200);
  client.destroy();
  equal((await requestRaw(address, { target: '/after' })).status, 200);
  await collector.received(2);
  await drain();
  deepEqual(
    [collector, other].map((one) => one.spans.map(({ attributes }) => attributes['url.path'])),
    [
      ['/before', '/before'],
      ['/after', '/after'],
    ],
  );
});

test('a reload that ends tracing lets contexts pass again', async (t) => {
  const { origin, gateway, collector, get } = await startRig(t, {});
  await get({ traceparent: recorded });
  await gateway.reload({ ...gateway.config, tracing: undefined });
  await get({ traceparent: recorded });
  await collector.received(2);
  ok(origin.request(1).value('traceparent') !== recorded);
  equal(origin.request(2).value('traceparent'), recorded);
});
