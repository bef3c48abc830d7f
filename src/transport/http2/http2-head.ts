import { fieldValue } from '../../http1/field-list.ts';
import { FieldNameSet } from '../../http1/field-name-set.ts';
import { emptyHeadFacts, readHeadFacts, responseBody } from '../../http1/framing.ts';
import type { FieldList, ParseFault, ParserLimits, ResponseHead } from '../../http1/message.ts';
import { parseFault } from '../../http1/parse-fault.ts';
import type { AttemptRequest } from '../transport.ts';

/** RFC 9113 §8.2.2: they speak of one HTTP/1.1 connection. Host becomes `:authority`, Content-Length is written anew. */
const LEFT_OUT = new FieldNameSet([
  'connection',
  'content-length',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** Whether a field has no meaning in HTTP/2, or one that this side writes anew. */
export function isLeftOut(name: string): boolean {
  return LEFT_OUT.has(name);
}

/** Pseudo-fields and fields of a request, flat. The request has exactly one Host. */
export function http2RequestFields(request: AttemptRequest, scheme: 'http' | 'https'): string[] {
  const { method, target, fields, body } = request;
  const authority = fieldValue(fields, 'host') ?? '';
  const out = [':method', method, ':scheme', scheme, ':authority', authority, ':path', target];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i]!;
    if (isLeftOut(name)) continue;
    const lower = name.toLowerCase();
    if (lower === 'te' && fields[i + 1]!.toLowerCase() !== 'trailers') continue;
    out.push(lower, fields[i + 1]!);
  }
  if (body?.contentLength !== undefined) out.push('content-length', String(body.contentLength));
  else if (body === undefined && (method === 'POST' || method === 'PUT' || method === 'PATCH'))
    out.push('content-length', '0');
  return out;
}

/** Fields as they came, without those that begin with a colon. */
export function plainFields(raw: readonly string[]): FieldList {
  const fields: FieldList = [];
  for (let i = 0; i + 1 < raw.length; i += 2) if (!raw[i]!.startsWith(':')) fields.push(raw[i]!, raw[i + 1]!);
  return fields;
}

/** Octets of names and values. */
export function fieldBytes(fields: readonly string[]): number {
  let bytes = 0;
  for (const text of fields) bytes += text.length;
  return bytes;
}

export type ReadHead = { readonly head: ResponseHead } | { readonly fault: ParseFault };

/**
 * A response head in the words of HTTP/1.1, judged by the same rules.
 * @param isEnd No body and no trailers follow.
 */
export function readHttp2Head(
  raw: readonly string[],
  method: string,
  isEnd: boolean,
  limits: Pick<ParserLimits, 'headBytes' | 'fieldCount'>,
): ReadHead {
  const fields = plainFields(raw);
  const status = statusOf(raw);
  if (status === undefined) return { fault: parseFault('BAD_STATUS') };
  if (fieldBytes(fields) > limits.headBytes) return { fault: parseFault('HEAD_TOO_LARGE') };
  if (fields.length > 2 * limits.fieldCount) return { fault: parseFault('TOO_MANY_FIELDS') };
  const facts = emptyHeadFacts();
  const fault = readHeadFacts('response', fields, 1, facts);
  if (fault !== undefined) return { fault: parseFault(fault) };
  const { kind } = responseBody(facts, status, method);
  const bodyKind = kind === 'until-close' ? (isEnd ? 'length' : 'chunked') : kind;
  return {
    head: {
      versionMajor: 2,
      versionMinor: 1,
      status,
      reason: '',
      fields,
      bodyKind: status < 200 ? 'none' : bodyKind,
      contentLength: kind === 'until-close' && isEnd ? 0 : facts.contentLength,
      keepAlive: true,
      keepAliveTimeoutMs: -1,
    },
  };
}

function statusOf(raw: readonly string[]): number | undefined {
  const at = raw.indexOf(':status');
  const text = at % 2 === 0 ? raw[at + 1] : undefined;
  return text !== undefined && /^[1-5]\d\d$/.test(text) ? Number(text) : undefined;
}
