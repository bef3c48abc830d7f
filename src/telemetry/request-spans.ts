import type { Attributes } from '@opentelemetry/api';
import type { TracedAttempt, TracedRecord } from './traced-request.ts';

/** The part of a span that the record decides. The names are OpenTelemetry's for HTTP; those of ours begin with `mulligan.`. */
export interface SpanWords {
  readonly name: string;
  readonly attributes: Attributes;
  /** What went wrong; undefined for a span that is no error. */
  readonly error: string | undefined;
}

const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'QUERY',
  'TRACE',
]);

/** What the client got. 4xx is the client's error, not this span's. */
export function requestWords(record: TracedRecord, encrypted: boolean, failure: string | undefined): SpanWords {
  const { method, route, status, flags, truncated } = record;
  const left = flags.includes('DC');
  const failed = !left && (truncated || status >= 500);
  const errorType = left ? 'downstream_closed' : failed ? (failure ?? thrownOr(record, String(status))) : undefined;
  const known = KNOWN_METHODS.has(method);
  return {
    // A method that nobody knows is a client's invention: as a name it would make a new one with every request.
    name: [known ? method : 'HTTP', ...(route === undefined ? [] : [route])].join(' '),
    attributes: {
      ...methodAttributes(method),
      'url.scheme': encrypted ? 'https' : 'http',
      'url.path': record.path,
      ...addressAttributes(record.host),
      'network.protocol.version': record.protocol,
      // 499 stands in the record for "left before an answer": no status was sent.
      'http.response.status_code': left && !truncated ? undefined : status,
      'error.type': errorType,
      'mulligan.route': route,
      'mulligan.upstream': record.upstream,
      'mulligan.flags': flags.length === 0 ? undefined : [...flags],
      'mulligan.retry_count': record.retryAttempts,
      'mulligan.wait_ms': record.retryBackoff,
      'mulligan.stop_reason': record.reason,
      'mulligan.lineage': (record.lineage ?? 0) > 0 ? record.lineage : undefined,
      'mulligan.claim_in': record.claimIn,
      'mulligan.claim_out': record.claimOut,
      'mulligan.truncated': truncated ? true : undefined,
    },
    error: failed ? (record.error ?? '') : undefined,
  };
}

/**
 * What one attempt did.
 * @param failure What broke the response after its head went to the client; the record of the attempt has only its status.
 */
export function attemptWords(
  record: TracedRecord,
  index: number,
  path: string,
  failure: string | undefined,
): SpanWords {
  const attempt = record.attempts[index]!;
  const { status, endpoint } = attempt;
  const isLast = index === record.attempts.length - 1;
  const errorType = attemptError(attempt, record.truncated && isDelivered(record, attempt) ? failure : undefined);
  return {
    name: KNOWN_METHODS.has(record.method) ? record.method : 'HTTP',
    attributes: {
      ...methodAttributes(record.method),
      // Absent on the first send, as OpenTelemetry wants it.
      'http.request.resend_count': index === 0 ? undefined : index,
      'url.full': `${attempt.encrypted === true ? 'https' : 'http'}://${endpoint}${path === '*' ? '' : path}`,
      'url.path': path,
      ...addressAttributes(endpoint),
      'network.protocol.version': attempt.protocol,
      'http.response.status_code': status,
      'error.type': errorType,
      'mulligan.upstream': attempt.upstream,
      'mulligan.connection_reused': attempt.reused,
      'mulligan.safety_class': attempt.class,
      'mulligan.wait_ms': attempt.waitMs > 0 ? attempt.waitMs : undefined,
      'mulligan.free': attempt.free ? true : undefined,
      'mulligan.hedge': attempt.hedge,
      'mulligan.superseded': attempt.superseded,
      'mulligan.stop_reason': isLast ? record.reason : undefined,
      'mulligan.claim_in': attempt.claim,
      'mulligan.claim_refused': attempt.claimRefused,
      'mulligan.retried_despite': attempt.retriedDespite,
    },
    error: errorType === undefined ? undefined : (attempt.detail ?? ''),
  };
}

/** Of several that were answered, the last one's response is delivered: the ones before were retried. */
function isDelivered({ attempts }: TracedRecord, attempt: TracedAttempt): boolean {
  return attempts.findLast(({ status }) => status !== undefined) === attempt;
}

/** For the sender, 4xx is an error too. An attempt without any outcome was given up: its client left, say. */
function attemptError({ status, failure, superseded }: TracedAttempt, broke: string | undefined): string | undefined {
  if (broke !== undefined) return broke;
  if (failure !== undefined) return failure;
  if (status === undefined) return superseded === true ? undefined : 'cancelled';
  return status >= 400 ? String(status) : undefined;
}

function thrownOr({ error }: TracedRecord, otherwise: string): string {
  return error === undefined ? otherwise : 'hook_error';
}

function methodAttributes(method: string): Attributes {
  return KNOWN_METHODS.has(method)
    ? { 'http.request.method': method }
    : { 'http.request.method': '_OTHER', 'http.request.method_original': method };
}

/** @param authority `host`, `host:port` or `[::1]:port`. */
function addressAttributes(authority: string): Attributes {
  const match = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(authority);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined || host === '') return {};
  const port = match?.[3];
  return { 'server.address': host, 'server.port': port === undefined ? undefined : Number(port) };
}
