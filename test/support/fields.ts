/** Header fields as a test writes them: a plain object, or pairs where order and repeats matter. */
export type FieldsInput = Readonly<Record<string, string | readonly string[]>> | readonly (readonly [string, string])[];

export function fieldPairs(input: FieldsInput | undefined): [string, string][] {
  if (input === undefined) return [];
  if (Array.isArray(input)) return input.map(([name, value]) => [name, value]);
  return Object.entries(input).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one): [string, string] => [name, one]),
  );
}

export function hasField(pairs: readonly (readonly [string, string])[], name: string): boolean {
  return pairs.some(([key]) => key.toLowerCase() === name.toLowerCase());
}

/** All values of a field in a flat list (`[name, value, …]`), in order; the name in any case. */
export function fieldValues(fields: readonly string[], name: string): string[] {
  const wanted = name.toLowerCase();
  const values: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) if (fields[i]!.toLowerCase() === wanted) values.push(fields[i + 1]!);
  return values;
}

export function encodeFields(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map(([name, value]) => `${name}: ${value}\r\n`).join('');
}

/** One chunked body, each element a chunk; with the terminator and trailers. */
export function encodeChunked(chunks: readonly Buffer[], trailers?: FieldsInput): Buffer {
  const parts: Buffer[] = [];
  for (const chunk of chunks) {
    if (chunk.length > 0) parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  parts.push(Buffer.from(`0\r\n${encodeFields(fieldPairs(trailers))}\r\n`, 'latin1'));
  return Buffer.concat(parts);
}

/** Bytes that differ from each other at every offset a bug could shift them by, the same on every run. */
export function patternBytes(byteCount: number, seed: number = 1): Buffer {
  const bytes = Buffer.allocUnsafe(byteCount);
  let state = seed >>> 0 || 1;
  for (let i = 0; i < byteCount; i++) {
    // xorshift32
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[i] = state & 0xff;
  }
  return bytes;
}

/** The flat list without one field; the name in any case. */
export function withoutField(fields: readonly string[], name: string): string[] {
  return fields.filter((_, index) => fields[index - (index % 2)]?.toLowerCase() !== name);
}
