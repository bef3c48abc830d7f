import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OutcomeClass } from '../../src/core/classify.ts';
import type { InboundRequest } from '../../src/service/inbound-request.ts';
import { Service } from '../../src/service/service.ts';
import type { ServiceCall } from '../../src/service/service-call.ts';
import type { ServiceOptions } from '../../src/service/settings.ts';

interface Rig {
  readonly service: Service;
  nowMs: number;
  arrive(path?: string, fields?: string[]): InboundRequest;
}

function rig(options: ServiceOptions = {}, random: () => number = () => 0.5): Rig {
  const made: Rig = {
    nowMs: 0,
    service: new Service({ trust: ['10.0.0.0/8'], ...options }, { nowMs: () => made.nowMs, random }),
    arrive: (path = '/orders', fields = []) =>
      made.service.arrive({ method: 'GET', path, fields, peerAddress: '10.0.0.9' }),
  };
  return made;
}

function begin(service: Service, url = 'http://stock:80/items'): ServiceCall {
  return service.begin({ method: 'GET', url });
}

function end(call: ServiceCall, outcomeClass: OutcomeClass, atMs = 0, handled = false): void {
  call.end({ atMs, outcomeClass, claim: undefined, handled, effect: undefined });
}

test('a call belongs to the request that is being answered, also after waiting', async () => {
  const { service, arrive } = rig();
  const [one, other] = [arrive(), arrive()];
  await Promise.all([
    service.run(one, async () => {
      await Promise.resolve();
      end(begin(service), 'server', 0, true);
    }),
    service.run(other, async () => {
      await Promise.resolve();
      end(begin(service), 'ok');
    }),
  ]);
  assert.equal(service.answer(one, 'server')?.claim, 'relayed');
  assert.equal(service.answer(other, 'server')?.claim, 'owned');
  assert.equal(service.metrics().untrackedCallCount, 0);
});

test('a call outside of a request is counted and belongs to nobody', () => {
  const { service } = rig();
  end(begin(service), 'server');
  const { untrackedCallCount, edges } = service.metrics();
  assert.equal(untrackedCallCount, 1);
  assert.deepEqual([edges[0]?.inbound, edges[0]?.failedCount], ['none', 1]);
});

test('an error that names a call is attributed to it, although the context was lost', () => {
  const { service, arrive } = rig();
  const inbound = arrive();
  const call = begin(service);
  const failure = new Error('reset');
  call.caused(failure);
  end(call, 'ambiguous', 0, true);
  inbound.error = new AggregateError([new Error('x'), new Error('no items', { cause: failure })]);
  assert.equal(service.answer(inbound, 'server')?.claim, 'relayed');
});

test('a circle of causes, and what is no error at all, name nobody', () => {
  const { service, arrive } = rig();
  const circle = new Error('one');
  circle.cause = new Error('two', { cause: circle });
  for (const error of [circle, null, 'text', 7, { errors: 'x' }]) {
    const inbound = arrive();
    inbound.error = error;
    assert.equal(service.answer(inbound, 'server')?.hops, 0);
  }
});

test('a caller that is not trusted is told nothing, and the claim is counted', () => {
  const { service } = rig();
  const inbound = service.arrive({ method: 'GET', path: '/', fields: [], peerAddress: '192.168.0.1' });
  assert.equal(service.answer(inbound, 'server'), undefined);
  assert.equal(service.metrics().operations[0]?.claimsOut.owned, 1);
});

test('only the first answer to a request counts', () => {
  const { service, arrive } = rig();
  const inbound = arrive();
  assert.equal(service.answer(inbound, 'ok'), undefined);
  assert.equal(service.answer(inbound, 'server'), undefined);
  assert.deepEqual(
    [service.metrics().operations[0]?.requestCount, service.metrics().operations[0]?.errorCount],
    [1, 0],
  );
});

test('a call that is made after the answer has no part in it, and is not kept', () => {
  const { service, arrive } = rig();
  const inbound = arrive();
  service.answer(inbound, 'ok');
  service.run(inbound, () => begin(service));
  assert.equal(inbound.calls.length, 0);
});

