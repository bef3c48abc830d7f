import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorClaim } from '../../src/core/ownership/error-claim.ts';
import { readErrorClaim } from '../../src/engine/error-claim.ts';
import { suspicionOf } from '../../src/core/ownership/claim-suspicion.ts';
import { Service } from '../../src/service/service.ts';
import type { EdgeMetrics } from '../../src/service/counters.ts';

const claimOf = (text: string, name = 'Error-Claim'): ErrorClaim => readErrorClaim([name, text]).claim!;

const ROWS: readonly (readonly [text: string, suspicion: string | undefined])[] = [
  ['owned;why=local;hops=0', undefined],
  ['owned;why=dependency;hops=1;kept', undefined],
  ['relayed;why=dependency;hops=2', undefined],
  ['relayed', undefined],
  ['owned', undefined],
  ['relayed;why=overload;retry=never;hops=1;effect=maybe', undefined],
  ['relayed;why=dependency;hops=0', 'contradictory'],
  ['relayed;why=local;hops=1', 'contradictory'],
  ['relayed;hops=1;kept', 'contradictory'],
  ['owned;why=dependency;hops=1', 'contradictory'],
  ['owned;why=dependency;hops=0;kept', 'contradictory'],
  ['owned;hops=0', 'doubted'],
];

for (const [text, suspicion] of ROWS) {
  test(`the claim '${text}' is ${suspicion ?? 'not suspected'}`, () => {
    assert.equal(suspicionOf(claimOf(text)), suspicion);
  });
}

test('the alias, which says whose error it is and no more, is not suspected', () => {
  for (const word of ['CLAIMED', 'UNCLAIMED']) {
    assert.equal(suspicionOf(claimOf(word, 'x-uber-error-claim')), undefined);
  }
});

function edgeAfter(act: (service: Service) => void): EdgeMetrics {
  const service = new Service({ trust: ['10.0.0.0/8'] }, { nowMs: () => 0, random: () => 0.5 });
  const inbound = service.arrive({ method: 'GET', path: '/', fields: [], peerAddress: '10.0.0.1' });
  service.run(inbound, () => act(service));
  return service.metrics().edges[0]!;
}

const start = { method: 'GET', url: 'http://stock/items' };
const failed = { atMs: 0, outcomeClass: 'server', handled: false, effect: undefined } as const;
const well = { atMs: 0, outcomeClass: 'ok', claim: undefined, handled: false, effect: undefined } as const;

test('claims that contradict themselves, or that the callee doubts, are counted by edge', () => {
  const { wrongClaims } = edgeAfter((service) => {
    for (const text of ['relayed;hops=0', 'owned;hops=0', 'relayed;hops=1']) {
      service.begin(start).note({ claim: claimOf(text), retried: false, stopped: 'not-owner' });
    }
  });
  assert.deepEqual(wrongClaims, { contradictory: 1, doubted: 1, retryHelped: 0 });
});

test('a relayed error that a retry made good is suspected, one that failed again is not', () => {
  const { wrongClaims } = edgeAfter((service) => {
    for (const ending of [well, { ...failed, claim: claimOf('relayed;hops=1') }]) {
      const call = service.begin(start);
      call.note({ claim: claimOf('relayed;hops=1'), retried: true });
      call.end(ending);
    }
  });
  assert.deepEqual(wrongClaims, { contradictory: 0, doubted: 0, retryHelped: 1 });
});

test("so is one that a loop of the application's own made good", () => {
  const { wrongClaims } = edgeAfter((service) => {
    service.begin(start).end({ ...failed, claim: claimOf('relayed;hops=1') });
    service.begin(start).end(well);
  });
  assert.equal(wrongClaims.retryHelped, 1);
});

test('a callee that owned its error is not suspected when a retry helps', () => {
  const { wrongClaims } = edgeAfter((service) => {
    service.begin(start).end({ ...failed, claim: claimOf('owned;why=local;hops=0') });
    service.begin(start).end(well);
  });
  assert.deepEqual(wrongClaims, { contradictory: 0, doubted: 0, retryHelped: 0 });
});

test('the storm radius counts a layer below for a callee that relayed, on the worst path', () => {
  const service = new Service({ trust: ['10.0.0.0/8'] }, { nowMs: () => 0, random: () => 0.5 });
  const radiusOf = (path: string, act: () => void): number | undefined => {
    const fields = ['Request-Attempt', 'n=2, lineage=1'];
    const inbound = service.arrive({ method: 'GET', path, fields, peerAddress: '10.0.0.1' });
    service.run(inbound, act);
    service.answer(inbound, 'server');
    return service.metrics().operations.find((one) => one.inbound === `GET ${path}`)?.stormRadius;
  };
  const relayed = { claim: claimOf('relayed;hops=1'), retried: false, stopped: 'not-owner' } as const;
  const obeyed = (): void => service.begin(start).note(relayed);
  const retried = (): void =>
    service.begin({ ...start, url: 'http://other/' }).note({ claim: undefined, retried: true });
  const stormed = (): void => {
    const call = service.begin(start);
    call.note({ ...relayed, retried: true });
    call.note(relayed);
  };
  assert.equal(
    radiusOf('/none', () => {}),
    1,
  );
  assert.equal(radiusOf('/obeyed', obeyed), 2);
  assert.equal(
    radiusOf('/two', () => {
      obeyed();
      retried();
    }),
    2,
  );
  assert.equal(radiusOf('/stormed', stormed), 3);
});
