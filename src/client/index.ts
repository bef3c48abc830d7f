export { attemptsOf } from './attempts.ts';
export { firstOf } from './classifier.ts';
export { isRequestFailedError, RequestFailedError } from './errors.ts';
export { createBudget } from './options.ts';

export type { RequestReport } from './attempts.ts';
export type { AttemptEnd, Classifier } from './classifier.ts';
export type { CallOptions, HedgeOptions, RetryOptions, TimeoutOptions } from './options.ts';
export type { Scope } from './scope.ts';