test('a request with thousands of calls keeps the first 256', () => {
  const { service, arrive } = rig();
  const inbound = arrive();
  service.run(inbound, () => {
    for (let i = 0; i < 3000; i += 1) begin(service, `http://stock/items/${String(i)}`);
  });
  assert.equal(inbound.calls.length, 256);
});

test('a repeated call that fails again has used up its attempts; one about another thing has not', () => {
  const { service, arrive } = rig();
  const claimOf = (urls: readonly string[]): string | undefined => {
    const inbound = arrive();
    service.run(inbound, () => urls.forEach((url) => end(begin(service, url), 'server')));
    return service.answer(inbound, 'server')?.claim;
  };
  assert.equal(claimOf(['http://stock/items/1', 'http://stock/items/1']), 'relayed');
  assert.equal(claimOf(['http://stock/items/1', 'http://stock/items/2']), 'owned');
});

test('the success of another thing does not make up for a failure', () => {
  const { service, arrive } = rig();
  const inbound = arrive();
  service.run(inbound, () => {
    end(begin(service, 'http://stock/items/1'), 'server', 0, true);
    end(begin(service, 'http://stock/items/2'), 'ok');
  });
  assert.equal(service.answer(inbound, 'server')?.claim, 'relayed');
});

test('an endpoint that usually calls, and of which no call is seen, says nothing of the why', () => {
  const { service, arrive } = rig();
  for (let i = 0; i < 30; i += 1) {
    const inbound = arrive();
    service.run(inbound, () => end(begin(service), 'ok'));
    service.answer(inbound, 'ok');
  }
  const claim = service.answer(arrive(), 'server');
  assert.deepEqual([claim?.claim, claim?.why], ['owned', undefined]);
  assert.equal(service.metrics().operations[0]?.lowCount, 1);
});

test('an endpoint that never calls says that its error is local', () => {
  const { service, arrive } = rig();
  for (let i = 0; i < 30; i += 1) service.answer(arrive(), 'ok');
  assert.equal(service.answer(arrive(), 'server')?.why, 'local');
});

test('what is declared of an edge holds, the first that names it', () => {
  const { service, arrive } = rig({
    edges: [
      { from: 'GET /orders', to: 'GET stock:*', class: 'fail-open', mode: 'observe' },
      { to: 'GET stock:80/items', class: 'fail-closed', mode: 'off' },
    ],
  });
  const call = (path: string): ServiceCall => service.run(arrive(path), () => begin(service));
  assert.deepEqual([call('/orders').edge, call('/orders').mode], ['fail-open', 'observe']);
  assert.deepEqual([call('/other').edge, call('/other').mode], ['fail-closed', 'off']);
});

test('the deadline and the retries above reach the call, with the margin', () => {
  const made = rig({ marginMs: 20 });
  made.nowMs = 1000;
  const inbound = made.arrive('/', ['Request-Timeout', '500', 'Request-Attempt', 'n=2, lineage=3']);
  const call = made.service.run(inbound, () => begin(made.service));
  assert.deepEqual([call.deadlineAtMs, call.lineage, call.marginMs], [1500, 3, 20]);
  assert.equal(made.service.isExpired(inbound), false);
  made.nowMs = 1480;
  assert.equal(made.service.isExpired(inbound), true);
});

test('a deadline that passes while a call is under way is relayed, else owned', () => {
  const made = rig();
  const waiting = made.arrive('/', ['Request-Timeout', '500']);
  made.service.run(waiting, () => begin(made.service));
  const idle = made.arrive('/', ['Request-Timeout', '500']);
  made.nowMs = 500;
  const claims = [waiting, idle].map((inbound) => made.service.answer(inbound, 'timeout'));
  assert.deepEqual(
    claims.map((claim) => [claim?.claim, claim?.why]),
    [
      ['relayed', 'timeout'],
      ['owned', 'timeout'],
    ],
  );
});

const relayed = {
  claim: 'relayed',
  why: undefined,
  retry: undefined,
  kept: false,
  effect: undefined,
  hops: 1,
} as const;

