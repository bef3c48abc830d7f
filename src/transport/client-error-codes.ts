import type { FailureKind, FailureSource } from '../core/failure.ts';

/** What HTTP clients of others name what befell them: undici's codes, llhttp's, axios's, Bun's. */
const clientCodes: ReadonlyMap<string, readonly [FailureKind, FailureSource]> = new Map([
  ['UND_ERR_CONNECT_TIMEOUT', ['connection_timeout', 'upstream']],
  ['UND_ERR_HEADERS_TIMEOUT', ['http_response_timeout', 'upstream']],
  ['UND_ERR_BODY_TIMEOUT', ['connection_read_timeout', 'upstream']],
  ['UND_ERR_HEADERS_OVERFLOW', ['http_response_header_section_size', 'upstream']],
  ['UND_ERR_HTTP_PARSER', ['http_protocol_error', 'upstream']],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', ['http_response_incomplete', 'upstream']],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', ['proxy_configuration_error', 'internal']],
  ['UND_ERR_PRX_CONN', ['destination_unavailable', 'upstream']],
  ['UND_ERR_PRX_TLS', ['tls_protocol_error', 'upstream']],
  ['UND_ERR_SOCKS', ['destination_unavailable', 'upstream']],
  // The dispatcher was closed, or what it was given is wrong: the same again ends the same way.
  ['UND_ERR_CLOSED', ['proxy_configuration_error', 'internal']],
  ['UND_ERR_DESTROYED', ['proxy_configuration_error', 'internal']],
  ['UND_ERR_INVALID_ARG', ['proxy_configuration_error', 'internal']],
  ['UND_ERR_INVALID_RETURN_VALUE', ['proxy_configuration_error', 'internal']],
  ['UND_ERR_NOT_SUPPORTED', ['proxy_configuration_error', 'internal']],
  ['UND_ERR_MAX_ORIGINS_REACHED', ['proxy_configuration_error', 'internal']],
  ['UND_ERR_REQ_CONTENT_LENGTH_MISMATCH', ['proxy_configuration_error', 'internal']],
  ['UND_ERR_ABORTED', ['downstream_closed', 'downstream']],
  ['UND_ERR_ABORT', ['downstream_closed', 'downstream']],
  ['ERR_CANCELED', ['downstream_closed', 'downstream']],
  ['ABORT_ERR', ['downstream_closed', 'downstream']],
  ['AbortError', ['downstream_closed', 'downstream']],
  ['ConnectionRefused', ['connection_refused', 'upstream']],
]);

/** Codes for a connection that was lost, in whatever phase. */
export const lostConnectionCodes: ReadonlySet<string> = new Set([
  'UND_ERR_SOCKET',
  // axios where it cannot know more, such as in a browser
  'ERR_NETWORK',
  'ConnectionClosed',
]);

/** RFC 9113 §7, as undici puts it on the error of a stream. */
const streamCodes: ReadonlyMap<unknown, FailureKind> = new Map<unknown, FailureKind>([
  [7, 'request_rejected'],
  [11, 'overloaded'],
  [13, 'http_1_1_required'],
]);

/** What the code of an HTTP client means; `undefined` when it is none of theirs. */
export function clientErrorKind(code: string, error: unknown): readonly [FailureKind, FailureSource] | undefined {
  if (typeof error === 'object' && error !== null && 'http2ErrorCode' in error) {
    return [streamCodes.get(error.http2ErrorCode) ?? 'connection_terminated', 'upstream'];
  }
  if (code.startsWith('HPE_')) {
    return [code === 'HPE_HEADER_OVERFLOW' ? 'http_response_header_section_size' : 'http_protocol_error', 'upstream'];
  }
  return clientCodes.get(code);
}
