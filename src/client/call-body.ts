import { Readable } from 'node:stream';
import { errors, Response } from 'undici';
import type { FormData } from 'undici';
import { bytesBody, emptyBody } from '../transport/body/bytes-body.ts';
import { createReplayBody } from '../transport/body/replay-body.ts';
import type { ReplayMemory } from '../transport/body/replay-memory.ts';
import type { RequestBody } from '../transport/body/request-body.ts';
import { bodiesOf } from './call/body-maker.ts';
import { isFormData, ownFormData } from './form-data.ts';
import { IterableSource } from './iterable-source.ts';
import type { BodyPieces } from './iterable-source.ts';
import { ReopenedBody } from './reopened-body.ts';
import { requireUnspent } from './spent-body.ts';

export interface CallBodyOptions {
  readonly method: string;
  /** Declared by the caller. */
  readonly contentLength: number | undefined;
  readonly capBytes: number;
  readonly memory: ReplayMemory;
  /** The caller's own body broke; the request ends with this error. */
  readonly failed: (error: unknown) => void;
}

/** As fetch declares URLSearchParams. */
const FORM_TYPE = 'application/x-www-form-urlencoded;charset=UTF-8';

/** A request's body, and how to give up what was not read of it. */
export interface CallBody {
  readonly body: RequestBody | undefined;
  /** Of its own making: a FormData, URLSearchParams or a Blob with a type bring their Content-Type. */
  readonly contentType?: string | undefined;
  stop(): void;
}

/**
 * Makes of whatever a caller gives a body whose bytes are the same in every attempt, or which says that it cannot be read
 * again. Bytes, text and Blobs can; streams and iterables are kept as they pass, up to the cap.
 * @throws InvalidArgumentError for what is no body, RequestContentLengthMismatchError for a length that is not its own
 */
export function readBody(body: unknown, options: CallBodyOptions): CallBody | Promise<CallBody> {
  if (body === undefined || body === null) return bodyless(options);
  if (typeof body === 'string') return whole(Buffer.from(body), options);
  if (body instanceof ArrayBuffer) return whole(Buffer.from(body), options);
  if (ArrayBuffer.isView(body)) return whole(Buffer.from(body.buffer, body.byteOffset, body.byteLength), options);
  if (body instanceof URLSearchParams)
    return { ...whole(Buffer.from(body.toString()), options), contentType: FORM_TYPE };
  if (typeof body === 'function') {
    const next = bodiesOf(body as () => unknown);
    return reopened(() => piecesOf(next()), options.contentLength, options);
  }
  if (isBlob(body)) return blobBody(body, options);
  // Its parts are encoded once, so that the boundary, and with it every byte, stays the same.
  if (isFormData(body)) return formBody(body, options);
  return streamed(piecesOf(body), options);
}

function bodyless({ method, contentLength = 0 }: CallBodyOptions): CallBody {
  requireLength(contentLength, 0);
  const saysItsLength = method === 'POST' || method === 'PUT' || method === 'PATCH';
  return saysItsLength ? { body: emptyBody(), stop() {} } : NONE;
}

const NONE: CallBody = Object.freeze({ body: undefined, stop() {} });

function whole(bytes: Buffer, options: CallBodyOptions): CallBody {
  if (bytes.length === 0) return bodyless(options);
  requireLength(options.contentLength, bytes.length);
  return { body: bytesBody(bytes), stop() {} };
}

function blobBody(blob: Blob, options: CallBodyOptions): CallBody {
  requireLength(options.contentLength, blob.size);
  const contentType = blob.type === '' ? undefined : blob.type;
  return { ...reopened(() => piecesOf(blob.stream()), blob.size, options), contentType };
}

async function formBody(form: FormData, options: CallBodyOptions): Promise<CallBody> {
  const encoded = new Response(ownFormData(form));
  const contentType = encoded.headers.get('content-type') ?? undefined;
  const bytes = Buffer.from(await encoded.arrayBuffer());
  return { ...whole(bytes, options), contentType };
}

function reopened(open: () => BodyPieces, contentLength: number | undefined, { failed }: CallBodyOptions): CallBody {
  return { body: new ReopenedBody(open, contentLength, failed), stop() {} };
}

function streamed(pieces: BodyPieces, { contentLength, capBytes, memory, failed }: CallBodyOptions): CallBody {
  const source = new IterableSource(() => pieces, failed);
  const body = createReplayBody({ source, contentLength, capBytes, memory });
  return { body, stop: () => source.stop() };
}

/** Anything that can be read piece by piece. */
function piecesOf(body: unknown): BodyPieces {
  if (typeof body === 'string') return [body];
  if (typeof body !== 'object' || body === null) throw noBody();
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return [body as Uint8Array];
  if (isBlob(body)) return piecesOf(body.stream());
  requireUnspent(body);
  if (Symbol.asyncIterator in body || Symbol.iterator in body) return body as BodyPieces;
  if ('pipe' in body && 'on' in body) return new Readable().wrap(body as unknown as NodeJS.ReadableStream);
  throw noBody();
}

function isBlob(body: unknown): body is Blob {
  return typeof body === 'object' && body !== null && 'arrayBuffer' in body && 'stream' in body && 'size' in body;
}

function requireLength(declared: number | undefined, actual: number): void {
  if (declared !== undefined && declared !== actual) throw new errors.RequestContentLengthMismatchError();
}

function noBody(): Error {
  return new errors.InvalidArgumentError(
    'body must be a string, a Buffer, a Blob, a FormData, a stream, an iterable, or a function that gives one of these',
  );
}
