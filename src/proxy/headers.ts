import type { FieldList, ResponseHead } from '../http1/message.ts';
import { connectionNominated, fieldValues, isNamed, listMembers } from '../http1/field-list.ts';
import { FieldNameSet } from '../http1/field-name-set.ts';
import { maxForwards } from './exchange/max-forwards.ts';
import { isClaimField } from './namespace-fields.ts';

/** The name this hop uses for itself in `Proxy-Status`, and towards clients in `Via`. */
export const HOP_NAME = 'mulligan';

/** Fields that speak about one connection only (RFC 9110 §7.6.1), and the framing that each hop writes anew. */
const HOP_BY_HOP = new FieldNameSet([
  'connection',
  'proxy-connection',
  'keep-alive',
  'te',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'http2-settings',
  'proxy-authorization',
  'proxy-authenticate',
  'proxy-authentication-info',
]);

/** Fields this hop writes itself; what a client claims here is not believed (RFC 7239 §8.1). */
const OURS = new FieldNameSet([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-real-ip',
  'via',
  'expect',
  'request-attempt',
]);

/**
 * End-to-end fields a client may not nominate in `Connection`: the next hop would strip what routing, safety or
 * authorisation rest on.
 */
const NEVER_NOMINATED = new FieldNameSet([
  'host',
  'authorization',
  'cookie',
  'content-length',
  'content-type',
  'content-encoding',
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'idempotency-key',
  'error-claim',
  'x-uber-error-claim',
  'request-attempt',
  'request-timeout',
  'cache-control',
  'origin',
]);

export interface ClientFacts {
  readonly method: string;
  readonly protocol: '1.0' | '1.1' | '2';
  readonly remoteAddress: string;
  readonly encrypted: boolean;
  readonly host: string;
}

/** The first field nominated in `Connection` that a client has no business to nominate. */
export function forbiddenNomination(fields: FieldList): string | undefined {
  const nominated = connectionNominated(fields);
  for (const name of nominated) if (NEVER_NOMINATED.has(name)) return name;
  return undefined;
}

/** Whether the request was sent on by this very proxy before (RFC 9110 §7.6.3): it would go round until a limit ends it. */
export function isLooping(fields: FieldList, pseudonym: string): boolean {
  for (const value of fieldValues(fields, 'via')) {
    // A comment may follow the name.
    for (const member of listMembers(value)) if (member.split(/[ \t]+/)[1] === pseudonym) return true;
  }
  return false;
}

/**
 * The end-to-end fields of the request as the upstream sees them. Built from the client's own fields for every
 * attempt anew, so nothing grows with retries.
 * @param pseudonym The name by which this proxy, and no other, knows itself in `Via`.
 */
export function upstreamRequestFields(fields: FieldList, client: ClientFacts, pseudonym: string): FieldList {
  const nominated = connectionNominated(fields);
  const out: FieldList = [];
  let via = '';
  let wantsTrailers = false;
  const hops = maxForwards(client.method, fields);
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    const value = fields[i + 1]!;
    if (HOP_BY_HOP.has(name)) {
      if (isNamed(name, 'te') && /(?:^|,)\s*trailers\s*(?:$|,)/i.test(value)) wantsTrailers = true;
      continue;
    }
    if (OURS.has(name)) {
      if (isNamed(name, 'via')) via = via === '' ? value : `${via}, ${value}`;
      continue;
    }
    // `X_Forwarded_For` reaches a CGI-like application under the very name of the field that we set.
    if (name.includes('_') && OURS.has(name.replaceAll('_', '-'))) continue;
    if (nominated.size > 0 && nominated.has(name.toLowerCase())) continue;
    out.push(name, hops !== undefined && isNamed(name, 'max-forwards') ? String(hops - 1) : value);
  }
  if (wantsTrailers) out.push('TE', 'trailers');
  const proto = client.encrypted ? 'https' : 'http';
  const ownVia = `${client.protocol} ${pseudonym}`;
  out.push(
    'X-Forwarded-For',
    client.remoteAddress,
    'X-Forwarded-Proto',
    proto,
    'X-Forwarded-Host',
    client.host,
    'Forwarded',
    forwarded(client.remoteAddress, client.host, proto),
    'Via',
    via === '' ? ownVia : `${via}, ${ownVia}`,
  );
  return out;
}

/** The end-to-end fields of a response as the client sees them; what its sender claims stays here. */
export function downstreamResponseFields(head: ResponseHead): FieldList {
  const { fields, versionMajor, versionMinor } = head;
  const nominated = connectionNominated(fields);
  const out: FieldList = [];
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    if (HOP_BY_HOP.has(name) || isClaimField(name)) continue;
    if (nominated.size > 0 && nominated.has(name.toLowerCase())) continue;
    out.push(name, fields[i + 1]!);
  }
  // The protocol that was received, not the one that is spoken on (RFC 9110 §7.6.3).
  out.push('Via', versionMajor === 2 ? `2 ${HOP_NAME}` : `1.${versionMinor} ${HOP_NAME}`);
  return out;
}

/** The latest one: neighbours in time mostly come from one load balancer, to one host. */
const latest = { address: '', host: '', proto: '', text: '' };

function forwarded(address: string, host: string, proto: string): string {
  if (address !== latest.address || host !== latest.host || proto !== latest.proto || latest.text === '') {
    const text = `for=${forwardedNode(address)};host=${forwardedHost(host)};proto=${proto}`;
    Object.assign(latest, { address, host, proto, text });
  }
  return latest.text;
}

function forwardedNode(address: string): string {
  return address.includes(':') ? `"[${address}]"` : address;
}

function forwardedHost(host: string): string {
  // A port makes the value no token: it must be quoted (RFC 7239 §4).
  return /^[\w.-]+$/.test(host) ? host : `"${host.replaceAll(/["\\]/g, '')}"`;
}

/**
 * Whether the request carries a key by which the origin can tell a repetition. An empty one tells nothing, and of two
 * nobody knows which one counts: neither makes a POST safe to send again.
 */
export function hasIdempotencyKey(fields: FieldList): boolean {
  const keys = fieldValues(fields, 'idempotency-key');
  return keys.length === 1 && keys[0] !== '' && keys[0] !== '""';
}

/** Trailers that may be passed upstream: none that this hop writes or decides by, for some origins merge them. */
export function upstreamTrailers(trailers: FieldList): FieldList {
  if (trailers.length === 0) return trailers;
  const out: FieldList = [];
  for (let i = 0; i < trailers.length; i += 2) {
    const name = trailers[i]!.toLowerCase().replaceAll('_', '-');
    if (!HOP_BY_HOP.has(name) && !OURS.has(name) && !NEVER_NOMINATED.has(name))
      out.push(trailers[i]!, trailers[i + 1]!);
  }
  return out;
}
