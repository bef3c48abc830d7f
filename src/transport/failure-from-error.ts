import type { Failure, FailureKind, FailurePhase, FailureSource } from '../core/failure.ts';
import type { ParseFault } from '../http1/message.ts';
import { clientErrorKind, lostConnectionCodes } from './client-error-codes.ts';
import { codedError } from './error-evidence.ts';
import { errorCode, failureCause } from '../core/failure-cause.ts';
import { http2ErrorName } from './http2/http2-error-codes.ts';
import type { Goaway, Http2ErrorName } from './http2/http2-error-codes.ts';
import { isTlsCertificateCode, isTlsCode } from './tls-error-codes.ts';

/** How far the attempt had come when it died: the evidence that decides whether it may be sent again. */
export interface FailureSite {
  readonly phase: FailurePhase;
  readonly reused: boolean;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  /** What was being done, in words: `connect to 127.0.0.1:9001`. */
  readonly context?: string | undefined;
}

/** Which limit ran out. */
export type TimeoutName = 'queue' | 'connect' | 'attempt' | 'head' | 'read' | 'write';

/** An error that a library threw or emitted, as a failure. Nothing else in the house maps error codes. */
export function failureFromError(error: unknown, site: FailureSite): Failure {
  const coded = codedError(error);
  const [kind, source] = classifyCode(errorCode(coded), coded, site);
  return failure(kind, source, site, failureCause(error));
}

/** The peer closed the connection (FIN) where the protocol did not allow it. */
export function failureFromClose(site: FailureSite): Failure {
  return failure(kindOfLostConnection(site.phase), 'upstream', site, undefined);
}

/**
 * Bytes of a response that the parser refused. Garbage in place of a status line is placed in phase `wait`, for no head
 * had begun: it says as little about the request as a reset does. A fault after a status line is in phase `head`.
 */
export function failureFromParseFault(fault: ParseFault, site: FailureSite): Failure {
  const phase: FailurePhase = site.phase === 'head' && notAStatusLine.has(fault.code) ? 'wait' : site.phase;
  return failure(
    parseFaultKinds.get(fault.code) ?? 'http_protocol_error',
    'upstream',
    { ...site, phase },
    { code: fault.code, message: fault.message },
  );
}

/**
 * A stream of HTTP/2 was reset. REFUSED_STREAM proves that nothing was processed (RFC 9113 §8.7), unless an answer had
 * begun, which belies it. The other codes say no more than a reset connection does; but the connection lives, so that no
 * request met its end by accident. What our own side refuses (a length that does not match, say) ends here too.
 */
export function failureFromReset(code: number, site: FailureSite): Failure {
  const name = http2ErrorName(code);
  const kind = site.bytesReceived > 0 && name === 'REFUSED_STREAM' ? undefined : resetKinds[name];
  const message = `the stream was reset with ${name}`;
  return failure(kind ?? kindOfLostStream(site), 'upstream', site, { code: name, message });
}

/** A connection of HTTP/2 was ended by its peer with an error; what became of a stream depends on the last one it names. */
export function failureFromGoaway({ code, lastStreamId }: Goaway, streamId: number, site: FailureSite): Failure {
  const name = http2ErrorName(code);
  const message = `the peer ended the connection with ${name}; ${String(lastStreamId)} was the last stream it processed`;
  const isUnprocessed = streamId > lastStreamId && site.bytesReceived === 0;
  const cause = { code: name, message };
  if (name === 'ENHANCE_YOUR_CALM') {
    const overloaded = failure('overloaded', 'upstream', site, cause);
    return isUnprocessed ? { ...overloaded, unprocessed: true } : overloaded;
  }
  return failure(isUnprocessed ? 'request_rejected' : kindOfLostStream(site), 'upstream', site, cause);
}

/** A limit of ours that ran out. Only a full connection pool is not the upstream's doing. */
export function failureFromTimeout(timeout: TimeoutName, limitMs: number, site: FailureSite): Failure {
  const [kind, message] = timeouts[timeout];
  const source: FailureSource = timeout === 'queue' ? 'internal' : 'upstream';
  return failure(kind, source, site, {
    code: `${timeout}-timeout`,
    message: `${message} within ${String(limitMs)} ms`,
  });
}

/** The upstream broke a rule of the protocol that no parser sees, such as a 101 nobody asked for. */
export function protocolFailure(message: string, site: FailureSite): Failure {
  return failure('http_protocol_error', 'upstream', site, { code: 'protocol', message });
}

/** A fault of our own or of user code. */
export function internalFailure(kind: FailureKind, message: string, site: FailureSite, error?: unknown): Failure {
  return failure(
    kind,
    'internal',
    site,
    error === undefined ? { code: kind, message } : { code: kind, message, cause: failureCause(error) },
  );
}

/** The source of the request body died; its failure keeps its kind and source, and gets this attempt's evidence. */
export function failureFromBody(cause: Failure, site: FailureSite): Failure {
  return {
    ...cause,
    phase: site.phase,
    reused: site.reused,
    bytesSent: site.bytesSent,
    bytesReceived: site.bytesReceived,
  };
}

function failure(kind: FailureKind, source: FailureSource, site: FailureSite, cause: Failure['cause']): Failure {
  const { phase, reused, bytesSent, bytesReceived, context } = site;
  return { kind, source, phase, reused, bytesSent, bytesReceived, cause, context };
}

