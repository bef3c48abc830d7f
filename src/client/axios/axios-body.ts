import { Readable } from 'node:stream';
import type { ReplayState } from '../../engine/request-run.ts';
import type { BodyCapture, BodyChunk } from '../call/body-capture.ts';
import { captureBody } from '../call/body-capture.ts';
import { replayedStream, streamChunks } from '../call/replayed-stream.ts';
import type { Layer } from '../layer-options.ts';
import { requireUnspent } from '../spent-body.ts';

/** A request's data as each attempt gets it. */
export interface AxiosBody {
  /** What the loop asks; `undefined`: it can be sent as often as needed. */
  readonly state: ReplayState | undefined;
  readonly capture: BodyCapture | undefined;
  next(): unknown;
}

/** A stream that cannot be kept as it passes, such as one of the package form-data: it goes out once. */
const SENT_ONCE: ReplayState = { replayable: false, complete: false, copy: () => undefined };

export function readAxiosBody(data: unknown, layer: Layer): AxiosBody {
  if (typeof data !== 'object' || data === null) return asItIs(data, undefined);
  requireUnspent(data);
  if ('getReader' in data) {
    const capture = captureBody(
      streamChunks(data as ReadableStream<Uint8Array>),
      layer.replayBufferBytes,
      layer.memory,
    );
    return { state: capture, capture, next: () => replayedStream(capture) };
  }
  if (!('pipe' in data)) return asItIs(data, undefined);
  if (!(data instanceof Readable) || 'getHeaders' in data) return asItIs(data, SENT_ONCE);
  // A stream that breaks before somebody reads it would end the process.
  data.on('error', () => undefined);
  const capture = captureBody(data as AsyncIterable<BodyChunk>, layer.replayBufferBytes, layer.memory);
  return { state: capture, capture, next: () => Readable.from(capture.open(), { objectMode: false }) };
}

function asItIs(data: unknown, state: ReplayState | undefined): AxiosBody {
  return { state, capture: undefined, next: () => data };
}
