import { isNamed } from '../../http1/field-list.ts';
import { emptyHeadFacts, readHeadFacts } from '../../http1/framing.ts';
import type { FieldList, ParseFault } from '../../http1/message.ts';
import { isKnownMethod } from '../../http1/methods.ts';
import { consistsOf, FIELD_VALUE, TARGET, TOKEN } from '../../http1/octets.ts';
import type { ParseFaultCode } from '../../http1/parse-fault.ts';
import { parseFault } from '../../http1/parse-fault.ts';
import { isAuthority, targetFault } from '../../http1/request-target.ts';

const FIELD_COUNT = 100;
const TARGET_BYTES = 8_192;
/** What HTTP/2 counts for each field beside its name and value (RFC 9113 §6.5.2). */
const FIELD_OVERHEAD_BYTES = 32;

export interface Http2RequestHead {
  readonly method: string;
  /** In the form that HTTP/1.1 would give it. */
  readonly target: string;
  /** `Host` first, made from `:authority`; one `cookie` at most. */
  readonly fields: FieldList;
  /** Declared bytes; −1 when there is no Content-Length. */
  readonly contentLength: number;
  readonly expectContinue: boolean;
}

/** Stands for a request that could not be read. */
export const NO_HTTP2_HEAD: Http2RequestHead = {
  method: '',
  target: '',
  fields: [],
  contentLength: -1,
  expectContinue: false,
};

export type Http2RequestReading =
  | { readonly ok: true; readonly head: Http2RequestHead }
  | { readonly ok: false; readonly fault: ParseFault };

interface PseudoFields {
  ':method'?: string;
  ':scheme'?: string;
  ':path'?: string;
  ':authority'?: string;
}

/**
 * Reads the header section of a request, names and values by turns as they came (RFC 9113 §8.3.1), by the same rules as
 * that of an HTTP/1.1 request: what is refused there is refused here, for it goes on as HTTP/1.1.
 */
export function readHttp2Request(raw: readonly string[], headerBytes: number): Http2RequestReading {
  const pseudo: PseudoFields = {};
  const fields: FieldList = [];
  let bytes = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    const value = raw[i + 1]!;
    bytes += name.length + value.length + FIELD_OVERHEAD_BYTES;
    if (name.charCodeAt(0) !== 0x3a) {
      const fault = fieldFault(name, value);
      if (fault !== undefined) return refused(fault);
      fields.push(name, value);
    } else if (fields.length > 0 || !isPseudo(name) || pseudo[name] !== undefined) return refused('BAD_PSEUDO_FIELDS');
    else pseudo[name] = value;
  }
  if (bytes > headerBytes) return refused('HEAD_TOO_LARGE');
  if (fields.length > 2 * FIELD_COUNT) return refused('TOO_MANY_FIELDS');
  return readHead(pseudo, fields);
}

function readHead(pseudo: PseudoFields, fields: FieldList): Http2RequestReading {
  const { ':method': method = '', ':authority': authority } = pseudo;
  const connect = method === 'CONNECT';
  if ((pseudo[':scheme'] === undefined) !== connect || (pseudo[':path'] === undefined) !== connect)
    return refused('BAD_PSEUDO_FIELDS');
  if (!connect && pseudo[':scheme'] !== 'http' && pseudo[':scheme'] !== 'https') return refused('BAD_PSEUDO_FIELDS');
  if (!consistsOf(method, TOKEN)) return refused('BAD_METHOD');
  if (!isKnownMethod(method)) return refused('UNKNOWN_METHOD');
  const target = connect ? (authority ?? '') : pseudo[':path']!;
  if (target.length > TARGET_BYTES) return refused('TARGET_TOO_LONG');
  // The authority stands beside the path here: a second one in it would be for others to choose between.
  if (!consistsOf(target, TARGET) || (!connect && !target.startsWith('/') && target !== '*'))
    return refused('BAD_TARGET');
  const facts = emptyHeadFacts();
  const framing = readHeadFacts('request', fields, 1, facts);
  if (framing !== undefined) return refused(framing);
  const host = facts.host ?? authority;
  if (host === undefined) return refused('MISSING_HOST');
  if (authority !== undefined && !isAuthority(authority)) return refused('BAD_HOST');
  const badTarget = targetFault(method, target, host);
  if (badTarget !== undefined) return refused(badTarget);
  if (!connect && authority !== undefined && authority.toLowerCase() !== host.toLowerCase())
    return refused('HOST_MISMATCH');
  if (connect && facts.contentLength > 0) return refused('UNEXPECTED_BODY');
  const { contentLength, expectContinue } = facts;
  const own = ['Host', authority ?? host, ...asInHttp1(fields)];
  return { ok: true, head: { method, target, fields: own, contentLength, expectContinue } };
}

/** Host is written from the authority, and the crumbs of a cookie are one field (RFC 9113 §8.2.3). */
function asInHttp1(fields: FieldList): FieldList {
  const out: FieldList = [];
  let cookieAt = -1;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    if (name === 'host') continue;
    if (name !== 'cookie') out.push(name, fields[i + 1]!);
    else if (cookieAt === -1) cookieAt = out.push(name, fields[i + 1]!) - 1;
    else out[cookieAt] += `; ${fields[i + 1]!}`;
  }
  return out;
}

function fieldFault(name: string, value: string): ParseFaultCode | undefined {
  if (!consistsOf(name, TOKEN) || name !== name.toLowerCase()) return 'BAD_FIELD_NAME';
  if (value !== '' && !consistsOf(value, FIELD_VALUE)) return 'BAD_FIELD_VALUE';
  return isConnectionField(name, value) ? 'CONNECTION_FIELD' : undefined;
}

/** Fields that would mean something to one connection only (RFC 9113 §8.2.2): none has a meaning in HTTP/2. */
function isConnectionField(name: string, value: string): boolean {
  switch (name.length) {
    case 2:
      return name === 'te' && !isNamed(value, 'trailers');
    case 7:
      return name === 'upgrade';
    case 10:
      return name === 'connection' || name === 'keep-alive';
    case 14:
      return name === 'http2-settings';
    case 16:
      return name === 'proxy-connection';
    case 17:
      return name === 'transfer-encoding';
    default:
      return false;
  }
}

function isPseudo(name: string): name is keyof PseudoFields {
  return name === ':method' || name === ':scheme' || name === ':path' || name === ':authority';
}

function refused(code: ParseFaultCode): Http2RequestReading {
  return { ok: false, fault: parseFault(code) };
}
