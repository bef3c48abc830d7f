import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, faultsOf, smallest } from './support.ts';

const file = (parts: { readonly upstream?: string; readonly route?: string; readonly ownership?: string }): string =>
  `listeners: [{ address: 127.0.0.1:0 }]
upstreams: { main: { endpoints: [127.0.0.1:9001]${parts.upstream ?? ''} } }
routes: [{ upstream: main${parts.route ?? ''} }]
${parts.ownership === undefined ? '' : `ownership: ${parts.ownership}\n`}`;

test('without a word there is none', () => equal(configOf(smallest).ownership, undefined));

test('what is left out has its default', () => {
  deepEqual(configOf(file({ ownership: '{ trust: [10.0.0.0/8] }' })).ownership, {
    mode: 'enforce',
    trust: ['10.0.0.0/8'],
    service: undefined,
    marginMs: 5,
    alias: false,
    probeEvery: 0,
  });
});

test('everything can be set', () => {
  const ownership =
    '{ mode: observe, trust: [10.0.0.0/8, "FD00::/8", Orders, "*.internal"], service: edge, margin: 20ms, alias: true, probeEvery: 1000 }';
  deepEqual(configOf(file({ ownership })).ownership, {
    mode: 'observe',
    trust: ['10.0.0.0/8', 'fd00::/8', 'orders', '*.internal'],
    service: 'edge',
    marginMs: 20,
    alias: true,
    probeEvery: 1000,
  });
});

test('trusted stands for an upstream that is believed', () => {
  const { upstreams } = configOf(file({ upstream: ', ownership: trusted' }));
  deepEqual(upstreams[0]?.ownership, { trusted: true, mode: undefined, hops: undefined });
});

test('an upstream and a route have modes of their own', () => {
  const { upstreams, routes } = configOf(
    file({ upstream: ', ownership: { mode: observe }', route: ', ownership: { mode: off }' }),
  );
  deepEqual([upstreams[0]?.ownership?.mode, routes[0]?.ownershipMode], ['observe', 'off']);
});

const allowances: readonly (readonly [percent: number, hops: number, budget: number])[] = [
  [10, 2, 21],
  [20, 2, 44],
  [20, 3, 72],
  [10, 3, 33],
  [20, 10, 100],
];
for (const [percent, hops, budget] of allowances) {
  test(`the budget of ${hops} hops with ${percent} % each is ${budget} %`, () => {
    const upstream = `, retryBudget: { percent: ${percent} }, ownership: { trusted: true, hops: ${hops} }`;
    const [main] = configOf(file({ upstream })).upstreams;
    equal(main?.budget.kind === 'ratio' ? main.budget.percent : undefined, budget);
  });
}

/** Each row: what is written, and every fault it gives. */
const rows: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'a mode that there is not',
    file({ ownership: '{ mode: obey, trust: [10.0.0.0/8] }' }),
    ['4:20 ownership.mode: must be one of off, observe, enforce'],
  ],
  [
    'a network that is none',
    file({ ownership: '{ trust: [10.0.0.0/33] }' }),
    [
      '4:22 ownership.trust[0]: is not a network (a network (10.0.0.0/8), an address, a name (payments), or all names below one (*.svc.cluster.local))',
    ],
  ],
  [
    'somebody who is there twice',
    file({ ownership: '{ trust: [orders, ORDERS] }' }),
    ['4:30 ownership.trust[1]: ORDERS is there twice (remove one of the two)'],
  ],
  [
    'everybody',
    file({ ownership: '{ trust: ["0.0.0.0/0"] }' }),
    [
      '4:22 warning: ownership.trust[0]: believes everybody (name the networks of your own services: whoever is believed can take retries away, and is told of the inside)',
    ],
  ],
  [
    'nobody',
    file({ ownership: '{ mode: enforce }' }),
    [
      '4:1 warning: ownership: trusts nobody: no claim is read, and none is told (name your services: trust: [10.0.0.0/8], or upstreams.NAME.ownership: trusted)',
    ],
  ],
  ['nobody where nothing is done', file({ ownership: '{ mode: off }' }), []],
  [
    'a margin of a minute and more',
    file({ ownership: '{ trust: [a], margin: 61s }' }),
    ['4:34 ownership.margin: is too long (at most 60s)'],
  ],
  [
    'a setting that there is not',
    file({ ownership: '{ trust: [a], trusts: 1 }' }),
    ['4:26 ownership.trusts: is not a known setting (did you mean `trust`?)'],
  ],
  [
    'a path of hops behind somebody who is not believed',
    file({ upstream: ', ownership: { hops: 3 }' }),
    [
      '2:64 upstreams.main.ownership.hops: has no effect while the upstream is not believed (set trusted: true, or name its addresses in ownership.trust)',
    ],
  ],
  [
    'a path of hops where nothing is obeyed',
    file({ upstream: ', ownership: { trusted: true, hops: 3, mode: observe }' }),
    ['2:79 upstreams.main.ownership.hops: has no effect while claims are not obeyed (set mode: enforce, or remove it)'],
  ],
  [
    'a path of hops with another kind of budget',
    file({ upstream: ', retryBudget: { kind: throttle }, ownership: { trusted: true, hops: 3 }' }),
    [
      '2:112 upstreams.main.ownership.hops: has no effect on a budget of kind throttle (use a budget of kind ratio or token-bucket, or remove it)',
    ],
  ],
];
for (const [name, text, expected] of rows)
  test(`${name} is told with its place`, () => deepEqual(faultsOf(text), expected));
