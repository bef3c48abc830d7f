import { isIP } from 'node:net';
import type { Reading } from './quantity.ts';

/** A host and a port as a configuration names them. */
export interface HostPort {
  /** An IPv4 or IPv6 address (without brackets) or a host name in lower case. */
  readonly host: string;
  /** 0–65535. */
  readonly port: number;
  /** `host:port`, IPv6 in brackets: names the address in records and metrics. */
  readonly key: string;
}

function bad(message: string, hint: string): Reading<HostPort> {
  return { ok: false, message, hint };
}

const hostName = /^(?=.{1,253}$)(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?$/;

/** Whether the (lower-case) text is a host name that is no malformed IPv4 address (`1.2.3`, `256.1.1.1`). */
export function isHostName(host: string): boolean {
  return (
    hostName.test(host) &&
    !/^(0x[0-9a-f]*|\d+)$/.test(host.slice(host.replace(/\.$/, '').lastIndexOf('.') + 1).replace(/\.$/, ''))
  );
}

/** Reads `host:port`; IPv6 in brackets. Port 0 (any free port) is for listeners only. */
export function readAddress(input: unknown, use: 'listener' | 'endpoint'): Reading<HostPort> {
  const example = use === 'listener' ? '127.0.0.1:8080' : '127.0.0.1:9001';
  if (typeof input === 'number') return bad('must be host:port, not a number', `for example 127.0.0.1:${input}`);
  if (Array.isArray(input))
    return bad('must be host:port, not a list', "IPv6 addresses need quotes in YAML: '[::1]:8080'");
  if (typeof input !== 'string') return bad('must be host:port', `for example ${example}`);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(input))
    return bad('must be host:port, not a URL', `write only the host and the port: ${example}`);
  // A port alone: a host name that is a number nobody has.
  const match = /^(?:\[([^\]]*)\]|([^:[\]]*)):(\d{1,6})$/.exec(/^\d{1,6}$/.test(input) ? `:${input}` : input);
  if (match === null) {
    if (isIP(input) === 6)
      return bad(
        'has no port, and an IPv6 address needs brackets',
        `write '[${input}]:${use === 'listener' ? 8080 : 9001}'`,
      );
    if (input.split(':').length > 2) return bad('is not host:port', "IPv6 addresses go in brackets: '[::1]:8080'");
    if (!input.includes(':') || /^\[[^\]]*\]$/.test(input))
      return bad('has no port', `write ${input === '' ? example : `${input}:${use === 'listener' ? 8080 : 9001}`}`);
    if (input.startsWith(':'))
      return bad(
        'has no host',
        `write 127.0.0.1${input}${use === 'listener' ? `, or 0.0.0.0${input} for every interface` : ''}`,
      );
    return bad('is not host:port', `for example ${example}`);
  }
  const port = Number(match[3]);
  if (port > 65_535) return bad(`port ${port} does not exist`, 'ports go from 1 to 65535');
  if (port === 0 && use === 'endpoint')
    return bad('port 0 does not exist at an endpoint', 'name the port the server listens on');
  const six = match[1];
  if (six !== undefined) {
    if (isIP(six) !== 6) return bad(`"${six}" is not an IPv6 address`, "for example '[::1]:8080'");
    return { ok: true, value: { host: six.toLowerCase(), port, key: `[${six.toLowerCase()}]:${port}` } };
  }
  const host = match[2]!.toLowerCase();
  if (host === '')
    return bad(
      'has no host',
      `write 127.0.0.1:${port}${use === 'listener' ? `, or 0.0.0.0:${port} for every interface` : ''}`,
    );
  if (isIP(host) !== 4 && !isHostName(host))
    return bad(`"${host}" is neither an IP address nor a host name`, `for example ${example}`);
  return { ok: true, value: { host, port, key: `${host}:${port}` } };
}
