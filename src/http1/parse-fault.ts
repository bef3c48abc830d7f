import type { ParseFault } from './message.ts';

/** Every reason to refuse bytes: status for a request, and what was wrong. For a response the status means nothing. */
const REASONS = {
  BAD_START_LINE: [400, 'The first line is not an HTTP/1 start line.'],
  BAD_METHOD: [400, 'The method is not a token.'],
  UNKNOWN_METHOD: [501, 'The method is not a registered HTTP method (methods are case-sensitive).'],
  BAD_TARGET: [400, 'The request target has a form or a character that RFC 9112 §3.2 does not allow for this method.'],
  BAD_VERSION: [505, 'The protocol version is neither HTTP/1.1 nor HTTP/1.0.'],
  BAD_STATUS: [400, 'The status code is not three digits from 100 to 599.'],
  BAD_REASON: [400, 'The reason phrase holds a control character.'],
  EMPTY_LINES: [400, 'More than one empty line came before the start line.'],
  BARE_CR: [400, 'A CR stands without its LF.'],
  BARE_LF: [400, 'A line ends in LF without CR.'],
  OBS_FOLD: [400, 'A field line begins with white space (obsolete line folding).'],
  SPACE_BEFORE_COLON: [400, 'White space stands between a field name and its colon.'],
  BAD_FIELD_NAME: [400, 'A field name is empty or holds a character that is not allowed in a token.'],
  BAD_FIELD_VALUE: [400, 'A field value holds a control character.'],
  HEAD_TOO_LARGE: [431, 'The header section is larger than the limit headBytes.'],
  TOO_MANY_FIELDS: [431, 'The message has more fields than the limit fieldCount.'],
  TARGET_TOO_LONG: [414, 'The request line is longer than the limit startLineBytes.'],
  MISSING_HOST: [400, 'An HTTP/1.1 request needs exactly one Host field; it has none.'],
  DUPLICATE_HOST: [400, 'A request may have one Host field; it has more.'],
  BAD_HOST: [400, 'The Host field is not a plain host with an optional port.'],
  HOST_MISMATCH: [400, 'The Host field and the authority of the request target differ.'],
  BAD_CONTENT_LENGTH: [400, 'Content-Length is not one plain decimal number below 2^53.'],
  DUPLICATE_CONTENT_LENGTH: [400, 'Content-Length appears more than once.'],
  LENGTH_AND_CODING: [400, 'Content-Length and Transfer-Encoding are both present.'],
  BAD_TRANSFER_ENCODING: [400, 'Transfer-Encoding must be exactly one field with the value chunked.'],
  UNKNOWN_TRANSFER_ENCODING: [501, 'The only transfer coding understood is chunked.'],
  CODING_IN_HTTP_1_0: [400, 'Transfer-Encoding is not part of HTTP/1.0.'],
  UNEXPECTED_BODY: [400, 'A CONNECT request may not declare a body.'],
  BAD_EXPECT: [417, 'The only expectation understood is 100-continue.'],
  BAD_CHUNK_SIZE: [400, 'A chunk size is not a hexadecimal number below 2^53.'],
  BAD_CHUNK_EXTENSION: [400, 'A chunk extension is malformed.'],
  CHUNK_LINE_TOO_LONG: [400, 'A chunk-size line is longer than the limit chunkLineBytes.'],
  BAD_CHUNK_END: [400, 'Chunk data is not followed by CRLF.'],
  TRAILERS_TOO_LARGE: [431, 'The trailer section is larger than the limit trailerBytes.'],
  FORBIDDEN_TRAILER: [400, 'A trailer field carries framing, routing or authentication data.'],
  BAD_INFORMATIONAL: [400, 'An interim response declares a body, closes the connection or is HTTP/1.0.'],
  BAD_PSEUDO_FIELDS: [
    400,
    'The fields that begin with a colon are not exactly those that RFC 9113 §8.3.1 asks for, in front.',
  ],
  CONNECTION_FIELD: [400, 'A field that speaks of one connection (RFC 9113 §8.2.2) has no meaning in HTTP/2.'],
  TOO_MANY_INFORMATIONAL: [400, 'More interim responses came than the limit informationalCount.'],
} as const;

export type ParseFaultCode = keyof typeof REASONS;

export function parseFault(code: ParseFaultCode): ParseFault {
  const [status, message] = REASONS[code];
  return { code, message, status };
}
