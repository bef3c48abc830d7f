/**
 * What went wrong, as data. A failure never says whether it may be retried: that is computed from it
 * (see `safety.ts`), so there is no undecided flag that could be read too early.
 */

/** RFC 9209 §2.3 proxy error types, the ones a hop of ours can meet. */
export type ProxyErrorKind =
  | 'dns_timeout'
  | 'dns_error'
  | 'destination_not_found'
  | 'destination_unavailable'
  | 'destination_ip_prohibited'
  | 'destination_ip_unroutable'
  | 'connection_refused'
  | 'connection_terminated'
  | 'connection_timeout'
  | 'connection_read_timeout'
  | 'connection_write_timeout'
  | 'connection_limit_reached'
  | 'tls_protocol_error'
  | 'tls_certificate_error'
  | 'tls_alert_received'
  | 'http_request_error'
  | 'http_request_denied'
  | 'http_response_incomplete'
  | 'http_response_header_section_size'
  | 'http_response_transfer_coding'
  | 'http_response_timeout'
  | 'http_upgrade_failed'
  | 'http_protocol_error'
  | 'proxy_internal_error'
  | 'proxy_configuration_error'
  | 'proxy_loop_detected';

/**
 * Kinds RFC 9209 has no token for. In a `Proxy-Status` field they are printed as the nearest RFC token.
 * - `request_rejected`: the peer proved it did not process the request (REFUSED_STREAM, GOAWAY).
 * - `overloaded`: ENHANCE_YOUR_CALM.
 * - `http_1_1_required`: the peer wants HTTP/1.1 for this request.
 * - `local_resource_exhausted`: EMFILE, EADDRNOTAVAIL and the like: ours, never the upstream's.
 * - `circuit_open`: no permit, or the breaker is open.
 * - `deadline_exceeded`: the overall deadline of the request passed.
 * - `downstream_closed`, `downstream_timeout`, `downstream_protocol_error`: the client's side.
 * - `hook_error`: user code in a hook threw.
 */
export type OwnErrorKind =
  | 'request_rejected'
  | 'overloaded'
  | 'http_1_1_required'
  | 'local_resource_exhausted'
  | 'circuit_open'
  | 'deadline_exceeded'
  | 'downstream_closed'
  | 'downstream_timeout'
  | 'downstream_protocol_error'
  | 'hook_error';

export type FailureKind = ProxyErrorKind | OwnErrorKind;

/** Whose fault it is. */
export type FailureSource = 'upstream' | 'downstream' | 'internal';

/** How far the attempt had come. */
export type FailurePhase = 'select' | 'connect' | 'tls' | 'send' | 'wait' | 'head' | 'body';

/** The reason below a failure: another failure, or whatever a library threw, reduced to what can be printed. */
export interface FailureCause {
  /** A short machine-readable name: an errno (`ECONNREFUSED`), an error class, or a failure kind. */
  readonly code: string;
  readonly message: string;
  /** Whose fault the reason is, where that is known. */
  readonly source?: FailureSource | undefined;
  readonly cause?: FailureCause | undefined;
}

export interface Failure {
  readonly kind: FailureKind;
  readonly source: FailureSource;
  readonly phase: FailurePhase;
  /** Whether the attempt ran on a connection that had carried a request before. */
  readonly reused: boolean;
  /** Bytes of this request handed to the operating system; 0 proves that nothing was sent. */
  readonly bytesSent: number;
  /** Bytes of the response that arrived (1xx responses included). */
  readonly bytesReceived: number;
  /** The peer proved that it did not process the request, whatever else it complained of (a GOAWAY below its stream). */
  readonly unprocessed?: boolean | undefined;
  readonly cause?: FailureCause | undefined;
  /** What was being done, in words: `connect to 127.0.0.1:9001`. */
  readonly context?: string | undefined;
}
