import type { StopReason } from '../../core/decision.ts';

/** What each stop reason tells a reader of the record, in one line. */
export const stopMeanings: Readonly<Record<StopReason, string>> = {
  success: 'the server gave an answer that needs no retry',
  'not-retryable': 'the policy does not name what happened',
  'not-idempotent': 'doing it twice could do harm: neither idempotent nor keyed',
  'body-not-replayable': 'the body is no longer all there to be sent again',
  committed: 'the client already has a part of the answer',
  'not-owner': 'a server further down has handled the error',
  'advised-never': 'the server said: do not retry',
  'attempts-exhausted': 'as many sends as the policy allows',
  deadline: 'no time left',
  'retry-after-too-long': 'the server asks for a longer wait than retryAfterMax',
  'circuit-open': 'too much in flight already',
  'no-endpoint': 'no server left to try',
  'retry-of-retry': 'it is a retry of a caller already',
  'budget-exhausted': 'more retries would multiply the load on a server in trouble',
  'downstream-gone': 'the client went away',
};
