import type { StopReason } from '../core/decision.ts';
import type { Failure, FailureKind, ProxyErrorKind } from '../core/failure.ts';
import type { FieldList } from '../http1/message.ts';
import { ALLOWED_METHODS } from './allowed-methods.ts';
import { HOP_NAME } from './headers.ts';
import { statusTitle } from './status-title.ts';

/** An answer made here, not by an upstream. */
export interface ErrorResponse {
  /** 400–599. */
  status: number;
  /** Problem title, RFC 9457 §3.1. */
  title: string;
  /** What happened and what to do, without names of hosts or addresses: it crosses the trust boundary. */
  detail: string;
  /** RFC 9209 error token for `Proxy-Status`. */
  token: ProxyErrorKind | undefined;
  /** Extra end-to-end fields, such as Retry-After. */
  fields: FieldList;
}

/** Thrown by user code in a hook to answer with a status of its choice. */
export class HttpStatusError extends Error {
  /** 400–599. */
  readonly status: number;

  /**
   * @param message The client reads it: no secrets. Default: none.
   * @param options `cause` goes into the record and the log, not to the client.
   * @throws RangeError unless 400 ≤ status ≤ 599
   */
  constructor(status: number, message = '', options?: ErrorOptions) {
    super(message, options);
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new RangeError(`an error status is a whole number from 400 to 599, not ${status}`);
    }
    this.name = 'HttpStatusError';
    this.status = status;
  }
}

/** The only place where a failure becomes an answer. Undefined: the client is gone, there is nobody to answer. */
export function errorResponse(
  failure: Failure,
  reason: StopReason | undefined,
  retryAfterMs?: number,
): ErrorResponse | undefined {
  if (failure.kind === 'downstream_closed') return undefined;
  const status = failureStatus(failure);
  return {
    status,
    title: statusTitle(status),
    detail: `${DETAILS[failure.kind] ?? 'The request could not be completed.'}${retryNote(reason)}`,
    token: proxyErrorToken(failure.kind),
    fields: status === 503 ? retryAfter(retryAfterMs) : [],
  };
}

/** The answer when a retry was refused and the upstream is configured to say 503 then (Gateway API, retryConstraint). */
export function refusedResponse(reason: StopReason, retryAfterMs?: number): ErrorResponse {
  const detail =
    reason === 'circuit-open'
      ? 'The circuit breaker of the upstream lets no retry through now.'
      : 'The retry budget of the upstream is exhausted.';
  return {
    status: 503,
    title: statusTitle(503),
    detail,
    token: 'http_request_denied',
    fields: retryAfter(retryAfterMs),
  };
}

/** Whole seconds, upwards: nobody shall come back too early. Without a better word, one second. */
function retryAfter(ms = 0): FieldList {
  return ['Retry-After', String(Math.max(1, Math.ceil(ms / 1000)))];
}

/** An answer to a request that was refused before it reached any upstream. */
export function localResponse(status: number, detail: string): ErrorResponse {
  return {
    status,
    title: statusTitle(status),
    detail,
    token: status < 500 ? 'http_request_error' : 'proxy_internal_error',
    fields: [],
  };
}

/** The answer to a request that this proxy sent to itself (RFC 5842 §7.2). */
export function loopResponse(): ErrorResponse {
  return {
    ...localResponse(508, 'This gateway was asked to forward the request to itself.'),
    token: 'proxy_loop_detected',
  };
}

/** What an answer made here says about the attempts before it. */
export interface AnswerStory {
  readonly reason?: StopReason | undefined;
  readonly attempts: number;
}

/** Body (RFC 9457) and fields of an answer made here. */
export function renderErrorResponse(
  response: ErrorResponse,
  story: AnswerStory,
): { readonly fields: FieldList; readonly body: Buffer } {
  const body = Buffer.from(
    `${JSON.stringify({
      type: 'about:blank',
      title: response.title,
      status: response.status,
      detail: response.detail,
      ...(story.reason === undefined ? {} : { reason: story.reason }),
      attempts: story.attempts,
    })}\n`,
  );
  const fields: FieldList = ['Content-Type', 'application/problem+json', 'Cache-Control', 'private, no-store'];
  if (response.token !== undefined) fields.push('Proxy-Status', `${HOP_NAME}; error=${response.token}`);
  if (response.status === 405) fields.push('Allow', ALLOWED_METHODS);
  fields.push(...response.fields);
  return { fields, body };
}

