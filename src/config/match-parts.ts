import { isIP } from 'node:net';
import { isHostName } from './address.ts';
import { canonicalPath } from './canonical-path.ts';
import type { Reading } from './quantity.ts';
import type { Part } from './schema-parts.ts';
import { part } from './schema-parts.ts';

/** `shop.example` or `*.shop.example` (any name below it, at any depth); compared without case and port. */
export const hostPattern = (description: string): Part<string> =>
  part(description, { type: 'string' }, (input) => {
    const bad = (message: string, hint: string): Reading<string> => ({ ok: false, message, hint });
    if (typeof input !== 'string') return bad('must be a host name', 'for example shop.example or *.shop.example');
    if (input === '*') return bad('matches every host', 'leave `hosts` out to match every host');
    if (input.includes('/')) return bad('is a URL, not a host', 'write only the host name');
    const host = input.toLowerCase().replace(/\.$/, '');
    if (/^\[.*\]$/.test(host))
      return isIP(host.slice(1, -1)) === 6
        ? { ok: true, value: host }
        : bad('is not an IPv6 address', "for example '[::1]'");
    if (isIP(host) === 6) return bad('is an IPv6 address without brackets', `write '[${input}]'`);
    if (/:\d*$/.test(host)) return bad('has a port', 'hosts are compared without their port: remove it');
    const bare = host.startsWith('*.') ? host.slice(2) : host;
    if (bare.includes('*'))
      return bad('has a wildcard in the wrong place', 'only a whole first label can be one: *.shop.example');
    if (!isHostName(bare) && isIP(bare) !== 4)
      return bad('is not a host name', 'for example shop.example or *.shop.example');
    return { ok: true, value: host };
  });

/** Protocols that would turn the connection into one whose requests nobody routes, limits or records. */
const HTTP_BELOW: ReadonlySet<string> = new Set(['h2c', 'http', 'tls']);

/** A protocol of an Upgrade field, `name` or `name/version`; without case. */
export const upgradeProtocol = (description: string): Part<string> =>
  part(description, { type: 'string' }, (input) => {
    const bad = (message: string, hint: string): Reading<string> => ({ ok: false, message, hint });
    if (typeof input !== 'string' || !/^[\w!#$%&'*+.^`|~-]+(?:\/[\w!#$%&'*+.^`|~-]+)?$/.test(input))
      return bad('is not a protocol', 'for example websocket');
    const protocol = input.toLowerCase();
    if (HTTP_BELOW.has(protocol.split('/')[0]!))
      return bad(
        'would carry requests past every route and limit',
        'only protocols other than HTTP and TLS, such as websocket',
      );
    return { ok: true, value: protocol };
  });

export const routePath = (description: string): Part<string> =>
  part(description, { type: 'string', pattern: '^/' }, (input) => {
    const bad = (message: string, hint: string): Reading<string> => ({ ok: false, message, hint });
    if (typeof input !== 'string') return bad('must be a path', 'for example /orders');
    if (!input.startsWith('/'))
      return bad('does not begin with /', input.includes('://') ? 'write only the path' : `write /${input}`);
    if (/[?#]/.test(input)) return bad('has a query or fragment', 'routes match on the path alone');
    if (/[*(]/.test(input)) return bad('has a pattern in it', 'paths are literal: a prefix matches what lies below it');
    const canonical = canonicalPath(input);
    if (!canonical.ok)
      return bad(`can never match: ${canonical.reason}`, 'requests are matched on their canonical path');
    if (canonical.path !== input) return bad('can never match: it is not in canonical form', `write ${canonical.path}`);
    return { ok: true, value: input };
  });

export const method = (description: string): Part<string> =>
  part(description, { type: 'string', pattern: '^[A-Z][A-Z-]*$' }, (input) => {
    if (typeof input === 'string' && /^[A-Z][A-Z-]{0,23}$/.test(input)) return { ok: true, value: input };
    const upper = typeof input === 'string' ? input.toUpperCase() : '';
    return {
      ok: false,
      message: 'is not a method',
      hint:
        upper !== input && /^[A-Z][A-Z-]{0,23}$/.test(upper)
          ? `methods are case-sensitive: write ${upper}`
          : 'for example GET or POST',
    };
  });
