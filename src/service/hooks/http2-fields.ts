import type { FieldList } from '../../http1/message.ts';

/** The headers of a stream as a list: Node takes an object, whose values may be lists, and also a flat list. */
export function fieldsOfHeaders(headers: unknown): FieldList {
  if (Array.isArray(headers)) return headers.map(String);
  if (typeof headers !== 'object' || headers === null) return [];
  const fields: FieldList = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) fields.push(name, String(one));
  }
  return fields;
}
