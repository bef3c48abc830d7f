import { deepEqual, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { failOnLeaks } from '../../support/leak-check.ts';
import { connectRaw, type RawClient } from '../../support/raw-client.ts';
import { startOrigin } from '../../support/scripted-origin.ts';
import { startAdminRig, type AdminRig } from './rig.ts';

failOnLeaks();

const ROUTE = ', retry: { attempts: 1, codes: [503], backoff: 0s }, match: { path: { prefix: / } }';
const busy = (headers: Readonly<Record<string, string>> = {}) => ({ do: 'respond', status: 503, headers }) as const;

async function connect(rig: AdminRig, t: Parameters<typeof startAdminRig>[0]): Promise<RawClient> {
  return connectRaw(Number(rig.address.split(':')[1]), { t });
}

interface OwnershipAnswer {
  readonly edges: readonly Readonly<Record<string, unknown>>[];
}

test('claims in and out, and what they took away, are counted by route and upstream', async (t) => {
  const origin = await startOrigin(busy({ 'Error-Claim': 'relayed;hops=1' }), { t });
  const rig = await startAdminRig(t, [origin.address], {
    route: ROUTE,
    more: 'ownership: { trust: [127.0.0.1] }\n',
  });
  const client = await connect(rig, t);
  await client.request({});
  origin.setScript(busy());
  await client.request({ headers: { 'Request-Attempt': 'n=2, lineage=1' } });
  await client.request({});
  await client.request({ headers: { 'Request-Timeout': '1' } });
  const seen = await rig.metrics();
  const edge = { route: 'all', upstream: 'main' };
  equal(seen.value('mulligan_claims_in_total', { ...edge, claim: 'relayed' }), 1);
  equal(seen.value('mulligan_claims_in_total', { ...edge, claim: 'absent' }), 3);
  equal(seen.sum('mulligan_claims_out_total', { claim: 'relayed' }), 3);
  equal(seen.sum('mulligan_claims_out_total', { claim: 'owned' }), 1);
  equal(seen.value('mulligan_retries_suppressed_total', { ...edge, reason: 'not-owner' }), 1);
  equal(seen.value('mulligan_retries_suppressed_total', { ...edge, reason: 'retry-of-retry' }), 1);
  equal(seen.sum('mulligan_expired_requests_total'), 1);
  equal(seen.value('mulligan_storm_radius', { route: 'all' }), 1);
  const { edges } = JSON.parse((await rig.ask('/ownership')).text) as OwnershipAnswer;
  deepEqual([edges[0]?.['route'], edges[0]?.['claimsIn']], ['all', { relayed: 1, absent: 3 }]);
});

test('observed, a retry that helped makes the claim suspect', async (t) => {
  const origin = await startOrigin([busy({ 'Error-Claim': 'relayed;hops=1' }), { do: 'respond' }], { t });
  const rig = await startAdminRig(t, [origin.address], {
    route: ROUTE,
    more: 'ownership: { mode: observe, trust: [127.0.0.1] }\n',
  });
  const client = await connect(rig, t);
  equal((await client.request({})).status, 200);
  const seen = await rig.metrics();
  const edge = { route: 'all', upstream: 'main' };
  equal(seen.value('mulligan_retries_unsuppressed_total', edge), 1);
  equal(seen.value('mulligan_claims_suspected_total', { ...edge, reason: 'retry-helped' }), 1);
  equal(seen.value('mulligan_missed_retries_total', edge), 0);
});

test('a tested claim is a probe, and one that was wrong a missed retry', async (t) => {
  const origin = await startOrigin([busy({ 'Error-Claim': 'relayed;hops=1' }), { do: 'respond' }], { t });
  const rig = await startAdminRig(t, [origin.address], {
    route: ROUTE,
    more: 'ownership: { trust: [127.0.0.1], probeEvery: 1 }\n',
  });
  const client = await connect(rig, t);
  equal((await client.request({})).status, 200);
  const seen = await rig.metrics();
  const edge = { route: 'all', upstream: 'main' };
  equal(seen.value('mulligan_probes_total', edge), 1);
  equal(seen.value('mulligan_missed_retries_total', edge), 1);
});

test('a stranger cannot make the storm look larger than it is', async (t) => {
  const origin = await startOrigin({}, { t });
  const rig = await startAdminRig(t, [origin.address], { route: ROUTE });
  const client = await connect(rig, t);
  await client.request({ headers: { 'Request-Attempt': 'n=16, lineage=16' } });
  equal((await rig.metrics()).value('mulligan_storm_radius', { route: 'all' }), 0);
});

test('events tell what the callee claimed and whose error the answer is', async (t) => {
  const origin = await startOrigin(busy({ 'Error-Claim': 'relayed;hops=1' }), { t });
  const rig = await startAdminRig(t, [origin.address], { route: ROUTE, more: 'ownership: { trust: [127.0.0.1] }\n' });
  const events = await rig.events();
  await (await connect(rig, t)).request({});
  const suppressed = await events.event('retry-suppressed');
  equal((suppressed['after'] as { claim?: string }).claim, 'relayed');
  equal((await events.event('request-ended'))['claimOut'], 'relayed');
  match(String(suppressed['reason']), /not-owner/);
});
