import { fetch as undiciFetch, Request } from 'undici';
import type { Dispatcher, RequestInfo, RequestInit, Response } from 'undici';
import { rememberReport } from './attempts.ts';
import { bodiesOf } from './call/body-maker.ts';
import { CallReport } from './call-report.ts';
import { CLIENT_ONLY_NAMES } from './client-options.ts';
import { ClientDispatcher, createDispatcher } from './dispatcher.ts';
import { isRequestFailedError } from './errors.ts';
import { isFormData, ownFormData } from './form-data.ts';
import { MisdirectedGuard } from './misdirected.ts';
import type { CallOptions } from './options.ts';

/** What `fetch` takes, and what holds for this call. */
export interface FetchOptions extends Omit<RequestInit, 'body' | 'dispatcher'>, CallOptions {
  /** As fetch's own, the FormData that Node brings included; or a function that gives the body anew for each attempt. */
  readonly body?: unknown;
  /** One that `createDispatcher` made. Default: one for all calls that name none. */
  readonly dispatcher?: Dispatcher | undefined;
}

export type Fetch = (input: RequestInfo | globalThis.Request, options?: FetchOptions) => Promise<Response>;

let shared: Dispatcher | undefined;

/**
 * undici's WHATWG fetch, with each request retried, failed over and bounded as the options say. `attemptsOf` tells what
 * was done for a response.
 *
 * The promise is rejected with a `RequestFailedError` when no response came, where fetch itself gives a `TypeError` that
 * has it as its cause, and with the reason of the signal when the call was aborted.
 * @throws RangeError or TypeError for an option that cannot be, naming it
 */
export const fetch: Fetch = async (input, options = {}) => {
  const { retry, timeout, budget, hedge, idempotencyKey, endpoints, dispatcher, body: given, ...init } = options;
  const owner = dispatcher ?? (shared ??= createDispatcher());
  if (!(owner instanceof ClientDispatcher))
    throw new TypeError('dispatcher: give one that createDispatcher made; the fetch of undici takes any');
  for (const name of Object.keys(init)) {
    if (CLIENT_ONLY_NAMES.has(name))
      throw new TypeError(`${name}: give it to createDispatcher; for one call it cannot be set`);
  }
  const report = new CallReport();
  const call = owner.client.call({ retry, timeout, budget, hedge, idempotencyKey, endpoints }, (hop) =>
    report.add(hop),
  );
  const isFactory = typeof given === 'function';
  // Of all hops, and not of each: the one before has read what this one would be given.
  const body = isFactory ? bodiesOf(given as () => unknown) : given;
  const guard = new MisdirectedGuard();
  const dispatch: Dispatcher.Dispatch = (request, handler) => {
    const own = isFactory && request.body ? { ...request, body, headers: withoutStandIn(request.headers) } : request;
    return guard.dispatch(own, handler, (listener) => owner.dispatchCall(own, listener, call));
  };
  const undiciInit: RequestInit = { ...init, dispatcher: { dispatch } as Dispatcher };
  if (body !== undefined)
    Object.assign(undiciInit, isFactory ? STAND_IN : { body: isFormData(body) ? ownFormData(body) : body });
  try {
    const response = await undiciFetch(ownRequest(input), undiciInit);
    rememberReport(response, report);
    return response;
  } catch (error) {
    throw failureIn(error) ?? error;
  }
};

/**
 * What fetch holds for a body that is read from its maker, attempt by attempt. Bytes, and not a stream: fetch follows a 307
 * or 308 only with what it can send again itself.
 */
const STAND_IN: RequestInit = { body: new Uint8Array(0) };

/** The length of the stand-in is not the body's; one that the caller declared is, and fetch leaves it alone. */
function withoutStandIn(headers: Dispatcher.DispatchOptions['headers']): Record<string, string> {
  const entries = Object.entries((headers ?? {}) as Record<string, string>);
  return Object.fromEntries(
    entries.filter(([name, value]) => value !== '0' || name.toLowerCase() !== 'content-length'),
  );
}

/** A Request that Node brings itself is no Request to the package undici: it would take its name for a URL. */
function ownRequest(input: RequestInfo | globalThis.Request): RequestInfo {
  const Foreign = globalThis.Request;
  if (input instanceof Request || Foreign === undefined || !(input instanceof Foreign)) return input as RequestInfo;
  const { url, method, headers, body, redirect, signal, referrer, credentials, mode, keepalive } = input;
  const init = { method, headers: [...headers], redirect, signal, referrer, credentials, mode, keepalive };
  return new Request(url, body === null ? init : { ...init, body, duplex: 'half' });
}

/** fetch wraps what its dispatcher said. */
function failureIn(error: unknown): Error | undefined {
  let link: unknown = error;
  for (let depth = 0; depth < 4 && link instanceof Error; depth += 1) {
    if (isRequestFailedError(link)) return link;
    link = link.cause;
  }
  return undefined;
}
