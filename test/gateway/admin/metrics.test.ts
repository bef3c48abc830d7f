import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readExposition } from '../../support/exposition.ts';
import { connectFrames, frame, frameTypes } from '../../support/http2-frames.ts';
import { failOnLeaks } from '../../support/leak-check.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { connectRaw, requestRaw } from '../../support/raw-client.ts';
import { startOrigin } from '../../support/scripted-origin.ts';
import { startAdminRig } from './rig.ts';

failOnLeaks();

interface LogLine {
  readonly status: number;
  readonly reason?: string;
  readonly flags: readonly string[];
  readonly retryAttempts: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly attempts: readonly { readonly class?: string }[];
}

test('the metrics of mixed traffic add up to what the origins saw and the log says', async (t) => {
  const second = await startOrigin({}, { t });
  const first = await startOrigin(
    {
      rules: [
        { when: { target: '/refuse' }, behave: { do: 'respond', status: 503 } },
        { when: { target: '/reset' }, behave: { do: 'reset' } },
        {
          when: { target: '/cut' },
          behave: { do: 'respond', body: 'x'.repeat(100), cut: { bodyBytes: 10 }, then: 'reset' },
        },
        { when: { target: '/missing' }, behave: { do: 'respond', status: 404 } },
      ],
    },
    { t },
  );
  const rig = await startAdminRig(t, [first.address, second.address], {
    route: ', match: { path: { prefix: / } }, retry: { attempts: 1, codes: [503], on: [unsent, reset], backoff: 0s }',
  });
  const traffic = [
    ...Array.from({ length: 5 }, () => ({ target: '/fine' })),
    ...Array.from({ length: 3 }, () => ({ target: '/refuse' })),
    { target: '/refuse', method: 'POST', body: 'once' },
    { target: '/reset' },
    { target: '/reset', method: 'POST', body: 'once' },
    { target: '/cut' },
    { target: '/missing', method: 'PROPFIND' },
    { target: '/x/%zz' },
  ];
  for (const request of traffic) await requestRaw(rig.address, request);

  const metrics = await rig.metrics();
  const sends = first.requestCount() + second.requestCount();
  equal(metrics.sum('mulligan_requests_total'), traffic.length);
  equal(metrics.sum('mulligan_request_duration_seconds_count'), traffic.length);
  equal(metrics.sum('mulligan_attempts_total'), sends);
  equal(metrics.sum('mulligan_attempt_duration_seconds_count'), sends);
  equal(metrics.sum('mulligan_sends_total', { upstream: 'main' }), sends);
  equal(metrics.sum('mulligan_attempts_total', { endpoint: first.address }), first.requestCount());
  equal(metrics.sum('mulligan_attempts_total', { endpoint: second.address }), second.requestCount());
  equal(
    metrics.sum('mulligan_retries_total'),
    sends - (traffic.length - 1),
    'all but the malformed one were sent once',
  );
  equal(metrics.sum('mulligan_stops_total'), traffic.length - 1);
  equal(metrics.value('mulligan_requests_total', { method: 'other', status_class: '4xx', route: 'all' }), 1);
  equal(metrics.value('mulligan_stops_total', { reason: 'not-idempotent' }), 2);
  equal(metrics.value('mulligan_truncated_responses_total', { route: 'all', upstream: 'main' }), 1);
  equal(metrics.value('mulligan_amplification_ratio'), sends / (traffic.length - 1));
  equal(metrics.value('mulligan_requests_inflight'), 0);

  await rig.gateway.stop();
  const lines = readFileSync(rig.log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LogLine);
  const total = (of: (line: LogLine) => number): number => lines.reduce((sum, line) => sum + of(line), 0);
  equal(lines.length, traffic.length);
  equal(
    metrics.sum('mulligan_retries_total'),
    total((line) => line.retryAttempts),
  );
  equal(
    metrics.sum('mulligan_request_body_bytes_total'),
    total((line) => line.bytesIn),
  );
  equal(
    metrics.sum('mulligan_response_body_bytes_total'),
    total((line) => line.bytesOut),
  );
  equal(
    metrics.sum('mulligan_request_flags_total'),
    total((line) => line.flags.length),
  );
  for (const reason of new Set(lines.map((line) => line.reason)))
    equal(
      metrics.sum('mulligan_requests_total', { reason: reason ?? '' }),
      lines.filter((line) => line.reason === reason).length,
      reason,
    );
});

test('attempts that could not connect are attempts, and no sends', async (t) => {
  const dead = await startOrigin({}, { t });
  await dead.stopListening();
  const origin = await startOrigin({}, { t });
  const rig = await startAdminRig(t, [dead.address, origin.address], { clock: createManualClock(0, Date.now()) });
  equal((await requestRaw(rig.address)).status, 200);
  const metrics = await rig.metrics();
  equal(
    metrics.value('mulligan_attempts_total', {
      endpoint: dead.address,
      class: 'unsent',
      outcome: 'connection_refused',
    }),
    1,
  );
  equal(metrics.value('mulligan_sends_total'), origin.requestCount());
  equal(metrics.value('mulligan_amplification_ratio'), 1);
  equal(metrics.value('mulligan_endpoint_state', { endpoint: dead.address, state: 'paused' }), 1);
});

