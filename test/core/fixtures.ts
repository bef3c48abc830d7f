import type { Failure } from '../../src/core/failure.ts';
import type { Outcome, ResponseFacts } from '../../src/core/outcome.ts';
import type { Circumstances, RequestFacts } from '../../src/core/request.ts';
import { decide, type DecisionInput } from '../../src/core/decide.ts';
import type { Decision } from '../../src/core/decision.ts';
import { createRetryPolicy, type RetryPolicyOptions } from '../../src/core/retry-policy.ts';

/** A connection that died after the request was sent, before any byte of the answer. */
export function failure(changes: Partial<Failure> = {}): Failure {
  return {
    kind: 'connection_terminated',
    source: 'upstream',
    phase: 'wait',
    reused: false,
    bytesSent: 100,
    bytesReceived: 0,
    ...changes,
  };
}

export const REFUSED: Failure = failure({ kind: 'connection_refused', phase: 'connect', bytesSent: 0 });
export const REJECTED: Failure = failure({ kind: 'request_rejected' });
export const STALE: Failure = failure({ reused: true });
export const RESET: Failure = failure();
export const TIMED_OUT: Failure = failure({ kind: 'http_response_timeout' });

export function failed(changes: Partial<Failure> = {}): Outcome {
  return { type: 'failure', failure: failure(changes) };
}

export function responded(status: number, changes: Partial<ResponseFacts> = {}): Outcome {
  return { type: 'response', response: { status, ...changes } };
}

/** Nothing is in the way of a retry, but there is no other endpoint. */
export const CLEAR: Circumstances = {
  bodyReplayable: true,
  committed: false,
  downstreamGone: false,
  endpointAvailable: true,
  otherEndpointAvailable: false,
  permitAvailable: true,
};

export const GET: RequestFacts = { method: 'GET', keyed: false, lineage: 0, deadlineAtMs: Infinity };
export const POST: RequestFacts = { ...GET, method: 'POST' };

/** Names everything a policy can name, waits 100 ms sharp before each of 3 retries. */
export const EAGER: RetryPolicyOptions = {
  maxRetries: 3,
  codes: [500, 502, 503, 504],
  on: ['unsent', 'rejected', 'stale', 'reset', 'timeout'],
  curve: 'fixed',
  backoffMs: 100,
  jitter: 'none',
};

export interface Changes extends Partial<Omit<DecisionInput, 'outcome' | 'policy' | 'at' | 'request'>> {
  readonly policy?: RetryPolicyOptions;
  readonly at?: Partial<Circumstances>;
  readonly request?: Partial<RequestFacts>;
}

/** Decides a GET under the eager policy in clear circumstances, but for `changes`. */
export function decideOn(outcome: Outcome, changes: Changes = {}): Decision {
  const { policy, at, request, ...rest } = changes;
  return decide({
    outcome,
    request: { ...GET, ...request },
    policy: createRetryPolicy({ ...EAGER, ...policy }),
    at: { ...CLEAR, ...at },
    countedRetryCount: 0,
    freeResendUsed: false,
    previousDelayMs: 0,
    budgetAvailable: true,
    coverAnyway: false,
    nowMs: 0,
    random: 0,
    ...rest,
  });
}

/** `'retry'`, or the reason to stop with a `+` when the opportunity was handled. */
export function verdict(decision: Decision): string {
  if (decision.type === 'retry') return 'retry';
  return decision.handled ? `${decision.reason}+` : decision.reason;
}
