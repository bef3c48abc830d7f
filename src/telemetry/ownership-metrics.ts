import type { Registry } from 'prom-client';
import { addCounter, addGauge } from './metric-family.ts';
import type { Sample } from './metric-family.ts';
import type { OwnershipMeter } from './ownership-meter.ts';
import type { RequestMeter } from './request-meter.ts';
import type { Tally } from './tally.ts';

const EDGE = ['route', 'upstream'] as const;

/** Who took which error for whose, and what that changed. */
export function addOwnershipMetrics(registry: Registry, meter: RequestMeter, nowMs: () => number): void {
  const byWord = (name: string, help: string, label: string, read: (edge: OwnershipMeter) => Tally): void =>
    addCounter(registry, {
      name,
      help,
      labels: [...EDGE, label],
      *read() {
        for (const { route, upstream, ownership } of meter.routes())
          for (const [word, count] of read(ownership).entries()) yield [[route, upstream, word], count];
      },
    });
  const counter = (name: string, help: string, read: (edge: OwnershipMeter) => number): void =>
    addCounter(registry, {
      name,
      help,
      labels: EDGE,
      *read() {
        for (const { route, upstream, ownership } of meter.routes())
          if (route !== '') yield [[route, upstream], read(ownership)];
      },
    });
  byWord(
    'mulligan_claims_in_total',
    'Answers with an error by what the upstream claimed.',
    'claim',
    (of) => of.claimsIn,
  );
  byWord(
    'mulligan_claims_out_total',
    'Errors answered, by whose they are claimed to be.',
    'claim',
    (of) => of.claimsOut,
  );
  byWord(
    'mulligan_retries_suppressed_total',
    'Requests whose retry the policy would have made and that were not retried, by reason.',
    'reason',
    (of) => of.suppressed,
  );
  byWord(
    'mulligan_claims_suspected_total',
    'Claims that are likely to be wrong, by why.',
    'reason',
    (of) => of.suspects,
  );
  counter(
    'mulligan_retries_unsuppressed_total',
    'Retries made although a claim forbids them, where claims are only observed.',
    (of) => of.unsuppressedCount,
  );
  counter('mulligan_probes_total', 'Retries made to test a claim that forbids them.', (of) => of.probeCount);
  counter('mulligan_missed_retries_total', 'Of these, the ones that succeeded.', (of) => of.missedRetryCount);
  counter(
    'mulligan_expired_requests_total',
    'Requests that were not begun because no time was left to answer them.',
    (of) => of.expiredCount,
  );
  addGauge(registry, {
    name: 'mulligan_storm_radius',
    help: 'The most layers of retries on the way of one request, within two minutes.',
    labels: ['route'],
    read: () => radii(meter, nowMs()),
  });
}

/** A route may lead to several upstreams; its storm is the largest of theirs. */
function radii(meter: RequestMeter, nowMs: number): Iterable<Sample> {
  const largest = new Map<string, number>();
  for (const { route, ownership } of meter.routes())
    if (route !== '') largest.set(route, Math.max(largest.get(route) ?? 0, ownership.stormRadius(nowMs)));
  return Array.from(largest, ([route, radius]): Sample => [[route], radius]);
}
