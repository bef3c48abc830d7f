import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { createOwnershipRules, ownershipMode } from '../../src/gateway/ownership.ts';
import type { OwnershipRules } from '../../src/proxy/ownership-rules.ts';
import type { ClientPeer } from '../../src/proxy/client-peer.ts';
import { configOf } from '../config/support.ts';
import { failOnLeaks } from '../support/leak-check.ts';
import { startRig } from '../support/running-gateway.ts';

failOnLeaks();

const file = (upstream: string, route: string, more: string): string => `listeners: [{ address: 127.0.0.1:0 }]
upstreams: { main: { endpoints: [127.0.0.1:9001]${upstream} } }
routes: [{ upstream: main${route} }]
${more}
`;

function rulesOf(more: string): OwnershipRules {
  const rules = createOwnershipRules(configOf(file('', '', more)));
  if (rules === undefined) throw new Error('no rules');
  return rules;
}

const peer = (remoteAddress: string, subjectAltNames?: readonly string[]): ClientPeer => ({
  remoteAddress,
  remotePort: 1,
  encrypted: subjectAltNames !== undefined,
  clientCertificate:
    subjectAltNames === undefined ? undefined : { subject: 'CN=x', fingerprint: 'AA', subjectAltNames },
});

test('a file that trusts nobody makes no rules', () =>
  equal(createOwnershipRules(configOf(file('', '', ''))), undefined));

const callers: readonly (readonly [string, ClientPeer, boolean])[] = [
  ['an address of the network', peer('10.1.2.3'), true],
  ['the same as IPv6 writes it', peer('::ffff:10.1.2.3'), true],
  ['another address', peer('11.0.0.1'), false],
  ['a verified certificate for the name', peer('11.0.0.1', ['DNS:orders.internal', 'URI:spiffe://x']), true],
  ['a certificate for another name', peer('11.0.0.1', ['DNS:orders.example']), false],
  [
    'a certificate that has the name in another form',
    peer('11.0.0.1', ['URI:orders.internal', 'email:orders.internal']),
    false,
  ],
  ['no address at all', peer(''), false],
];
for (const [name, caller, trusted] of callers) {
  test(`${name} makes a caller ${trusted ? 'trusted' : 'a stranger'}`, () => {
    equal(rulesOf('ownership: { trust: [10.0.0.0/8, "*.internal"] }').trustsCaller(caller), trusted);
  });
}

test('a callee is trusted by its address, or by the name that led to it', () => {
  const rules = rulesOf('ownership: { trust: [10.0.0.0/8, orders.internal] }');
  const at = (host: string, name?: string): boolean => rules.trustsCallee('u', { host, port: 1, key: 'k', name });
  deepEqual(
    [at('10.0.0.7'), at('11.0.0.7'), at('11.0.0.7', 'orders.internal'), at('orders.internal')],
    [true, false, true, true],
  );
});

const modes: readonly (readonly [upstream: string, route: string, more: string, mode: string])[] = [
  ['', '', '', 'enforce'],
  ['', '', 'ownership: { mode: observe }', 'observe'],
  [', ownership: { mode: off }', '', 'ownership: { mode: observe }', 'off'],
  [', ownership: { mode: off }', ', ownership: { mode: enforce }', 'ownership: { mode: observe }', 'enforce'],
];
for (const [upstream, route, more, mode] of modes) {
  test(`the nearest word about the mode holds: ${mode} of "${more}", "${upstream}", "${route}"`, () => {
    const config = configOf(file(upstream, route, more));
    equal(ownershipMode(config, config.routes[0]!, config.upstreams[0]!), mode);
  });
}

const RETRY = { retry: { codes: [503], attempts: 1, backoff: '1ms' } };
const PATH = { ownership: { trusted: true, hops: 3 } };

test('the hop next to the failure may spend the retries of its whole path, two of a request', async (t) => {
  const owned = { do: 'respond', status: 503, headers: { 'Error-Claim': 'owned;why=local;hops=0' } } as const;
  const { origin, client } = await startRig(t, owned, { upstream: PATH, route: RETRY });
  await client.request({});
  equal(origin.requestCount(), 3);
});

test('it spends none of them on an error that was handled below', async (t) => {
  const relayed = { do: 'respond', status: 503, headers: { 'Error-Claim': 'relayed' } } as const;
  const { origin, client } = await startRig(t, relayed, { upstream: PATH, route: RETRY });
  await client.request({});
  equal(origin.requestCount(), 1);
});
