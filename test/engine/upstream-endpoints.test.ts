import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../src/engine/endpoint.ts';
import type { EndpointOptions } from '../../src/engine/endpoint.ts';
import type { Upstream, UpstreamOptions } from '../../src/engine/upstream.ts';
import { createUpstream } from '../../src/engine/upstream.ts';
import type { Transport } from '../../src/transport/transport.ts';

interface Setting {
  readonly upstream: Upstream;
  /** Addresses whose connections were given up. */
  readonly closed: string[];
}

const to = (key: string, more: Partial<EndpointOptions> = {}): EndpointOptions => ({
  address: parseAddress(key),
  ...more,
});

function setting(endpoints: readonly EndpointOptions[], more: Partial<UpstreamOptions> = {}): Setting {
  const closed: string[] = [];
  const transport: Transport = {
    send: () => {
      throw new Error('nothing is sent here');
    },
    closeEndpoint: ({ key }) => void closed.push(key),
    close: () => {},
  };
  return { upstream: createUpstream({ name: 'main', endpoints, transport, ...more }), closed };
}

const keys = (upstream: Upstream): string[] => upstream.endpoints.map(({ address }) => address.key);
const usable = (upstream: Upstream): string[] =>
  upstream.endpoints.filter(({ available }) => available).map(({ address }) => address.key);

test('addresses that stay keep their state, and get the new settings', () => {
  const { upstream, closed } = setting([to('a:1'), to('b:1')]);
  const [a, b] = upstream.endpoints;
  a!.inflight = 3;
  upstream.judge(b!, { healthy: false });
  upstream.setEndpoints([to('b:1'), to('a:1', { weight: 5, priority: 2, authority: 'name:1' }), to('c:1')]);
  deepEqual(keys(upstream), ['b:1', 'a:1', 'c:1']);
  equal(upstream.endpoints[1], a);
  deepEqual([a!.inflight, a!.weight, a!.priority, a!.authority], [3, 5, 2, 'name:1']);
  deepEqual(usable(upstream), ['a:1', 'c:1']);
  deepEqual(closed, []);
});

test('an address that goes has its connections closed, and one that comes back begins anew', () => {
  const { upstream, closed } = setting([to('a:1'), to('b:1')]);
  const [a] = upstream.endpoints;
  a!.inflight = 1;
  upstream.setEndpoints([to('b:1')]);
  deepEqual(closed, ['a:1']);
  upstream.setEndpoints([to('a:1'), to('b:1')]);
  equal(upstream.endpoints[0] === a, false);
  equal(upstream.endpoints[0]!.inflight, 0);
});

test('the list is replaced, not changed: who holds the old one goes on with it', () => {
  const { upstream } = setting([to('a:1')]);
  const before = upstream.endpoints;
  upstream.setEndpoints([to('b:1')]);
  deepEqual(
    before.map(({ address }) => address.key),
    ['a:1'],
  );
});

test('an unhealthy endpoint is left out while another is well, and all are used when none is', () => {
  const { upstream } = setting([to('a:1'), to('b:1')]);
  const [a, b] = upstream.endpoints;
  upstream.judge(a!, { healthy: false });
  deepEqual([usable(upstream), upstream.panicking], [['b:1'], false]);
  upstream.judge(b!, { healthy: false });
  deepEqual([usable(upstream), upstream.panicking], [['a:1', 'b:1'], true]);
  upstream.judge(a!, { healthy: true });
  deepEqual([usable(upstream), upstream.panicking], [['a:1'], false]);
});

test('a drained endpoint is left out even when all others are unhealthy', () => {
  const { upstream } = setting([to('a:1'), to('b:1')]);
  const [a, b] = upstream.endpoints;
  upstream.judge(a!, { drained: true });
  upstream.judge(b!, { healthy: false });
  deepEqual([usable(upstream), upstream.panicking], [['b:1'], true]);
  upstream.judge(b!, { drained: true });
  deepEqual([usable(upstream), upstream.hasEndpoint()], [[], false]);
});

test('an upstream without endpoints says why there is none', () => {
  throws(() => setting([]), /it has no endpoint/);
  const { upstream } = setting([], { whyEmpty: () => 'orders.internal: the name does not exist' });
  equal(upstream.hasEndpoint(), false);
  equal(upstream.whyNone(), 'orders.internal: the name does not exist');
});

test('an upstream that takes the place of another has its endpoints and counts its requests', () => {
  const first = setting([to('a:1'), to('b:1')], { maxInflightRequests: 2 });
  equal(first.upstream.permits.tryAcquire(), true);
  const next = setting([to('a:1')], { maxInflightRequests: 3, replaces: first.upstream });
  next.upstream.setEndpoints([to('a:1')], first.upstream.endpoints);
  equal(next.upstream.endpoints[0], first.upstream.endpoints[0]);
  deepEqual(next.closed, ['b:1']);
  deepEqual([next.upstream.permits.inflight, next.upstream.permits.limit], [1, 3]);
  next.upstream.permits.tryAcquire();
  next.upstream.permits.tryAcquire();
  equal(next.upstream.permits.tryAcquire(), false);
  equal(first.upstream.permits.tryAcquire(), false);
  first.upstream.permits.release();
  equal(next.upstream.permits.tryAcquire(), true);
});
