import type { FieldList, ResponseHead } from '../http1/message.ts';

/** Bytes of a failed attempt's response that are read before its connection is given up. */
export const KEPT_RESPONSE_BYTES = 65_536;
/** Milliseconds such a response may take to end. */
export const KEPT_RESPONSE_MS = 100;

/**
 * The response of an attempt that is going to be retried. It is read to its end so that the connection can carry
 * the next request, and kept, because it is the answer when no later attempt gets one.
 */
export interface KeptResponse {
  readonly head: ResponseHead;
  readonly chunks: Buffer[];
  bytes: number;
  trailers: FieldList;
  /** It arrived whole: only then it may be delivered. */
  complete: boolean;
}

export function keepResponse(head: ResponseHead): KeptResponse {
  return { head, chunks: [], bytes: 0, trailers: [], complete: false };
}

/** Returns false when the response is larger than what is kept. */
export function keepChunk(kept: KeptResponse, chunk: Buffer): boolean {
  kept.bytes += chunk.length;
  if (kept.bytes > KEPT_RESPONSE_BYTES) {
    kept.chunks.length = 0;
    return false;
  }
  // The transport lends its bytes for the time of the call.
  kept.chunks.push(Buffer.from(chunk));
  return true;
}
