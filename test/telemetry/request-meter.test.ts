import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Buckets, DURATION_BOUNDS } from '../../src/telemetry/buckets.ts';
import { RequestMeter } from '../../src/telemetry/request-meter.ts';
import type { AttemptSample, RequestSample } from '../../src/telemetry/request-sample.ts';

function attempt(more: Partial<AttemptSample> = {}): AttemptSample {
  return { upstream: 'main', endpoint: 'a:1', durationMs: 1, free: false, status: 200, ...more };
}

function sample(more: Partial<RequestSample> = {}): RequestSample {
  return {
    method: 'GET',
    route: 'all',
    upstream: 'main',
    status: 200,
    flags: [],
    reason: 'success',
    truncated: false,
    bytesIn: 0,
    bytesOut: 0,
    durationMs: 1,
    retryBackoff: 0,
    replayLost: undefined,
    attempts: [attempt()],
    ...more,
  };
}

test('the amplification is sends per request of the last minute, at each upstream', () => {
  const meter = new RequestMeter();
  meter.record(sample({ attempts: [attempt({ status: 503 }), attempt()] }), 0);
  meter.record(sample(), 0);
  // It moved to another upstream: a request of both.
  meter.record(sample({ upstream: 'other', attempts: [attempt({ status: 503 }), attempt({ upstream: 'other' })] }), 0);
  const ratios = (nowMs: number): unknown =>
    Object.fromEntries([...meter.upstreams()].map((one) => [one.upstream, one.amplification(nowMs)]));
  deepEqual(ratios(0), { main: 4 / 3, other: 1 });
  deepEqual(ratios(61_000), { main: NaN, other: NaN });
});

test('what never left us, and a request that was not sent at all, do not amplify', () => {
  const meter = new RequestMeter();
  const unsent = attempt({ class: 'unsent', failure: 'connection_refused', endpoint: 'dead:1' });
  meter.record(sample({ attempts: [unsent, attempt()] }), 0);
  meter.record(sample({ attempts: [], reason: 'circuit-open', status: 503 }), 0);
  const [main] = meter.upstreams();
  deepEqual([main?.sendCount, main?.amplification(0)], [1, 0.5]);
});

test('methods that are not on the list share one series', () => {
  const meter = new RequestMeter();
  for (let count = 0; count < 1000; count += 1) meter.record(sample({ method: `M${count}` }), 0);
  const requests = [...meter.routes()].flatMap((route) => Array.from(route.requests()));
  deepEqual(requests, [{ method: 'other', statusClass: '2xx', reason: 'success', count: 1000 }]);
});

test('how long a tunnel was open is no duration of a request', () => {
  const meter = new RequestMeter();
  meter.record(sample({ status: 101, durationMs: 3_600_000 }), 0);
  meter.record(sample({ method: 'CONNECT', durationMs: 3_600_000 }), 0);
  meter.record(sample({ method: 'CONNECT', status: 502, durationMs: 2 }), 0);
  deepEqual(
    [...meter.routes()].map(({ durations }) => durations.sumSeconds),
    [0.002],
  );
});

test('every status has a class, whatever it is', () => {
  const meter = new RequestMeter();
  for (const status of [101, 204, 304, 499, 599, 0, 999]) meter.record(sample({ status }), 0);
  const requests = [...meter.routes()].flatMap((route) => Array.from(route.requests()));
  equal(
    requests.reduce((sum, { count }) => sum + count, 0),
    7,
  );
  deepEqual(
    requests.map(({ statusClass, count }) => [statusClass, count]),
    [
      ['1xx', 1],
      ['2xx', 1],
      ['3xx', 1],
      ['4xx', 1],
      ['5xx', 3],
    ],
  );
});

test('retries are parted into charged and free ones, and copies', () => {
  const meter = new RequestMeter();
  meter.record(sample({ attempts: [attempt(), attempt({ free: true }), attempt(), attempt({ hedge: true })] }), 0);
  const [route] = meter.routes();
  deepEqual([route?.freeRetryCount, route?.chargedRetryCount, route?.hedgeCount], [1, 1, 1]);
});

test('an outcome is that a copy won, else the failure, the class of the status, or that it was abandoned', () => {
  const meter = new RequestMeter();
  const { status: _, ...open } = attempt();
  meter.record(
    sample({
      attempts: [open, attempt({ status: 204 }), attempt({ failure: 'dns_error' }), attempt({ superseded: true })],
    }),
    0,
  );
  const [endpoint] = meter.endpoints();
  deepEqual(
    [...endpoint!.attempts()].map(({ outcome }) => outcome),
    ['abandoned', '2xx', 'dns_error', 'superseded'],
  );
});

test('ejections and opened circuits are counted as they are told', () => {
  const meter = new RequestMeter();
  const ejected = { type: 'endpoint-ejected', atMs: 0, upstream: 'main', endpoint: 'a:1', why: '', forMs: 1 } as const;
  meter.told(ejected);
  meter.told(ejected);
  meter.told({ type: 'endpoint-returned', atMs: 0, upstream: 'main', endpoint: 'a:1' });
  const change = { type: 'breaker-changed', atMs: 0, upstream: 'main', operation: 'all' } as const;
  meter.told({ ...change, from: 'closed', to: 'open' });
  meter.told({ ...change, from: 'open', to: 'half-open' });
  deepEqual(
    [...meter.endpoints()].map((one) => one.ejectionCount),
    [2],
  );
  deepEqual(
    [...meter.upstreams()].flatMap((one) => Array.from(one.opened.entries())),
    [['all', 1]],
  );
});

test('what left the configuration is kept for a while, and does not grow without end', () => {
  const meter = new RequestMeter();
  const inService = {
    routes: new Set(['all']),
    upstreams: new Set(['main']),
    hasEndpoint: (_: string, endpoint: string) => endpoint === 'a:1',
  };
  const count = (): number[] => [
    [...meter.endpoints()].length,
    [...meter.routes()].length,
    [...meter.upstreams()].length,
  ];
  for (let index = 0; index < 400; index += 1)
    meter.record(sample({ attempts: [attempt({ endpoint: `b:${index}` })] }), 0);
  meter.record(sample(), 0);
  meter.forgetStale(inService);
  deepEqual(count(), [401, 1, 1], 'a scrape that is late still finds what they counted');
  for (let index = 0; index < 600; index += 1) {
    const upstream = `gone-${index}`;
    meter.record(
      sample({ route: `gone-${index}`, upstream, attempts: [attempt({ upstream, endpoint: `c:${index}` })] }),
      0,
    );
  }
  meter.forgetStale(inService);
  deepEqual(count(), [1, 1, 1]);
});

test('an observation falls into the first bucket that is not below it', () => {
  const buckets = new Buckets();
  for (const ms of [0, 1, 1.001, 30_000, 30_001, Infinity]) buckets.observeMs(ms);
  deepEqual(
    [buckets.counts[0], buckets.counts[1], buckets.counts[DURATION_BOUNDS.length - 1], buckets.counts.at(-1)],
    [2, 1, 1, 2],
  );
  ok(DURATION_BOUNDS.every((bound, index) => index === 0 || bound > DURATION_BOUNDS[index - 1]!));
});
