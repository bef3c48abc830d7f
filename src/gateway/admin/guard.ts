import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../../config/loopback.ts';
import { bareHost } from '../router.ts';
import type { Refusal } from './answer.ts';

export interface GuardSettings {
  /** The host that the listener is bound to. */
  readonly boundHost: string;
  /** Lower case, without port. */
  readonly hosts: readonly string[];
  readonly token: string | undefined;
}

/**
 * Whether a request may look at all. A page in an operator's browser can send requests to 127.0.0.1, and by DNS
 * rebinding even read the answers under its own name: such requests carry that name in `Host`, or an `Origin`.
 */
export function refusalOf(request: IncomingMessage, settings: GuardSettings, isProbe: boolean): Refusal | undefined {
  const { headers } = request;
  const authority = soleHost(request.rawHeaders);
  if (authority === undefined || !isOwnName(bareHost(authority), request.socket.localAddress, settings))
    return {
      status: 403,
      detail: 'The Host of the request is not a name of this interface; list other names under admin.hosts.',
    };
  const { origin } = headers;
  if (origin !== undefined && origin.toLowerCase() !== `http://${authority.toLowerCase()}`)
    return { status: 403, detail: 'The request comes from the page of another origin.' };
  // Without Origin: images, scripts and the like of other sites. Following a link is a person's own decision.
  if (headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] !== 'navigate')
    return { status: 403, detail: 'The request comes from the page of another site.' };
  if (settings.token === undefined || isProbe || holdsToken(headers.authorization, settings.token)) return undefined;
  return {
    status: 401,
    detail: 'Send the token of admin.token as Authorization: Bearer.',
    fields: { 'WWW-Authenticate': 'Bearer realm="mulligan admin"' },
  };
}

/** Node takes the first of several Host fields; whoever sends two wants two readers to disagree. */
function soleHost(rawHeaders: readonly string[]): string | undefined {
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host');
  return hosts.length === 1 ? hosts[0] : undefined;
}

function isOwnName(name: string, localAddress: string | undefined, { boundHost, hosts }: GuardSettings): boolean {
  const host = name.startsWith('[') ? name.slice(1, -1) : name;
  if (isLoopback(host) || host === boundHost || hosts.includes(host)) return true;
  // Bound to every interface: the address that the connection came to is its name.
  return localAddress !== undefined && host === localAddress.replace(/^::ffff:/, '');
}

function holdsToken(authorization: string | undefined, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  // Hashes have one length whatever was sent, and comparing them tells nothing about the token by its time.
  return given !== undefined && timingSafeEqual(hash(given), hash(token));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
