import { Dispatcher1Wrapper, errors } from 'undici';
import type { Dispatcher } from 'undici';

/** A handler with the methods of undici 7.1 and later, which every request is answered through. */
export type RequestHandler = Dispatcher.DispatchHandler & Required<Pick<Dispatcher.DispatchHandler, 'onResponseError'>>;

/** undici's own bridge from the older handlers, which its type does not tell of. */
const { wrapHandler } = Dispatcher1Wrapper as unknown as { wrapHandler(handler: object): RequestHandler };

/**
 * Takes a handler of either shape: `onRequestStart` and its kin, or `onConnect`, `onHeaders`, `onData`, `onComplete`,
 * `onError` of undici 6 and of the fetch that Node brings.
 * @throws InvalidArgumentError for any other: a request whose answer nobody gets would hang for ever
 */
export function readHandler(handler: unknown, isUpgrade: boolean): RequestHandler {
  if (typeof handler !== 'object' || handler === null) throw invalid('handler must be an object');
  if ('onRequestStart' in handler) return requireMethods(handler, isUpgrade ? UPGRADE_METHODS : METHODS);
  if ('onConnect' in handler)
    return wrapHandler(requireMethods(handler, isUpgrade ? OLD_UPGRADE_METHODS : OLD_METHODS));
  throw invalid('handler is of an unknown shape: it has neither onRequestStart nor onConnect');
}

const METHODS = ['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseEnd', 'onResponseError'] as const;
const UPGRADE_METHODS = ['onRequestStart', 'onRequestUpgrade', 'onResponseError'] as const;
const OLD_METHODS = ['onConnect', 'onHeaders', 'onData', 'onComplete', 'onError'] as const;
const OLD_UPGRADE_METHODS = ['onConnect', 'onUpgrade', 'onError'] as const;

function requireMethods(handler: object, names: readonly string[]): RequestHandler {
  for (const name of names) {
    if (typeof (handler as Record<string, unknown>)[name] !== 'function') throw invalid(`invalid ${name} method`);
  }
  return handler as RequestHandler;
}

function invalid(message: string): Error {
  return new errors.InvalidArgumentError(message);
}
