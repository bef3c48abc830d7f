import type { OutgoingHttpHeaders } from 'node:http2';
import { fieldValue, removeFields } from '../../http1/field-list.ts';
import type { FieldList } from '../../http1/message.ts';
import { fieldLines, responseHeadText } from '../../http1/serializer.ts';
import type { ResponseFraming } from '../downstream.ts';
import { httpDate } from './http-date-cache.ts';

/** What speaks of one connection, and must not be sent in HTTP/2 (RFC 9113 §8.2.2); the framing is written here. */
const NOT_IN_HTTP2: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/**
 * The head of a final response for Node's HTTP/2 stream. Not as a list, which Node.js 22.19 does not take.
 * @throws UnsafeHeadError as the HTTP/1.1 serializer does
 */
export function http2ResponseHead(status: number, fields: FieldList, framing: ResponseFraming): OutgoingHttpHeaders {
  // It refuses what would split a message in HTTP/1.1: somebody behind us may speak that.
  responseHeadText(status, '', fields, { kind: 'none' });
  const head: OutgoingHttpHeaders = http2Fields(fields);
  if (framing.kind !== 'stream' && framing.length >= 0) head['content-length'] = String(framing.length);
  if (fieldValue(fields, 'date') === undefined) head['date'] = httpDate();
  head[':status'] = status;
  return head;
}

/** Fields as Node's HTTP/2 takes them; several of one name stay several. @throws UnsafeHeadError */
export function http2Fields(fields: FieldList): Record<string, string[]> {
  fieldLines(fields);
  const own = inLowerCase(fields);
  // A field called __proto__ must be a field like any other.
  const record: Record<string, string[]> = Object.create(null);
  for (let i = 0; i < own.length; i += 2) (record[own[i]!] ??= []).push(own[i + 1]!);
  return record;
}

function inLowerCase(fields: FieldList): FieldList {
  return removeFields(fields, NOT_IN_HTTP2).map((text, index) => (index % 2 === 0 ? text.toLowerCase() : text));
}