test('every family has help, a type that fits its name, and no label that a client can fill', async (t) => {
  const origin = await startOrigin({}, { t });
  const rig = await startAdminRig(t, [origin.address]);
  await requestRaw(rig.address, {
    method: 'SUBSCRIBE',
    target: '/secretpath?secretquery',
    headers: { 'X-A': 'secretfield' },
  });
  const { text, fields } = await rig.ask('/metrics');
  ok(fields.includes('text/plain; version=0.0.4; charset=utf-8'));
  ok(!text.includes('secret') && !text.includes('SUBSCRIBE'));
  const { families } = readExposition(text);
  for (const [name, { help, type, samples }] of families) {
    ok(help.length > 10, name);
    if (!name.startsWith('mulligan_')) continue;
    match(help, /\.$/, name);
    equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
    if (type === 'histogram') match(name, /_seconds$/);
    const unit = /_(seconds|bytes|ratio)(_total)?$/.exec(name);
    if (/duration|wait_|timestamp|memory|body_bytes|amplification/.test(name))
      ok(unit !== null, `${name} names its unit`);
    ok(
      samples.every((sample) => sample.value >= 0),
      name,
    );
  }
  ok(families.has('nodejs_eventloop_lag_p99_seconds') && families.has('process_cpu_seconds_total'));
});

test('what is in flight, held and open shows while it is', async (t) => {
  const origin = await startOrigin({ do: 'respond', gate: 'answer' }, { t });
  const rig = await startAdminRig(t, [origin.address], { upstream: ', circuitBreaker: { maxInflightRequests: 7 }' });
  const client = await connectRaw(rig.address, { t });
  const answer = client.request({ method: 'PUT', body: 'x'.repeat(5000) });
  await origin.waitForRequest();
  const during = await rig.metrics();
  equal(during.value('mulligan_requests_inflight'), 1);
  equal(during.value('mulligan_client_connections'), 1);
  equal(during.value('mulligan_permits_inflight', { upstream: 'main' }), 1);
  equal(during.value('mulligan_permits_limit', { upstream: 'main' }), 7);
  equal(during.value('mulligan_endpoint_attempts_inflight'), 1);
  equal(during.value('mulligan_endpoint_connections', { state: 'busy' }), 1);
  ok(during.value('mulligan_replay_memory_used_bytes') >= 5000);
  equal(during.value('mulligan_replay_memory_limit_bytes'), 64 * 1024 * 1024);
  origin.open('answer');
  equal((await answer).status, 200);
  const after = await rig.metrics();
  equal(after.value('mulligan_permits_inflight'), 0);
  equal(after.value('mulligan_replay_memory_used_bytes'), 0);
  equal(after.value('mulligan_endpoint_connections', { state: 'idle' }), 1);
});

test('requests are counted while the access log is off, too', async (t) => {
  const origin = await startOrigin({}, { t });
  const rig = await startAdminRig(t, [origin.address], { log: 'off' });
  await requestRaw(rig.address);
  equal((await rig.metrics()).sum('mulligan_requests_total'), 1);
});

test('a body that is too large to keep is counted by its cause', async (t) => {
  const origin = await startOrigin({}, { t });
  const rig = await startAdminRig(t, [origin.address], { route: ', replayBuffer: 1KiB' });
  await requestRaw(rig.address, { method: 'PUT', body: 'x'.repeat(5000) });
  const metrics = await rig.metrics();
  const [sample] = metrics.families.get('mulligan_bodies_not_replayable_total')!.samples;
  equal(sample?.value, 1);
  deepEqual([sample?.labels['route'], sample?.labels['upstream']], ['all', 'main']);
});

test('a spent budget shows as balance and as the reason of the stops', async (t) => {
  const origin = await startOrigin({ do: 'respond', status: 503 }, { t });
  const rig = await startAdminRig(t, [origin.address], {
    upstream: ', retryBudget: { percent: 0, interval: 1h, minRetryRate: { count: 0, interval: 1h } }',
    route: ', retry: { codes: [503], backoff: 0s }',
  });
  await requestRaw(rig.address);
  const metrics = await rig.metrics();
  equal(metrics.value('mulligan_retry_budget_balance', { upstream: 'main' }), 0);
  equal(metrics.value('mulligan_stops_total', { reason: 'budget-exhausted' }), 1);
});

test('without an admin section nothing listens and no module behind it is loaded', async (t) => {
  const { runNode } = await import('./run-node.ts');
  const script = `
    import { parseConfig } from './src/config/parse.ts';
    import { createGateway } from './src/gateway/gateway.ts';
    const text = 'listeners: [{ address: 127.0.0.1:0 }]\\nupstreams: { a: { endpoints: [127.0.0.1:9] } }\\nroutes: [{ upstream: a }]\\naccessLog: { path: /dev/null }';
    const gateway = createGateway(parseConfig(text, 'f').config);
    await gateway.start();
    const { moduleLoadList } = process;
    console.log(gateway.adminAddress, moduleLoadList.includes('NativeModule http'), Object.keys((await import('node:module')).default._cache).some((path) => path.includes('prom-client')));
    await gateway.stop();
  `;
  equal((await runNode(t, script)).trim(), 'undefined false false');
});

test('a connection that is refused is counted by its reason', async (t) => {
  const origin = await startOrigin({}, { t });
  const rig = await startAdminRig(t, [origin.address]);
  const client = await connectFrames(Number(rig.address.split(':')[1]), { t });
  for (let count = 0; count < 50; count += 1) await client.send(frame(frameTypes.settings, 0, 0));
  await client.waitForClose();
  equal((await rig.metrics()).value('mulligan_client_connections_refused_total', { reason: 'settings-flood' }), 1);
});
