import { rememberReport, attemptsOf } from '../attempts.ts';
import { createCallTransport } from '../call/call-transport.ts';
import { keyField } from '../call/idempotency-key.ts';
import { runCall } from '../call/run-call.ts';
import { createSystemClock } from '../../transport/system-time.ts';
import type { LayerHost, LayerOptions } from '../layer-options.ts';
import { createLayer } from '../layer-options.ts';
import { readAxiosBody } from './axios-body.ts';
import { AxiosCall } from './axios-call.ts';
import type { AxiosAnswer, AxiosConfig } from './axios-types.ts';

/** An adapter of axios; its own types differ from one version to the next in what is not read here. */
// eslint-disable-next-line typescript/no-explicit-any -- see above
export type AxiosAdapter = (config: any) => Promise<any>;

/**
 * The retry loop as an adapter of axios: `axios.create({ adapter: wrapAxiosAdapter(axios.getAdapter('http')) })`; `fetch`
 * and `xhr` likewise. Interceptors and transforms run once a request; each attempt is one call of the adapter below.
 * `attemptsOf` tells the story of a response, and of the error that axios throws.
 *
 * A POST is repeated after a refused connection only where axios shows that no redirect came before (its http adapter).
 * @throws RangeError or TypeError for an option that cannot be, naming it
 */
export function wrapAxiosAdapter(inner: AxiosAdapter, options: LayerOptions = {}): AxiosAdapter {
  if (typeof inner !== 'function')
    throw new TypeError("wrapAxiosAdapter: give an adapter, such as axios.getAdapter('http')");
  const clock = createSystemClock();
  return wrapAxiosAdapterAt(inner, options, { clock, random: Math.random, transport: createCallTransport(clock) });
}

/** The same in a time of the caller's choice. */
export function wrapAxiosAdapterAt(inner: AxiosAdapter, options: LayerOptions, host: LayerHost): AxiosAdapter {
  const layer = createLayer('wrapAxiosAdapter', options, host);
  return async (config: AxiosConfig): Promise<AxiosAnswer> => {
    const method = (config.method ?? 'get').toUpperCase();
    const hasKey = typeof config.headers.get('idempotency-key') === 'string';
    const key = hasKey ? [] : keyField(layer.idempotencyKey, method);
    const body = readAxiosBody(config.data, layer);
    const cancelling = watchCancelling(config);
    let isAnswered = false;
    try {
      const ending = await runCall({
        call: new AxiosCall(inner, config, body, key),
        layer,
        method,
        url: urlOf(config),
        keyed: hasKey || key.length > 0,
        body: body.state,
        signal: cancelling.signal,
      });
      isAnswered = true;
      const report = attemptsOf(ending);
      if (report !== undefined) {
        rememberReport(ending.answer, report);
        if (ending.type === 'rejected') rememberReport(ending.error as object, report);
      }
      if (ending.type === 'rejected') throw ending.error;
      return ending.answer;
    } finally {
      cancelling.stop();
      body.capture?.release(!isAnswered);
    }
  };
}

/** Aborts when axios is told, in either of its ways, that nobody waits any more. */
function watchCancelling({ signal, cancelToken }: AxiosConfig): {
  readonly signal: AbortSignal | undefined;
  stop(): void;
} {
  const own = signal instanceof AbortSignal ? signal : undefined;
  if (cancelToken === undefined) return { signal: own, stop() {} };
  const aborter = new AbortController();
  const cancelled = (reason: unknown): void => aborter.abort(reason);
  cancelToken.subscribe(cancelled);
  return {
    signal: own === undefined ? aborter.signal : AbortSignal.any([own, aborter.signal]),
    stop: () => cancelToken.unsubscribe(cancelled),
  };
}

/** For scopes, budgets and circuits; axios makes its own. */
function urlOf({ baseURL = '', url = '' }: AxiosConfig): URL {
  const isAbsolute = /^(?:[a-z][\d+.a-z-]*:)?\/\//i.test(url);
  const whole = isAbsolute || baseURL === '' ? url : `${baseURL.replace(/\/+$/, '')}/${url.replace(/^\/+/, '')}`;
  const page = (globalThis as { location?: { href?: string } }).location?.href;
  return URL.canParse(whole, page) ? new URL(whole, page) : new URL('http://axios.invalid');
}
