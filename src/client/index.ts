export { attemptsOf } from './attempts.ts';
export { firstOf } from './classifier.ts';
export { createDispatcher } from './dispatcher.ts';
export { isRequestFailedError, RequestFailedError } from './errors.ts';
export { fetch } from './fetch.ts';
export { createBudget } from './options.ts';
export { presets } from './presets.ts';

export type { RequestReport } from './attempts.ts';
export type { AttemptEnd, Classifier } from './classifier.ts';
export type { ClientOptions } from './client-options.ts';
export type { RequestEnd } from './client-state.ts';
export type { Fetch, FetchOptions } from './fetch.ts';
export type { CallOptions, HedgeOptions, RetryOptions, TimeoutOptions } from './options.ts';
export type { Scope } from './scope.ts';
export type { TlsSettings } from '../transport/tls-connect.ts';
