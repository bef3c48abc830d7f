import { describeFailure } from './failure-chain.ts';
import type { Failure } from './failure.ts';

/**
 * A failure on its way as an exception, for user code that can only throw: `throw new FailureError(explain(…))`. A hook of
 * the proxy that throws one gets the answer of that failure, not a 500. Its message is the whole chain in one line.
 */
export class FailureError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(describeFailure(failure));
    this.name = 'FailureError';
    this.failure = failure;
  }
}
