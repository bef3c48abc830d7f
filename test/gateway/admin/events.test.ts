import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { configOf } from '../../config/support.ts';
import { failOnLeaks } from '../../support/leak-check.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { connectRaw, requestRaw } from '../../support/raw-client.ts';
import { startOrigin } from '../../support/scripted-origin.ts';
import { startAdminRig } from './rig.ts';

failOnLeaks();

test('a reader sees each retry, why there was no further one, and the end, in this order', async (t) => {
  const origin = await startOrigin({ do: 'respond', status: 503 }, { t });
  const rig = await startAdminRig(t, [origin.address], { route: ', retry: { codes: [503], backoff: 0s }' });
  const { event, events } = await rig.events();
  await requestRaw(rig.address, { target: '/a?secret=1' });
  const ended = await event('request-ended');
  const scheduled = await event('retry-scheduled');
  const suppressed = await event('retry-suppressed');
  deepEqual(events.length, 0);
  deepEqual(
    [scheduled['requestId'], suppressed['requestId'], ended['requestId'], scheduled['route'], scheduled['upstream']],
    [1, 1, 1, 'all', 'main'],
  );
  deepEqual(scheduled['after'], { attempt: 1, endpoint: origin.address, status: 503, safety: 'answered' });
  deepEqual(suppressed['after'], { attempt: 2, endpoint: origin.address, status: 503, safety: 'answered' });
  equal(suppressed['reason'], 'attempts-exhausted');
  deepEqual(
    [ended['path'], ended['status'], ended['flags'], ended['attemptCount'], ended['retryCount']],
    ['/a', 503, ['URX'], 2, 1],
  );
  ok(!Number.isNaN(Date.parse(ended['time'] as string)));
});

test('filters leave out what was not asked for', async (t) => {
  const origin = await startOrigin(
    { rules: [{ when: { target: '/no' }, behave: { do: 'respond', status: 503 } }] },
    { t },
  );
  const rig = await startAdminRig(t, [origin.address], { route: ', retry: { codes: [503], backoff: 0s }' });
  const stops = await rig.events('?type=retry-suppressed,drain-began&upstream=main');
  const others = await rig.events('?upstream=other');
  const everything = await rig.events('?route=all');
  await requestRaw(rig.address, { target: '/yes' });
  await requestRaw(rig.address, { target: '/no' });
  await everything.event('request-ended', 2);
  await stops.event('retry-suppressed');
  deepEqual(
    stops.events.map((one) => one['event']),
    ['retry-suppressed'],
  );
  deepEqual(others.events, []);
});

test('a request without a route, reloads and drained endpoints are told too', async (t) => {
  const origin = await startOrigin({}, { t });
  const rig = await startAdminRig(t, [origin.address], {
    admin: ', write: true',
    route: ', match: { path: { prefix: /a } }',
  });
  const reader = await rig.events();
  await requestRaw(rig.address, { target: '/b' });
  const ended = await reader.event('request-ended');
  deepEqual([ended['status'], ended['flags'], ended['route'], ended['upstream']], [404, ['NR'], undefined, undefined]);
  await rig.ask(`/upstreams/main/endpoints/${origin.address}/drain`, 'PUT');
  deepEqual((await reader.event('endpoint-drain-changed'))['drained'], true);
  await rig.gateway.reload(
    configOf(rig.configText({ admin: ', write: true', upstream: ', connect: { timeout: 9s }' })),
  );
  equal((await reader.event('config-reloaded'))['accepted'], true);
  rig.gateway.refuseReload('nobody can read it');
  const refused = await reader.event('config-reloaded', 2);
  deepEqual([refused['accepted'], refused['why']], [false, 'nobody can read it']);
});

test('a reader that does not keep up is cut and counted, and traffic goes on', async (t) => {
  const origin = await startOrigin({}, { t });
  const rig = await startAdminRig(t, [origin.address]);
  const slow = await rig.events();
  slow.client.pauseReading();
  const client = await connectRaw(rig.address, { t });
  let requestCount = 0;
  // Long paths fill the buffers between here and there; the bound is far above what they can hold.
  const target = `/${'x'.repeat(7_000)}`;
  while ((await rig.gatewayReaders()) > 0 && requestCount < 4_000) {
    for (let count = 0; count < 50; count += 1) equal((await client.request({ target })).status, 200);
    requestCount += 50;
  }
  const metrics = await rig.metrics();
  equal(metrics.value('mulligan_event_readers_dropped_total'), 1);
  equal(metrics.value('mulligan_event_readers'), 0);
  equal(origin.requestCount(), requestCount);
  slow.client.resumeReading();
  await slow.client.waitForEnd();
});

test('a reader that leaves is forgotten, and events cost nothing again', async (t) => {
  const origin = await startOrigin({}, { t });
  const rig = await startAdminRig(t, [origin.address]);
  const reader = await rig.events();
  equal(await rig.gatewayReaders(), 1);
  reader.client.destroy();
  while ((await rig.gatewayReaders()) > 0) await requestRaw(rig.address);
  equal((await rig.metrics()).value('mulligan_event_readers_dropped_total'), 0);
});

test('more readers than the most are refused', async (t) => {
  const rig = await startAdminRig(t, ['127.0.0.1:9']);
  for (let count = 0; count < 16; count += 1) await rig.events();
  const refused = await rig.ask('/events');
  equal(refused.status, 503);
  equal(refused.value('content-type'), 'application/problem+json');
});

test('a quiet stream has a heartbeat, and ends with the gateway', async (t) => {
  const clock = createManualClock(0, Date.now());
  const rig = await startAdminRig(t, ['127.0.0.1:9'], { clock });
  const { client } = await rig.events();
  clock.advance(10_000);
  await client.waitFor(() => client.received.includes(': still here'), 'a heartbeat');
  clock.advance(10_000);
  await client.waitFor(() => client.received.toString().split(': still here').length === 3, 'another one');
  await rig.gateway.stop();
  await client.waitForEnd();
});
