import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { failOnLeaks } from '../../support/leak-check.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { requestRaw } from '../../support/raw-client.ts';
import { startOrigin } from '../../support/scripted-origin.ts';
import { startAdminRig } from './rig.ts';

failOnLeaks();

test('an ejected endpoint shows with its reason and its return, as an event, and in the metrics', async (t) => {
  const bad = await startOrigin({ do: 'respond', status: 503 }, { t });
  const good = await startOrigin({}, { t });
  const clock = createManualClock(0, Date.UTC(2026, 0, 1));
  const rig = await startAdminRig(t, [bad.address, good.address], {
    clock,
    upstream: ', outlierDetection: { consecutiveFailures: 2, baseEjection: 30s }',
  });
  const reader = await rig.events();
  for (let count = 0; count < 3; count += 1) await requestRaw(rig.address);
  deepEqual([bad.requestCount(), good.requestCount()], [2, 1]);
  const ejected = await reader.event('endpoint-ejected');
  deepEqual([ejected['upstream'], ejected['endpoint'], ejected['forMs']], ['main', bad.address, 30_000]);
  const { endpoints } = JSON.parse((await rig.ask('/upstreams/main')).text) as {
    endpoints: readonly { readonly state: string; readonly until?: string }[];
  };
  deepEqual(
    endpoints.map(({ state, until }) => [state, until]),
    [
      ['ejected', '2026-01-01T00:00:30.000Z'],
      ['available', undefined],
    ],
  );
  const metrics = await rig.metrics();
  equal(metrics.value('mulligan_endpoint_state', { endpoint: bad.address, state: 'ejected' }), 1);
  equal(metrics.value('mulligan_endpoint_ejections_total', { endpoint: bad.address }), 1);
  clock.advance(30_001);
  await requestRaw(rig.address);
  await reader.event('endpoint-returned');
  equal((await rig.metrics()).value('mulligan_endpoint_state', { endpoint: bad.address, state: 'ejected' }), 0);
});

test('a circuit that opens shows as a state, is counted, and is told', async (t) => {
  const origin = await startOrigin({ do: 'respond', status: 503 }, { t });
  const rig = await startAdminRig(t, [origin.address], {
    clock: createManualClock(0, Date.now()),
    upstream: ', circuitBreaker: { consecutiveFailures: 2 }',
  });
  const reader = await rig.events('?type=breaker-changed');
  for (let count = 0; count < 3; count += 1) await requestRaw(rig.address);
  equal(origin.requestCount(), 2);
  const changed = await reader.event('breaker-changed');
  deepEqual(
    [changed['upstream'], changed['operation'], changed['from'], changed['to']],
    ['main', 'all', 'closed', 'open'],
  );
  const metrics = await rig.metrics();
  equal(metrics.value('mulligan_breaker_state', { upstream: 'main', operation: 'all', state: 'open' }), 1);
  equal(metrics.value('mulligan_breaker_state', { upstream: 'main', operation: 'all', state: 'closed' }), 0);
  equal(metrics.value('mulligan_breaker_opened_total', { upstream: 'main', operation: 'all' }), 1);
  equal(metrics.value('mulligan_stops_total', { reason: 'circuit-open' }), 1);
});
