import { jsonErrorOffset } from './json-error.ts';

/** A JSON document in a text: the whole of it, or one of its lines. */
export interface JsonDocument {
  readonly data: unknown;
  readonly offset: number;
  readonly text: string;
}

export type JsonSource =
  | { readonly ok: true; readonly documents: readonly JsonDocument[] }
  | { readonly ok: false; readonly offset: number };

/** Reads one JSON value, or one a line (JSON lines, as collectors write files). Never throws. */
export function readJson(text: string): JsonSource {
  const whole = parse(text);
  if (whole.ok) return { ok: true, documents: [{ data: whole.data, offset: 0, text }] };
  const firstEnd = text.indexOf('\n');
  if (firstEnd === -1 || !parse(text.slice(0, firstEnd)).ok) return whole;
  const documents: JsonDocument[] = [];
  let offset = 0;
  for (const line of text.split('\n')) {
    if (line.trim() !== '') {
      const read = parse(line);
      if (!read.ok) return { ok: false, offset: offset + read.offset };
      documents.push({ data: read.data, offset, text: line });
    }
    offset += line.length + 1;
  }
  return { ok: true, documents };
}

type Parsed = { readonly ok: true; readonly data: unknown } | { readonly ok: false; readonly offset: number };

function parse(text: string): Parsed {
  try {
    return { ok: true, data: JSON.parse(text) as unknown };
  } catch {
    return { ok: false, offset: jsonErrorOffset(text) };
  }
}
