import { BlockList, isIP } from 'node:net';
import type { Reading } from './quantity.ts';

/** Who speaks the protocol with us, and is believed. */
export interface Trust {
  /** Whether anybody is. */
  readonly any: boolean;
  /** By the address at the other end of a connection. */
  hasAddress(address: string | undefined): boolean;
  /** By the name that a callee was called by, without its port. */
  hasName(host: string): boolean;
}

/** Addresses whose answer is kept: looking one up in a list of networks costs more than all else that a claim does. */
const MAX_KEPT_COUNT = 1000;

const NAME = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9._-]{0,251}[a-z0-9_])?$/;

/** A peer as a person writes it: a network, an address, a name, or `*.` and a name. Checked, in lower case. */
export function readPeer(input: unknown): Reading<string> {
  const hint = 'a network (10.0.0.0/8), an address, a name (payments), or all names below one (*.svc.cluster.local)';
  if (typeof input !== 'string') return { ok: false, message: 'must be a peer', hint };
  const text = input.trim().toLowerCase();
  const slash = text.indexOf('/');
  const family = isIP(slash === -1 ? text : text.slice(0, slash));
  if (slash !== -1) {
    const bits = text.slice(slash + 1);
    if (family === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
      return { ok: false, message: 'is not a network', hint };
    return { ok: true, value: text };
  }
  if (family !== 0) return { ok: true, value: text };
  // What looks like an address and is none must not be taken for a name that nobody has.
  if (!NAME.test(text) || /^[\d.]+$/.test(text)) return { ok: false, message: 'is not a peer', hint };
  return { ok: true, value: text };
}

/** @throws RangeError for what is no peer */
export function createTrust(peers: readonly string[]): Trust {
  const networks = new BlockList();
  const names = new Set<string>();
  const suffixes: string[] = [];
  for (const peer of peers) {
    const reading = readPeer(peer);
    if (!reading.ok) throw new RangeError(`trust: '${peer}' ${reading.message}; give ${reading.hint}`);
    const [address = '', bits] = reading.value.split('/');
    const family = isIP(address);
    if (family !== 0)
      networks.addSubnet(address, Number(bits ?? (family === 4 ? 32 : 128)), family === 4 ? 'ipv4' : 'ipv6');
    else if (address.startsWith('*.')) suffixes.push(address.slice(1));
    else names.add(address);
  }
  const kept = new Map<string, boolean>();
  return {
    any: peers.length > 0,
    hasAddress(address) {
      if (address === undefined) return false;
      const known = kept.get(address);
      if (known !== undefined) return known;
      const family = isIP(address);
      const found = family !== 0 && networks.check(address, family === 4 ? 'ipv4' : 'ipv6');
      if (kept.size >= MAX_KEPT_COUNT) kept.clear();
      kept.set(address, found);
      return found;
    },
    hasName(host) {
      const lower = host.toLowerCase();
      return names.has(lower) || suffixes.some((suffix) => lower.endsWith(suffix));
    },
  };
}
