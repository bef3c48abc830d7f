/** Frame types, flags and codes of HTTP/2 that are told apart here (RFC 9113 §6, §7). */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** On DATA and HEADERS: the sender has said everything on this stream. */
export const END_STREAM: number = 0x1;
/** On SETTINGS and PING. */
export const ACK: number = 0x1;
/** On HEADERS and CONTINUATION: the header block ends here. */
export const END_HEADERS: number = 0x4;

export const ERROR_CODE = {
  none: 0,
  protocol: 1,
  internal: 2,
  refusedStream: 7,
  cancel: 8,
  enhanceYourCalm: 11,
} as const;

/** What a client sends first, whoever chose the protocol (RFC 9113 §3.4). */
export const PREFACE: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
