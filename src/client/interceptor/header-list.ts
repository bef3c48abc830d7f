import type { FieldList } from '../../http1/message.ts';

/** Headers as a caller of undici may write them. */
export type HeadersInput =
  | Readonly<Record<string, unknown>>
  | readonly unknown[]
  | Iterable<readonly [string, unknown]>
  | null
  | undefined;

/** What can be read more than once: an iterable becomes the flat list that every version of undici takes. */
export function repeatableHeaders(headers: HeadersInput): HeadersInput {
  if (headers === null || headers === undefined || Array.isArray(headers) || !(Symbol.iterator in headers))
    return headers;
  return [...(headers as Iterable<readonly [string, unknown]>)].flat(1);
}

/** Name and values, flat, where they are text; for reading only. */
export function textFields(headers: HeadersInput): FieldList {
  const fields: FieldList = [];
  for (const [name, value] of entriesOf(headers)) {
    for (const one of Array.isArray(value) ? value : [value]) fields.push(name, String(one));
  }
  return fields;
}

/** The same headers with these in place of their namesakes, in the shape that they came in. */
export function withFields(headers: HeadersInput, fields: FieldList): HeadersInput {
  if (fields.length === 0) return headers;
  const names = new Set(fields.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  const kept = entriesOf(headers).filter(([name]) => !names.has(name.toLowerCase()));
  if (Array.isArray(headers)) return [...kept.flat(1), ...fields];
  const added: [string, string][] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) added.push([fields[i]!, fields[i + 1]!]);
  return Object.fromEntries([...kept, ...added]);
}

/** Of what `repeatableHeaders` gave. */
function entriesOf(headers: HeadersInput): [string, unknown][] {
  if (headers === null || headers === undefined) return [];
  if (!Array.isArray(headers)) return Object.entries(headers);
  const entries: [string, unknown][] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) entries.push([String(headers[i]), headers[i + 1]]);
  return entries;
}
