import type { BodyCapture, BodyChunk } from '../call/body-capture.ts';
import { captureBody } from '../call/body-capture.ts';
import { bodiesOf } from '../call/body-maker.ts';
import type { Layer } from '../layer-options.ts';
import { requireUnspent } from '../spent-body.ts';

/** A request's body as each dispatch gets it. */
export interface DispatchBody {
  /** For a body that is read only once. */
  readonly capture: BodyCapture | undefined;
  next(): unknown;
}

/**
 * Text, bytes, Blobs and forms are read anew by each dispatch; a function gives a body for each. Streams and iterables are
 * kept as they pass, from the first attempt on: what the first one took from them is not there for the second.
 */
export function readDispatchBody(body: unknown, layer: Layer): DispatchBody {
  if (typeof body === 'function') {
    const next = bodiesOf(body as () => unknown);
    return { capture: undefined, next: () => unspent(next()) };
  }
  const source = sourceOf(unspent(body));
  if (source === undefined) return { capture: undefined, next: () => body };
  const capture = captureBody(source, layer.replayBufferBytes, layer.memory);
  return { capture, next: () => capture.open() };
}

function unspent(body: unknown): unknown {
  requireUnspent(body);
  return body;
}

function sourceOf(body: unknown): AsyncIterable<BodyChunk> | Iterable<BodyChunk> | undefined {
  if (typeof body !== 'object' || body === null || isReadAnew(body)) return undefined;
  if (!(Symbol.asyncIterator in body) && !(Symbol.iterator in body)) return undefined;
  // A stream that breaks before somebody reads it would end the process.
  if ('on' in body && typeof body.on === 'function') body.on('error', () => undefined);
  return body as AsyncIterable<BodyChunk> | Iterable<BodyChunk>;
}

function isReadAnew(body: object): boolean {
  if (ArrayBuffer.isView(body) || body instanceof ArrayBuffer) return true;
  const tag = Object.prototype.toString.call(body).slice(8, -1);
  return tag === 'Blob' || tag === 'File' || tag === 'FormData';
}
