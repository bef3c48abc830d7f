import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatFault } from '../../src/config/fault.ts';
import { readSource } from '../../src/simulator/read-source.ts';
import { simulate } from '../../src/simulator/simulation.ts';
import type { TopologySource } from '../../src/simulator/topology-source.ts';

const FILE = `listeners: [{ address: 127.0.0.1:0 }]
upstreams:
  orders: { endpoints: [127.0.0.1:1, 127.0.0.1:2], retryBudget: { percent: 10 } }
  canary: { endpoints: [127.0.0.1:3] }
routes:
  - name: buy
    match: { path: { prefix: /buy }, methods: [POST] }
    upstream: orders
    timeouts: { request: 4s, backendRequest: 1s }
    retry: { attempts: 2, codes: [503] }
  - upstream: [{ upstream: orders, weight: 3 }, { upstream: canary, weight: 1 }]
`;

function gatewaySource(text: string): TopologySource {
  const reading = readSource(text, 'gateway.yaml');
  assert.ok(reading.ok, reading.ok ? '' : reading.faults.map(formatFault).join('\n'));
  return reading.source;
}

test('a gateway file is told by its content: its routes are operations, its upstreams are services', () => {
  const { format, topology } = gatewaySource(FILE);
  assert.equal(format, 'gateway');
  assert.deepEqual(
    topology.services.map(({ name, instanceCount }) => [name, instanceCount]),
    [
      ['gateway', 1],
      ['orders', 2],
      ['canary', 1],
    ],
  );
  assert.deepEqual(
    topology.operations.map(({ name, method }) => [name, method]),
    [
      ['gateway/buy', 'POST'],
      ['gateway/route-2', 'GET'],
      ['orders/buy', 'POST'],
      ['orders/route-2', 'GET'],
      ['canary/route-2', 'GET'],
    ],
  );
});

test('the policy of a route and the budget of its upstream are those of the call', () => {
  const { topology } = gatewaySource(FILE);
  const { policy, timeouts, budget } = topology.calls[0]!;
  assert.deepEqual([policy.maxRetries, [...policy.codes]], [2, [503]]);
  assert.deepEqual(timeouts, { requestMs: 4000, attemptMs: 1000 });
  assert.ok(budget.kind === 'ratio' && budget.percent === 10);
});

test('an upstream for whose whole path the gateway retries has the retries of that path', () => {
  const retriesAt = (text: string): number | undefined => {
    const { operations, calls } = gatewaySource(text).topology;
    return calls.find(({ to }) => operations[to]?.name === 'canary/route-2')?.policy.maxRetries;
  };
  assert.equal(retriesAt(FILE), 1);
  const ownership = 'ownership: { trusted: true, hops: 2 }';
  assert.equal(retriesAt(FILE.replace('[127.0.0.1:3] }', `[127.0.0.1:3], ${ownership} }`)), 2);
});

test('the targets of a route share its requests by their weights', () => {
  const { topology } = gatewaySource(FILE);
  assert.deepEqual(
    topology.calls.slice(1, 3).map(({ to, probability }) => [topology.operations[to]!.name, probability]),
    [
      ['orders/route-2', 0.75],
      ['canary/route-2', 0.25],
    ],
  );
  const { nodes } = simulate(topology, { durationMs: 20_000 });
  assert.ok(nodes.every(({ load }) => Math.abs(load - 1) < 0.1));
});

test('the place of a call is that of the policy of its route, or of the route', () => {
  const source = gatewaySource(FILE);
  assert.deepEqual(source.placeOfCall(0), { line: 10, column: 12, path: 'routes[0].retry' });
  assert.deepEqual(source.placeOfCall(1), { line: 11, column: 5, path: 'routes[1].retry' });
});

test('what a gateway file does not tell is said', () => {
  assert.match(gatewaySource(FILE).assumptions.join('\n'), /100 requests a second for each route.*are assumed/);
});

test('a gateway file with a mistake is refused as the gateway refuses it', () => {
  const reading = readSource(FILE.replace('upstream: orders', 'upstream: order'), 'gateway.yaml');
  assert.ok(!reading.ok);
  assert.match(reading.faults.map(formatFault).join('\n'), /^gateway\.yaml:8:15 routes\[0\]\.upstream: /);
});

test('a route whose requests may be repeated by the word of the operator is one of repeatable work', () => {
  const { topology } = gatewaySource(FILE.replace('codes: [503] }', 'codes: [503] }\n    idempotent: true'));
  assert.deepEqual(
    topology.operations.map(({ keyed }) => keyed),
    [true, false, true, false, false],
  );
});

test('statuses of gRPC in a gateway file are left out, and that is said', () => {
  const { topology, assumptions } = gatewaySource(FILE.replace('codes: [503]', 'codes: [503, grpc: [unavailable]]'));
  assert.deepEqual([...topology.calls[0]!.policy.codes], [503]);
  assert.match(assumptions.join('\n'), /statuses of gRPC.*are left out/);
});
