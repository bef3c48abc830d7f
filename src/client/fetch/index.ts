export { attemptsOf } from '../attempts.ts';
export { firstOf } from '../classifier.ts';
export { isRequestFailedError, RequestFailedError } from '../errors.ts';
export { createPolicy } from '../execute.ts';
export { createBudget } from '../options.ts';
export { wrapFetch } from '../wrap-fetch.ts';

export type { RequestReport } from '../attempts.ts';
export type { AttemptEnd, Classifier } from '../classifier.ts';
export type { ErrorMeaning, ExecuteOptions, Execution, Policy, PolicyOptions } from '../execute.ts';
export type { LayerOptions } from '../layer-options.ts';
export type { RetryOptions } from '../options.ts';
export type { Scope } from '../scope.ts';
export type { InnerFetch, WrappedFetch, WrappedInit } from '../wrap-fetch.ts';