const timeouts: Record<TimeoutName, readonly [FailureKind, string]> = {
  queue: ['connection_limit_reached', 'no connection became free'],
  connect: ['connection_timeout', 'no connection was established'],
  attempt: ['http_response_timeout', 'no response began'],
  head: ['http_response_timeout', 'the response head did not end'],
  read: ['connection_read_timeout', 'no byte of the response body arrived'],
  write: ['connection_write_timeout', 'the peer took no byte of the request'],
};

const resetKinds: Partial<Record<Http2ErrorName, FailureKind>> = {
  REFUSED_STREAM: 'request_rejected',
  ENHANCE_YOUR_CALM: 'overloaded',
  HTTP_1_1_REQUIRED: 'http_1_1_required',
};

/** Never a closed connection: on a reused one that would pass for a race with an idle server. */
function kindOfLostStream({ phase }: FailureSite): FailureKind {
  return phase === 'body' ? 'http_response_incomplete' : 'http_protocol_error';
}

const notAStatusLine: ReadonlySet<string> = new Set(['BAD_START_LINE', 'EMPTY_LINES']);

const parseFaultKinds: ReadonlyMap<string, FailureKind> = new Map([
  ['HEAD_TOO_LARGE', 'http_response_header_section_size'],
  ['TOO_MANY_FIELDS', 'http_response_header_section_size'],
  ['BAD_TRANSFER_ENCODING', 'http_response_transfer_coding'],
  ['UNKNOWN_TRANSFER_ENCODING', 'http_response_transfer_coding'],
  ['CODING_IN_HTTP_1_0', 'http_response_transfer_coding'],
  ['INCOMPLETE', 'http_response_incomplete'],
]);

type Verdict = readonly [FailureKind, FailureSource];

function classifyCode(code: string, error: unknown, site: FailureSite): Verdict {
  const connecting = site.phase === 'select' || site.phase === 'connect' || site.phase === 'tls';
  switch (code) {
    case 'ECONNREFUSED':
      return ['connection_refused', 'upstream'];
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      // A look-up of one's own gives the code alone, without the call of the system's resolver.
      return ['dns_error', 'upstream'];
    case 'ECONNRESET':
    case 'ECONNABORTED':
    case 'EPIPE':
    case 'ENOTCONN':
    case 'ESHUTDOWN':
    case 'ERR_STREAM_PREMATURE_CLOSE':
    case 'ERR_STREAM_DESTROYED':
    case 'ERR_SOCKET_CLOSED':
    case 'ERR_SOCKET_CLOSED_BEFORE_CONNECTION':
    case 'ERR_HTTP2_PING_CANCEL':
      return [kindOfLostConnection(site.phase), 'upstream'];
    case 'ERR_HTTP2_ERROR':
    case 'ERR_HTTP2_SESSION_ERROR':
    case 'ERR_HTTP2_TOO_MANY_INVALID_FRAMES':
      return ['http_protocol_error', 'upstream'];
    case 'ETIMEDOUT':
    case 'ETIMEOUT':
    case 'ERR_SOCKET_CONNECTION_TIMEOUT':
      if (isDnsError(error)) return ['dns_timeout', 'upstream'];
      if (connecting) return ['connection_timeout', 'upstream'];
      return [site.phase === 'send' ? 'connection_write_timeout' : 'connection_read_timeout', 'upstream'];
    case 'ENETUNREACH':
    case 'EHOSTUNREACH':
    case 'ENETDOWN':
    case 'EHOSTDOWN':
      return ['destination_ip_unroutable', 'upstream'];
    case 'ERR_PROXY_TUNNEL':
      return ['destination_unavailable', 'upstream'];
    case 'EACCES':
    case 'EPERM':
      // A local firewall rule answers so; the upstream never saw the packet.
      return connecting ? ['destination_ip_prohibited', 'internal'] : ['proxy_internal_error', 'internal'];
    case 'EMFILE':
    case 'ENFILE':
    case 'EADDRNOTAVAIL':
    case 'ENOBUFS':
    case 'ENOMEM':
      return ['local_resource_exhausted', 'internal'];
    case 'ERR_SOCKET_BAD_PORT':
    case 'ERR_INVALID_ARG_TYPE':
    case 'ERR_INVALID_ARG_VALUE':
    case 'ERR_INVALID_IP_ADDRESS':
    case 'EADDRINUSE':
    case 'EINVAL':
      return ['proxy_configuration_error', 'internal'];
    default:
      break;
  }
  if (lostConnectionCodes.has(code)) return [kindOfLostConnection(site.phase), 'upstream'];
  const ofClient = clientErrorKind(code, error);
  if (ofClient !== undefined) return ofClient;
  if (isDnsError(error)) return ['dns_error', 'upstream'];
  if (isTlsCertificateCode(code)) return ['tls_certificate_error', 'upstream'];
  if (isTlsCode(code)) return [code.includes('ALERT') ? 'tls_alert_received' : 'tls_protocol_error', 'upstream'];
  return connecting && isSystemError(error)
    ? ['destination_unavailable', 'upstream']
    : ['proxy_internal_error', 'internal'];
}

/** After the first byte of the final head the response was cut; before it, only the connection is known to be gone. */
function kindOfLostConnection(phase: FailurePhase): FailureKind {
  return phase === 'head' || phase === 'body' ? 'http_response_incomplete' : 'connection_terminated';
}

const resolverCalls: ReadonlySet<unknown> = new Set(['getaddrinfo', 'queryA', 'queryAaaa', 'querySrv']);

function isDnsError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'syscall' in error && resolverCalls.has(error.syscall);
}

function isSystemError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'errno' in error;
}
