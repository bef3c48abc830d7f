import { readRequestAttempt } from '../engine/request-attempt.ts';
import { hasField } from '../http1/field-list.ts';
import { createCallTransport } from './call/call-transport.ts';
import { createPortableClock } from './call/portable-clock.ts';
import type { CallPlan } from './call/run-call.ts';
import { runCall } from './call/run-call.ts';
import { FetchCall } from './fetch/fetch-call.ts';
import { readFetchBody } from './fetch/fetch-body.ts';
import type { FetchBody } from './fetch/fetch-body.ts';
import { keyField } from './call/idempotency-key.ts';
import type { Layer, LayerHost, LayerOptions } from './layer-options.ts';
import { createLayer } from './layer-options.ts';

/** What a `fetch` is called with here: the platform's, and besides a body that is made anew for each attempt. */
export interface WrappedInit extends Omit<RequestInit, 'body'> {
  /** A function is called once for each attempt, so that a stream can be sent again. */
  readonly body?: RequestInit['body'] | AsyncIterable<Uint8Array | string> | (() => RequestInit['body']);
}

export type InnerFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
export type WrappedFetch = (input: string | URL | Request, init?: WrappedInit) => Promise<Response>;

/**
 * A `fetch` that runs over another one: Node's, Bun's, Deno's, a browser's, a worker's. Each attempt is one call of it.
 * What it answers is what comes back, untouched; what it throws is thrown again, untouched; `attemptsOf` tells of either
 * what happened before.
 *
 * Redirects are its affair. While it follows them, no error can prove that nothing was sent (an earlier hop may have done
 * the work), so a POST is repeated after a refused connection only with `redirect: 'manual'` or `'error'`, or with a key.
 * @throws RangeError or TypeError for an option that cannot be, naming it
 */
export function wrapFetch(inner: InnerFetch, options: LayerOptions = {}): WrappedFetch {
  if (typeof inner !== 'function') throw new TypeError('wrapFetch: give the fetch to wrap');
  const clock = createPortableClock();
  return wrapFetchAt(inner, options, { clock, random: Math.random, transport: createCallTransport(clock) });
}

/** The same in a time of the caller's choice. */
export function wrapFetchAt(inner: InnerFetch, options: LayerOptions, host: LayerHost): WrappedFetch {
  const layer = createLayer('wrapFetch', options, host);
  return async (input, init = {}) => {
    const signal = init.signal === undefined ? signalOf(input) : init.signal;
    // Before the body is touched: a request that will not be sent stays usable.
    signal?.throwIfAborted();
    const body = await readFetchBody(input, init, layer);
    try {
      const response = await runCall(planOf(inner, input, init, layer, body, signal));
      body.capture?.release(false);
      return response;
    } catch (error) {
      body.capture?.release(true);
      throw error;
    }
  };
}

function planOf(
  inner: InnerFetch,
  input: string | URL | Request,
  init: WrappedInit,
  layer: Layer,
  body: FetchBody,
  signal: AbortSignal | null | undefined,
): CallPlan<Response> {
  const isRequest = typeof input === 'object' && 'url' in input;
  const url = new URL(isRequest ? input.url : input, base());
  const method = normalMethod(init.method ?? (isRequest ? input.method : 'GET'));
  const given = init.headers ?? (isRequest ? input.headers : undefined);
  const fields = given === undefined ? [] : [...new Headers(given)].flat();
  const keyed = hasField(fields, 'idempotency-key');
  const key = keyed ? [] : keyField(layer.idempotencyKey, method);
  const redirect = init.redirect ?? (isRequest ? input.redirect : undefined) ?? 'follow';
  const call = new FetchCall({ inner, input, init, url, fields: [...fields, ...key], key, body, signal, redirect });
  return {
    call,
    layer,
    method,
    url,
    keyed: keyed || key.length > 0,
    lineage: readRequestAttempt(fields)?.lineage,
    body: body.capture,
    signal,
  };
}

function signalOf(input: string | URL | Request): AbortSignal | undefined {
  return typeof input === 'object' && 'signal' in input ? input.signal : undefined;
}

/** Only these names are put in capitals by fetch (Fetch §2.2.1); `patch` stays what it is. */
function normalMethod(method: string): string {
  const upper = method.toUpperCase();
  return NORMALIZED.has(upper) ? upper : method;
}

const NORMALIZED: ReadonlySet<string> = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT']);

/** A browser resolves addresses against its page. */
function base(): string | undefined {
  return (globalThis as { location?: { href?: string } }).location?.href;
}
