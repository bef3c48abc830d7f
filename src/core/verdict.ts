import type { Failure } from './failure.ts';
import type { Outcome, ResponseFacts } from './outcome.ts';
import { classifyFailure, classifyResponse } from './safety.ts';

/**
 * What an attempt's outcome says about the one it was sent to.
 * - `success`: it did the work.
 * - `failure`: it did not, and that is its own doing.
 * - `alive`: it answered, and the answer says nothing about its health.
 * - `none`: no evidence: the attempt was given up from our side, or never left it.
 */
export type Verdict = 'success' | 'failure' | 'alive' | 'none';

/**
 * What a circuit breaker counts. Only what the upstream itself brought about is a failure: a caller must not be able to
 * open the circuit for everybody by what it sends, or by leaving.
 * A failure that the upstream relays from behind it is not its own; nor are 501 and 505, which speak about the request.
 */
export function circuitVerdict(outcome: Outcome): Verdict {
  return verdictOf(outcome, isServerError);
}

/**
 * What outlier detection counts of one endpoint: an attempt that could not be sent, died or timed out, and the statuses by
 * which a server says that it cannot serve at all (502, 503, 504). A 500 is a fault in the work, and every endpoint
 * would most likely answer the same: ejecting one after the other would only take capacity away.
 */
export function endpointVerdict(outcome: Outcome): Verdict {
  return verdictOf(outcome, isGatewayError);
}

function verdictOf(outcome: Outcome, isFailure: (status: number) => boolean): Verdict {
  if (outcome.type === 'failure') return verdictOfFailure(outcome.failure);
  const { response } = outcome;
  switch (response.ruling) {
    case 'success':
      return 'success';
    case 'retryable':
      return isItsOwn(response) ? 'failure' : 'alive';
    case 'ignore':
      return 'none';
    case undefined:
  }
  if (response.status < 400) return 'success';
  return isFailure(response.status) && isItsOwn(response) ? 'failure' : 'alive';
}

function isServerError(status: number): boolean {
  return status >= 500 && status !== 501 && status !== 505;
}

function isGatewayError(status: number): boolean {
  return status === 502 || status === 503 || status === 504;
}

/** Neither handed on from behind it, nor a refusal that proves how well it is. */
function isItsOwn(response: ResponseFacts): boolean {
  return response.claim !== 'relayed' && classifyResponse(response) !== 'rejected';
}

function verdictOfFailure(failure: Failure): Verdict {
  // Our own shortage (no file descriptor, no free connection) and the client's faults.
  if (failure.source !== 'upstream') return 'none';
  // It said that it can take no more, whether or not it proved that it did nothing.
  if (failure.kind === 'overloaded') return 'failure';
  switch (classifyFailure(failure)) {
    case 'stale':
      // A race with a connection that was being closed: a healthy server does that all the time.
      return 'none';
    case 'rejected':
      return 'alive';
    case 'unsent':
    case 'ambiguous':
    case 'answered':
      // A head too large is cheap to provoke: many servers echo what they are sent.
      return failure.kind === 'http_response_header_section_size' ? 'alive' : 'failure';
  }
}
