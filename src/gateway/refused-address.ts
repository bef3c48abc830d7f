import { BlockList, isIP } from 'node:net';

/** IPv4-mapped forms (`::ffff:169.254.1.1`) are found by the IPv4 rules. */
const REFUSED: readonly (readonly [why: string, rules: BlockList])[] = [
  ['unspecified', blockList(['0.0.0.0', 8], ['::', 128], ['64:ff9b::', 104])],
  ['link-local', blockList(['169.254.0.0', 16], ['fe80::', 10], ['64:ff9b::a9fe:0', 112])],
  [
    'multicast or broadcast',
    blockList(['224.0.0.0', 4], ['255.255.255.255', 32], ['ff00::', 8], ['64:ff9b::e000:0', 100]),
  ],
];

function blockList(...subnets: readonly (readonly [address: string, prefixBits: number])[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of subnets) list.addSubnet(address, bits, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return list;
}

/**
 * Why an address that a name led to is never connected to, `undefined` when it may be. Whoever answers for the name could
 * otherwise point this process at a cloud's metadata service or at itself.
 * The connection is made to the very address that was looked at here: there is no second look-up in between.
 */
export function refusedBecause(address: string): string | undefined {
  const version = isIP(address);
  if (version === 0) return 'not an IP address';
  return REFUSED.find(([, rules]) => rules.check(address, version === 6 ? 'ipv6' : 'ipv4'))?.[0];
}
