import { consistsOf, HOST_NAME } from './octets.ts';
import type { ParseFaultCode } from './parse-fault.ts';

const SLASH = 0x2f;

/**
 * Checks the form of a request target against its method and the Host field (RFC 9112 §3.2, RFC 9110 §7.2). Characters
 * were checked before. `host` is undefined when there is no Host field, which only HTTP/1.0 may do.
 */
export function targetFault(method: string, target: string, host: string | undefined): ParseFaultCode | undefined {
  if (host !== undefined && !isAuthority(host)) return 'BAD_HOST';
  if (method === 'CONNECT') return connectFault(target, host);
  if (target.charCodeAt(0) === SLASH) return undefined;
  if (target === '*') return method === 'OPTIONS' ? undefined : 'BAD_TARGET';
  return absoluteFault(target, host);
}

/**
 * `host[:port]` as we let it through: a name of letters, digits and `-._~`, or an IP literal in brackets; a port of 1–5
 * digits up to 65535. RFC 3986 would also allow percent-encoding, `,`, `;`, `=` and an empty port in it; no name in use
 * has them, and peers split such a value differently.
 */
export function isAuthority(text: string): boolean {
  const bracket = text.charCodeAt(0) === 0x5b ? text.indexOf(']') : -1;
  const colon = text.indexOf(':', bracket + 1);
  const nameEnd = colon === -1 ? text.length : colon;
  if (colon !== -1 && !isPort(text, colon + 1)) return false;
  if (bracket !== -1) return nameEnd === bracket + 1 && isIpv6(text.slice(1, bracket));
  return consistsOf(nameEnd === text.length ? text : text.slice(0, nameEnd), HOST_NAME);
}

function connectFault(target: string, host: string | undefined): ParseFaultCode | undefined {
  const colon = target.lastIndexOf(':');
  if (colon <= target.indexOf(']') || !isAuthority(target)) return 'BAD_TARGET';
  if (host === undefined) return undefined;
  const wanted = target.toLowerCase();
  const given = host.toLowerCase();
  // Many clients leave the port out of Host here; the name must be the same all the same.
  return given === wanted || given === wanted.slice(0, colon) ? undefined : 'HOST_MISMATCH';
}

function absoluteFault(target: string, host: string | undefined): ParseFaultCode | undefined {
  const schemeEnd = target.indexOf('://');
  if (schemeEnd === -1) return 'BAD_TARGET';
  const scheme = target.slice(0, schemeEnd).toLowerCase();
  if (scheme !== 'http' && scheme !== 'https') return 'BAD_TARGET';
  const from = schemeEnd + 3;
  let to = from;
  while (to < target.length && target[to] !== '/' && target[to] !== '?') to++;
  const authority = target.slice(from, to);
  if (!isAuthority(authority)) return 'BAD_TARGET';
  if (host === undefined) return undefined;
  const defaultPort = scheme === 'http' ? ':80' : ':443';
  return withoutPort(authority, defaultPort) === withoutPort(host, defaultPort) ? undefined : 'HOST_MISMATCH';
}

function withoutPort(authority: string, defaultPort: string): string {
  const lower = authority.toLowerCase();
  return lower.endsWith(defaultPort) ? lower.slice(0, -defaultPort.length) : lower;
}

function isPort(text: string, from: number): boolean {
  const digits = text.length - from;
  if (digits < 1 || digits > 5) return false;
  let port = 0;
  for (let i = from; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return false;
    port = port * 10 + digit;
  }
  return port <= 65_535;
}

/** Eight groups of 1–4 hex digits, one run of them shortened to `::`, the last two perhaps a dotted quad (RFC 4291). */
function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2 || text.length > 45) return false;
  let groupCount = 0;
  for (const [index, half] of halves.entries()) {
    if (half === '' && halves.length === 2) continue;
    const groups = half.split(':');
    const last = groups.at(-1)!;
    if (index === halves.length - 1 && last.includes('.')) {
      if (!isDottedQuad(last)) return false;
      groups.splice(-1, 1, '0', '0');
    }
    if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
    groupCount += groups.length;
  }
  return halves.length === 2 ? groupCount < 8 : groupCount === 8;
}

function isDottedQuad(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}
