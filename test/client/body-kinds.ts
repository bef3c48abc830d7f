import { Readable } from 'node:stream';
import { FormData as UndiciFormData } from 'undici';

/** One kind of request body, made of bytes. */
export interface BodyKind {
  make(bytes: Uint8Array): unknown;
  /** What the origin must see of those bytes; nothing where they are encoded first. */
  seen?(bytes: Uint8Array): Uint8Array;
  /** It can be read once only, and is kept up to the cap. */
  readonly isReadOnce?: true;
}

/** Pieces of which no border is a border of characters or of fields. */
export async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

function fillForm<Form extends { append(name: string, value: string | Blob, file?: string): void }>(
  form: Form,
  bytes: Uint8Array,
): Form {
  form.append('field', 'value: ü');
  form.append('file', new Blob([owned(bytes)], { type: 'image/png' }), 'file "1".bin');
  return form;
}

const same = (bytes: Uint8Array): Uint8Array => bytes;
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
/** In the middle of other memory, which must not go out with it. */
const inTheMiddle = (bytes: Uint8Array): Uint8Array => {
  const around = new Uint8Array(bytes.length + 20).fill(33);
  around.set(bytes, 10);
  return around.subarray(10, -10);
};
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

export const BODY_KINDS = {
  text: { make: hex, seen: (bytes) => Buffer.from(hex(bytes)) },
  Buffer: { make: (bytes) => Buffer.from(bytes), seen: same },
  Uint8Array: { make: inTheMiddle, seen: same },
  ArrayBuffer: { make: (bytes) => owned(bytes).buffer, seen: same },
  Blob: { make: (bytes) => new Blob([owned(bytes)]), seen: same },
  File: { make: (bytes) => new File([owned(bytes)], 'a.bin', { type: 'image/png' }), seen: same },
  URLSearchParams: {
    make: (bytes) => new URLSearchParams({ a: hex(bytes), b: 'two words' }),
    seen: (bytes) => Buffer.from(`a=${hex(bytes)}&b=two+words`),
  },
  FormData: { make: (bytes) => fillForm(new FormData(), bytes) },
  "undici's FormData": { make: (bytes) => fillForm(new UndiciFormData(), bytes) },
  Readable: { make: (bytes) => Readable.from(pieces(bytes), { objectMode: false }), seen: same, isReadOnce: true },
  'web stream': { make: (bytes) => ReadableStream.from(pieces(bytes)), seen: same, isReadOnce: true },
  'async generator': { make: pieces, seen: same, isReadOnce: true },
  'list of pieces': { make: (bytes) => [bytes.subarray(0, 7), bytes.subarray(7)], seen: same },
  'function that gives bytes': { make: (bytes) => () => bytes, seen: same },
  'function that gives a stream': { make: (bytes) => () => ReadableStream.from(pieces(bytes)), seen: same },
} satisfies Record<string, BodyKind>;

export type BodyKindName = keyof typeof BODY_KINDS;