function failureStatus(failure: Failure): number {
  if (failure.source === 'downstream') return DOWNSTREAM_STATUS[failure.kind] ?? 400;
  const status = UPSTREAM_STATUS[failure.kind];
  if (status !== undefined) return status;
  return failure.source === 'internal' ? 500 : 502;
}

/** Kinds that are not the default of their source (upstream 502, internal 500). RFC 9209 §2.3 recommends the same. */
const UPSTREAM_STATUS: Partial<Record<FailureKind, number>> = {
  dns_timeout: 504,
  connection_timeout: 504,
  connection_read_timeout: 504,
  connection_write_timeout: 504,
  http_response_timeout: 504,
  deadline_exceeded: 504,
  destination_unavailable: 503,
  connection_limit_reached: 503,
  circuit_open: 503,
  local_resource_exhausted: 503,
  overloaded: 503,
  http_request_denied: 403,
  proxy_loop_detected: 508,
};

const DOWNSTREAM_STATUS: Partial<Record<FailureKind, number>> = {
  downstream_timeout: 408,
  http_request_error: 400,
};

/** What our own kinds are called in RFC 9209 words. */
const NEAREST_TOKEN: Record<string, ProxyErrorKind> = {
  request_rejected: 'http_request_denied',
  overloaded: 'http_request_denied',
  http_1_1_required: 'http_protocol_error',
  local_resource_exhausted: 'proxy_internal_error',
  circuit_open: 'http_request_denied',
  deadline_exceeded: 'http_response_timeout',
  downstream_closed: 'http_request_error',
  downstream_timeout: 'http_request_error',
  downstream_protocol_error: 'http_request_error',
  hook_error: 'proxy_internal_error',
};

function proxyErrorToken(kind: FailureKind): ProxyErrorKind {
  return NEAREST_TOKEN[kind] ?? (kind as ProxyErrorKind);
}

function retryNote(reason: StopReason | undefined): string {
  const note = reason === undefined ? undefined : RETRY_NOTES[reason];
  return note === undefined ? '' : ` ${note}`;
}

const RETRY_NOTES: Partial<Record<StopReason, string>> = {
  'not-idempotent': 'It may have been processed, so it was not sent again; an Idempotency-Key would have allowed that.',
  'body-not-replayable': 'It was not sent again because its body is larger than what is kept for replay.',
  'attempts-exhausted': 'Every allowed attempt was used.',
  'budget-exhausted': 'It was not sent again because the retry budget is exhausted.',
  'retry-of-retry': 'It was not sent again because it is itself a retry.',
};

const DETAILS: Partial<Record<FailureKind, string>> = {
  dns_timeout: 'The name of the upstream could not be resolved in time.',
  dns_error: 'The name of the upstream could not be resolved.',
  destination_unavailable: 'No endpoint of the upstream can be used.',
  destination_ip_unroutable: 'The upstream cannot be reached.',
  connection_refused: 'The upstream refused the connection.',
  connection_terminated: 'The upstream closed the connection before it answered.',
  connection_timeout: 'No connection to the upstream could be opened in time.',
  connection_read_timeout: 'The upstream stopped sending.',
  connection_write_timeout: 'The upstream stopped reading the request.',
  connection_limit_reached: 'All connections to the upstream are busy.',
  tls_certificate_error: 'The certificate of the upstream is not valid.',
  tls_protocol_error: 'The TLS handshake with the upstream failed.',
  http_response_incomplete: 'The upstream closed the connection within its answer.',
  http_response_header_section_size: 'The response head of the upstream is larger than the configured limit.',
  http_response_timeout: 'The upstream did not answer in time.',
  http_protocol_error: 'The upstream sent something that is not a valid HTTP response.',
  deadline_exceeded: 'The time allowed for this request is over.',
  circuit_open: 'The circuit breaker of the upstream lets nothing more through now.',
  local_resource_exhausted: 'This gateway has no file descriptors or ports left.',
  hook_error: 'A filter of this gateway failed.',
  downstream_timeout: 'The request did not arrive in time.',
};