test('what a retry layer tells of its attempts is counted, suppressed ones by reason', () => {
  const { service } = rig();
  const call = begin(service);
  call.note({ claim: undefined, retried: true });
  call.note({ claim: relayed, retried: false, stopped: 'not-owner' });
  end(call, 'server', 0, true);
  const [edge] = service.metrics().edges;
  assert.deepEqual([edge?.retryCount, edge?.suppressed, edge?.unsuppressedCount], [1, { 'not-owner': 1 }, 0]);
  assert.deepEqual([edge?.claimsIn.absent, edge?.claimsIn.relayed], [1, 1]);
});

test('where claims are observed, a retry that enforcing would suppress is counted', () => {
  const { service } = rig({ mode: 'observe' });
  const call = begin(service);
  assert.equal(call.mode, 'observe');
  call.note({ claim: relayed, retried: true });
  assert.equal(service.metrics().edges[0]?.unsuppressedCount, 1);
});

test('one in so many suppressed retries is let through, and counted as missed when it succeeds', () => {
  let draw = 0.5;
  const { service } = rig({ probeEvery: 1000 }, () => draw);
  assert.equal(begin(service).mode, 'enforce');
  draw = 0.0001;
  const [lucky, unlucky] = [begin(service), begin(service)];
  assert.equal(lucky.mode, 'observe');
  for (const call of [lucky, unlucky]) call.note({ claim: relayed, retried: true });
  end(lucky, 'ok');
  end(unlucky, 'server');
  const [edge] = service.metrics().edges;
  assert.deepEqual([edge?.probeCount, edge?.missedRetryCount, edge?.unsuppressedCount], [2, 1, 0]);
});

test('probes are off by default', () => {
  const { service } = rig({}, () => 0);
  assert.equal(begin(service).mode, 'enforce');
});

test('a claim of who is not trusted, by address or by name, is not read', () => {
  const { service } = rig({ trust: ['10.0.0.0/8', '*.internal'] });
  const claim = (url: string, address: string | undefined): string | undefined =>
    begin(service, url).readClaim(['Error-Claim', 'relayed'], address)?.claim;
  assert.equal(claim('http://stock/', '10.1.2.3'), 'relayed');
  assert.equal(claim('http://stock/', '::ffff:10.1.2.3'), 'relayed');
  assert.equal(claim('http://stock.internal:80/', '192.0.2.1'), 'relayed');
  assert.equal(claim('http://internal/', '192.0.2.1'), undefined);
  assert.equal(claim('http://user:x.internal@evil.example/', '192.0.2.1'), undefined);
  assert.equal(claim('http://stock/', undefined), undefined);
});

test('the storm radius counts the layers of retries above and the own one, and is forgotten after two minutes', () => {
  const made = rig();
  const inbound = made.arrive('/', ['Request-Attempt', 'n=1, lineage=2']);
  made.service.run(inbound, () => {
    const call = begin(made.service);
    call.note({ claim: undefined, retried: true });
    end(call, 'ok');
  });
  made.service.answer(inbound, 'ok');
  const radius = (): number | undefined => made.service.metrics().operations[0]?.stormRadius;
  assert.equal(radius(), 3);
  made.nowMs = 61_000;
  assert.equal(radius(), 3);
  made.nowMs = 121_000;
  assert.equal(radius(), 0);
});

test('names of operations without end go into one series', () => {
  const { service } = rig();
  for (let i = 0; i < 1500; i += 1) {
    const inbound = service.arrive({
      method: 'GET',
      path: `/${'x'.repeat(i % 30)}${i.toString(36).replaceAll(/\d/g, 'q')}`,
      fields: [],
      peerAddress: undefined,
    });
    service.run(inbound, () => end(begin(service), 'ok'));
    service.answer(inbound, 'ok');
  }
  const { edges, operations } = service.metrics();
  assert.ok(operations.length <= 1001 && edges.length <= 1001);
  assert.equal(
    operations.reduce((sum, one) => sum + one.requestCount, 0),
    1500,
  );
});
