import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf, simulateText, topologyOf } from './support.ts';

const layered = (layers: string): string => `
retryOfRetry: true
ownership: { mode: off }
defaults: { retry: { attempts: 2, codes: [500, 502], backoff: 1ms }, retryBudget: { kind: none } }
services:
  shop:
    operations:
      buy: { serviceTime: 0s, calls: [{ to: stock, layers: ${layers} }] }
  stock: { operations: { take: { serviceTime: 1ms, method: PUT, errorPercent: 100 } } }
workload: { duration: 5s, roots: [{ operation: shop, rate: 1, arrivals: constant }] }
`;
const sdk = '{ name: sdk, retry: { attempts: 2, codes: [500, 502], backoff: 1ms } }';
const mesh = '{ name: mesh, retry: { attempts: 1, codes: [500, 502], backoff: 1ms } }';

test('each layer of a call is a hop that takes the method of what is called', () => {
  const { operations, services, calls } = topologyOf(layered(`[${sdk}, ${mesh}]`));
  assert.deepEqual(
    operations.map(({ name, method }) => [name, method]),
    [
      ['shop/buy', 'GET'],
      ['stock/take', 'PUT'],
      ['shop~mesh/stock~take', 'PUT'],
      ['shop~sdk/stock~take', 'PUT'],
    ],
  );
  assert.deepEqual(
    services.map(({ name, participation }) => [name, participation]),
    [
      ['shop', 'cooperating'],
      ['stock', 'cooperating'],
      ['shop~mesh', 'legacy'],
      ['shop~sdk', 'legacy'],
    ],
  );
  assert.deepEqual(
    calls.map(({ from, to, policy }) => [from, to, policy.maxRetries]),
    [
      [2, 1, 1],
      [3, 2, 2],
      [0, 3, 2],
      [undefined, 0, 0],
    ],
  );
});

test('layers multiply what a failing service gets: 3 × 3 × 2', () => {
  const { nodes } = simulateText(layered(`[${sdk}, ${mesh}]`), { mode: 'retries' });
  assert.equal(nodes.find(({ operation }) => operation === 'stock/take')?.load, 18);
});

test('a layer that says nothing does not retry', () => {
  const { nodes } = simulateText(layered('[{ name: proxy }]'), { mode: 'retries' });
  assert.equal(nodes.find(({ operation }) => operation === 'stock/take')?.load, 3);
});

test('a call that is made twice through one layer has two hops of their own', () => {
  const { operations } = topologyOf(
    layered(`[${sdk}]`).replace('calls: [', `calls: [{ to: stock, layers: [${sdk}] }, `),
  );
  assert.deepEqual(
    operations.slice(2).map(({ name }) => name),
    ['shop~sdk/stock~take', 'shop~sdk/stock~take~2'],
  );
});

for (const [name, layers, expected] of [
  ['a layer without a name', '[{ retry: { attempts: 1 } }]', /layers\[0\]\.name: is missing/],
  ['a layer of an unknown kind', '[{ name: a, participation: none }]', /participation: must be one of/],
  [
    'a retry of a layer that cannot happen',
    '[{ name: a, retry: { attempts: 1, on: [], codes: [] } }]',
    /layers\[0\]\.retry\.on: allows 1 retry that can never happen/,
  ],
  [
    'a status of gRPC',
    '[{ name: a, retry: { attempts: 1, codes: [503, grpc: [unavailable]] } }]',
    /layers\[0\]\.retry\.codes\[1\]: names statuses of gRPC, which the simulator does not know.*for example 503/,
  ],
  ['a setting that a layer does not have', '[{ name: a, count: 2 }]', /layers\[0\]\.count: is not a known setting/],
] as const) {
  test(`${name} is refused with its place`, () => {
    assert.match(faultsOf(layered(layers)).join('\n'), expected);
  });
}
