import type { Failure } from './failure.ts';
import type { Outcome, ResponseFacts } from './outcome.ts';
import type { RetryTrigger } from './retry-policy.ts';
import { classifyFailure, classifyResponse } from './safety.ts';

/**
 * What an attempt's outcome means for whoever asked. `client` and `cancelled` never concern ownership: repeating
 * them cannot help, and nobody on the way up should try.
 */
export type OutcomeClass =
  | 'ok'
  | 'client'
  | 'throttled'
  | 'server'
  | 'timeout'
  | 'unsent'
  | 'ambiguous'
  | 'cancelled'
  | 'short-circuited'
  | 'committed';

export function classifyOutcome(outcome: Outcome): OutcomeClass {
  return outcome.type === 'response'
    ? outcomeClassOfResponse(outcome.response)
    : outcomeClassOfFailure(outcome.failure);
}

/** Whether a response is the end of its request, and a good one: by what was said of it, else by its status. */
export function isSuccess(response: ResponseFacts): boolean {
  const { ruling, status } = response;
  if (ruling === 'success') return classifyResponse(response) !== 'rejected';
  return status < 400 && ruling !== 'retryable';
}

export function outcomeClassOfResponse(response: ResponseFacts): OutcomeClass {
  const { status } = response;
  if (status < 400) return 'ok';
  if (classifyResponse(response) === 'rejected') return 'unsent';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 429) return 'throttled';
  return status < 500 ? 'client' : 'server';
}

export function outcomeClassOfFailure(failure: Failure): OutcomeClass {
  if (failure.source === 'downstream') return 'cancelled';
  if (failure.kind === 'circuit_open') return 'short-circuited';
  if (failure.kind === 'deadline_exceeded') return 'timeout';
  switch (classifyFailure(failure)) {
    case 'unsent':
    case 'rejected':
      return 'unsent';
    case 'answered':
      return 'committed';
    case 'stale':
    case 'ambiguous':
      return isTimeout(failure) ? 'timeout' : 'ambiguous';
  }
}

/**
 * The name by which a policy must list a failure for it to be retried; `undefined` when no policy can name it.
 *
 * Never retryable, whatever the policy says, because the next attempt would end the same way, or because an attacker
 * could force it cheaply: an oversize response head, an unknown or ambiguous transfer coding, an invalid head after a
 * valid status line, a request the peer's protocol layer refuses, faults of our own configuration or hooks, everything
 * the client caused, and whatever died after a complete head. Half a head, a connection that died, and garbage in
 * place of a status line are `reset`.
 */
export function triggerOf(failure: Failure): RetryTrigger | undefined {
  if (failure.source === 'downstream' || NEVER_RETRIED.has(failure.kind)) return undefined;
  switch (classifyFailure(failure)) {
    case 'answered':
      return undefined;
    case 'unsent':
      return 'unsent';
    case 'rejected':
      return 'rejected';
    case 'stale':
      return 'stale';
    case 'ambiguous':
      break;
  }
  if (isTimeout(failure)) return 'timeout';
  // The peer refused in so many words, but without proof that it did nothing: named like a rejection, safe like a reset.
  if (isRefusalWithoutProof(failure)) return 'rejected';
  if (failure.kind === 'http_protocol_error' && failure.phase === 'head') return undefined;
  return 'reset';
}

/** ENHANCE_YOUR_CALM and HTTP_1_1_REQUIRED: RFC 9113 §7 promises nothing about processing for either. */
export function isRefusalWithoutProof(failure: Failure): boolean {
  return failure.kind === 'overloaded' || failure.kind === 'http_1_1_required';
}

/** Another endpoint may present another certificate, or be allowed by the firewall; the same one will not. */
export function needsOtherEndpoint(failure: Failure): boolean {
  return failure.kind === 'tls_certificate_error' || failure.kind === 'destination_ip_prohibited';
}

function isTimeout(failure: Failure): boolean {
  return (
    failure.kind === 'http_response_timeout' ||
    failure.kind === 'connection_read_timeout' ||
    failure.kind === 'connection_write_timeout'
  );
}

const NEVER_RETRIED: ReadonlySet<Failure['kind']> = new Set<Failure['kind']>([
  'http_response_header_section_size',
  'http_response_transfer_coding',
  'http_upgrade_failed',
  'http_request_error',
  'http_request_denied',
  'proxy_internal_error',
  'proxy_configuration_error',
  'proxy_loop_detected',
  'deadline_exceeded',
  'downstream_closed',
  'downstream_timeout',
  'downstream_protocol_error',
  'hook_error',
]);
