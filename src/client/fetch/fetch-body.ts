import type { BodyCapture, BodyChunk } from '../call/body-capture.ts';
import { captureBody } from '../call/body-capture.ts';
import { createRepeatCheck } from '../call/body-maker.ts';
import { replayedStream, streamChunks } from '../call/replayed-stream.ts';
import type { Layer } from '../layer-options.ts';
import type { WrappedInit } from '../wrap-fetch.ts';

type BodyInit = RequestInit['body'];

/** A request's body as each attempt gets it. */
export interface FetchBody {
  /** For a body that is read only once. */
  readonly capture: BodyCapture | undefined;
  /** What is put in the place of the caller's body; `undefined` leaves the caller's where it is. */
  next(): Promise<BodyInit | undefined>;
}

/**
 * Text, bytes, blobs, forms and parameters are read anew by each call of a fetch. A function gives a body for each attempt.
 * A stream is kept as it passes; what a `Request` holds is read ahead, up to the cap, so that it goes out with its length.
 */
export async function readFetchBody(
  input: string | URL | Request,
  init: WrappedInit,
  layer: Layer,
): Promise<FetchBody> {
  const { body } = init;
  if (typeof body === 'function') return made(body);
  if (body !== undefined && body !== null) {
    requireUnread(body);
    const source = streamOf(body);
    return source === undefined ? AS_IT_IS : captured(captureBody(source, layer.replayBufferBytes, layer.memory));
  }
  if (typeof input !== 'object' || !('url' in input)) return AS_IT_IS;
  return readRequest(input, layer);
}

const AS_IT_IS: FetchBody = { capture: undefined, next: async () => undefined };

async function readRequest(request: Request, layer: Layer): Promise<FetchBody> {
  // Where a request does not show its stream (Firefox), it can only be read whole.
  if (!('body' in request)) return wholeOf(request);
  if (request.body === null) return AS_IT_IS;
  if (request.bodyUsed) throw new TypeError('wrapFetch: the body of the Request was read already; give a new Request');
  const capture = captureBody(streamChunks(request.body), layer.replayBufferBytes, layer.memory);
  const bytes = await capture.readAhead();
  if (bytes === undefined) return captured(capture);
  capture.release(false);
  return { capture: undefined, next: async () => bytes as Uint8Array<ArrayBuffer> };
}

async function wholeOf(request: Request): Promise<FetchBody> {
  if (request.method === 'GET' || request.method === 'HEAD') return AS_IT_IS;
  const bytes = await request.arrayBuffer();
  return bytes.byteLength === 0 ? AS_IT_IS : { capture: undefined, next: async () => bytes };
}

function made(make: () => BodyInit | Promise<BodyInit>): FetchBody {
  const requireNew = createRepeatCheck();
  return {
    capture: undefined,
    async next() {
      const body = await make();
      requireNew(body);
      return body;
    },
  };
}

/**
 * A stream that was read before would be sent as what is left of it, or as nothing. A fetch refuses it; here it gets another
 * in its place.
 * @throws TypeError
 */
function requireUnread(body: object | string): void {
  if (typeof body !== 'object') return;
  // A Response takes no byte of it when it is made, and throws for one that was read or is being read.
  const isRead =
    ('getReader' in body && new Response(body as ReadableStream<Uint8Array>).bodyUsed) ||
    ('readableEnded' in body && body.readableEnded === true);
  if (isRead) throw new TypeError('wrapFetch: this stream was read to its end already; give a new one');
}

function captured(capture: BodyCapture): FetchBody {
  return { capture, next: async () => replayedStream(capture) };
}

/** The chunks of a body that is read only once; `undefined` for one that is not. */
function streamOf(body: object | string): AsyncIterable<BodyChunk> | Iterable<BodyChunk> | undefined {
  // A number is text for a fetch.
  if (typeof body !== 'object') return undefined;
  if ('getReader' in body) return streamChunks(body as ReadableStream<Uint8Array>);
  return Symbol.asyncIterator in body ? (body as AsyncIterable<BodyChunk>) : undefined;
}
