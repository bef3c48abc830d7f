import type { Failure } from './failure.ts';
import type { Outcome, ResponseFacts } from './outcome.ts';
import type { RequestFacts } from './request.ts';

/**
 * How sure it is that a repeat cannot do the work twice.
 * - `unsent`: no byte of this request left us. Any method may be sent again.
 * - `rejected`: the peer proved that it did not process the request. Any method, on a new connection.
 * - `stale`: a reused connection was closed or reset before any answer. Idempotent or keyed only.
 * - `ambiguous`: bytes were sent and nobody can tell what became of them. Idempotent or keyed only.
 * - `answered`: a complete response head arrived. Idempotent or keyed only.
 */
export type SafetyClass = 'unsent' | 'rejected' | 'stale' | 'ambiguous' | 'answered';

/** RFC 9110 §9.2.2, and QUERY, which its specification defines as safe. */
const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE', 'QUERY']);

/** Whether doing it twice is the same as doing it once. Method names are case-sensitive (RFC 9110 §9.1): `get` is unknown, so it is not. */
export function isIdempotent(method: string): boolean {
  return IDEMPOTENT_METHODS.has(method);
}

/** Whether a failure of this class allows a repeat of a request that is neither idempotent nor keyed. */
export function isSafeForAnyMethod(safety: SafetyClass): boolean {
  return safety === 'unsent' || safety === 'rejected';
}

/** Whether the request may be done twice: by its sender's word, else by its key or its method. */
export function isRepeatable({ repeatable, keyed, method }: RequestFacts): boolean {
  return repeatable ?? (keyed || isIdempotent(method));
}

/** Whether a repeat of this request after an outcome of this class could do its work a second time, with an effect. */
export function mightRunTwice(safety: SafetyClass, request: RequestFacts): boolean {
  return !isSafeForAnyMethod(safety) && !isRepeatable(request);
}

/** The safety class of an attempt that died, read from the evidence alone: never from the kind of error a library reported. */
export function classifyFailure(failure: Failure): SafetyClass {
  switch (failure.phase) {
    case 'select':
    case 'connect':
    case 'tls':
      return 'unsent';
    case 'body':
      // The head was complete: the origin has answered, however badly it ended.
      return 'answered';
    case 'send':
    case 'wait':
    case 'head':
      break;
  }
  if (failure.kind === 'request_rejected' || failure.unprocessed === true) return 'rejected';
  // Anything but exactly zero (a miscounted negative or NaN too) means that bytes may have left.
  if (failure.bytesSent === 0) return 'unsent';
  if (failure.reused && failure.bytesReceived === 0 && isClosedConnection(failure)) return 'stale';
  return 'ambiguous';
}

/** The safety class of an attempt that was answered. 421: RFC 9110 §15.5.20; 425: RFC 8470 §5.2. */
export function classifyResponse(response: ResponseFacts): SafetyClass {
  if (response.nack === true || response.status === 421 || response.status === 425) return 'rejected';
  return 'answered';
}

/** The safety class of whatever became of an attempt. */
export function safetyOf(outcome: Outcome): SafetyClass {
  return outcome.type === 'response' ? classifyResponse(outcome.response) : classifyFailure(outcome.failure);
}

/** A peer that closed or reset; a timeout is not one: the peer may be working. */
function isClosedConnection(failure: Failure): boolean {
  return failure.kind === 'connection_terminated' || failure.kind === 'http_response_incomplete';
}
