/** RFC 9113 §7. */
const names = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
] as const;

/** The two that this side looks for or sends. */
export const http2Codes = { noError: 0, cancel: 8 } as const;

export type Http2ErrorName = (typeof names)[number];

/** What an error code of HTTP/2 is called; a code that nobody knows is an INTERNAL_ERROR (RFC 9113 §7). */
export function http2ErrorName(code: number): Http2ErrorName {
  return names[code] ?? 'INTERNAL_ERROR';
}

/** The last word of a connection: streams above `lastStreamId` were not and will not be processed (RFC 9113 §6.8). */
export interface Goaway {
  readonly code: number;
  readonly lastStreamId: number;
}
