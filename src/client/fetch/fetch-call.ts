import type { Failure } from '../../core/failure.ts';
import type { FieldList } from '../../http1/message.ts';
import { failureFromError, internalFailure } from '../../transport/failure-from-error.ts';
import { provenPhase } from '../../transport/error-evidence.ts';
import type { Call, CallAttempt, CallOutcome } from '../call/call.ts';
import { UNKNOWN_SITE } from '../call/call-transport.ts';
import type { InnerFetch, WrappedInit } from '../wrap-fetch.ts';
import type { FetchBody } from './fetch-body.ts';
import { discardResponse, keepResponse } from './fetch-response.ts';

export interface FetchCallOptions {
  readonly inner: InnerFetch;
  readonly input: string | URL | Request;
  readonly init: WrappedInit;
  readonly url: URL;
  /** The request's own, and its key. */
  readonly fields: FieldList;
  readonly key: FieldList;
  readonly body: FetchBody;
  readonly signal: AbortSignal | null | undefined;
  readonly redirect: string;
}

/** One request of a wrapped `fetch`; an attempt is one call of it. */
export class FetchCall implements Call<Response> {
  readonly #options: FetchCallOptions;

  constructor(options: FetchCallOptions) {
    this.#options = options;
  }

  async attempt({ fields, signal }: CallAttempt): Promise<CallOutcome<Response>> {
    const { inner, input, init, body } = this.#options;
    const { body: _, ...rest } = init;
    const own = await body.next();
    const replaced =
      own ?? (typeof init.body === 'function' ? undefined : (init.body as RequestInit['body'] | undefined));
    const request: RequestInit & { duplex?: 'half' } = { ...rest, signal: this.#signal(signal) };
    if (replaced !== undefined) request.body = replaced;
    if (isStream(replaced)) request.duplex = 'half';
    const headers = this.#headers(fields);
    if (headers !== undefined) request.headers = headers;
    try {
      const response = await inner(input, request);
      const { status, statusText: reason, headers: received } = response;
      return { type: 'answered', answer: { status, reason, readFields: () => [...received].flat() }, value: response };
    } catch (error) {
      return { type: 'failed', failure: this.#failureOf(error), error };
    }
  }

  keep(response: Response): Promise<Response | undefined> {
    return keepResponse(response);
  }

  discard(response: Response): void {
    discardResponse(response);
  }

  #failureOf(error: unknown): Failure {
    const { redirect, body } = this.#options;
    if (body.capture?.failed === true)
      return internalFailure('http_request_error', 'the request body could not be read', UNKNOWN_SITE, error);
    // An error of a later hop says nothing of the hops before it.
    const phase = redirect === 'follow' ? undefined : provenPhase(error);
    return failureFromError(error, phase === undefined ? UNKNOWN_SITE : { ...UNKNOWN_SITE, phase, bytesSent: 0 });
  }

  /** Undefined: the caller's are right as they are. */
  #headers(fields: FieldList): Headers | undefined {
    const { fields: own, key, url } = this.#options;
    const added = [...key, ...(isSimple(url) ? fields : [])];
    if (added.length === 0) return undefined;
    const headers = new Headers();
    for (const list of [own, isSimple(url) ? fields : []]) {
      for (let i = 0; i + 1 < list.length; i += 2) headers.append(list[i]!, list[i + 1]!);
    }
    return headers;
  }

  /** Lives on in the response's body: whoever aborts while it streams still ends it. */
  #signal(attempt: AbortSignal): AbortSignal {
    const { signal } = this.#options;
    return signal === undefined || signal === null ? attempt : AbortSignal.any([attempt, signal]);
  }
}

/** In a page, a field of ours on a request to another origin would make the browser ask that origin for leave first. */
function isSimple(url: URL): boolean {
  const { origin } = (globalThis as { location?: { origin?: string } }).location ?? {};
  return origin === undefined || origin === url.origin;
}

function isStream(body: unknown): boolean {
  return typeof body === 'object' && body !== null && ('getReader' in body || Symbol.asyncIterator in body);
}
