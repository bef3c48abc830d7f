import axios from 'axios';
import { request } from 'undici';
import { attemptsOf } from '../../src/client/attempts.ts';
import { wrapAxiosAdapter } from '../../src/client/axios/wrap-axios-adapter.ts';
import type { AxiosAdapter } from '../../src/client/axios/wrap-axios-adapter.ts';
import { createDispatcher } from '../../src/client/dispatcher.ts';
import { fetch as ownFetch } from '../../src/client/fetch.ts';
import { retry } from '../../src/client/interceptor/retry.ts';
import type { LayerOptions } from '../../src/client/layer-options.ts';
import { wrapFetch } from '../../src/client/wrap-fetch.ts';
import type { InnerFetch, WrappedInit } from '../../src/client/wrap-fetch.ts';
import type { BodyKindName } from './body-kinds.ts';
import { MAJORS } from './undici-majors.ts';

export interface Sent {
  /** 0 where no response came. */
  readonly status: number;
  readonly attemptCount: number;
  readonly reason: string | undefined;
}

/** A way in which programs send bodies through our loop. */
export interface BodySender {
  readonly takes: readonly BodyKindName[];
  /** Those that it can send again although they are over the cap. */
  readonly repeatsLarge: readonly BodyKindName[];
  /** It reads a stream before there is a connection. */
  readonly readsEarly?: true;
  /** A PUT. With `refusedAt` the first attempt goes to that origin, where nobody listens. */
  send(url: string, body: unknown, refusedAt: string | undefined): Promise<Sent>;
}

export const CAP_BYTES = 16_384;

const OPTIONS: LayerOptions = {
  retry: {
    maxRetries: 1,
    codes: [503],
    on: ['unsent', 'rejected', 'stale', 'reset'],
    backoffMs: 0,
    maxBackoffMs: 0,
  },
  replayBufferBytes: CAP_BYTES,
};

const BYTES: readonly BodyKindName[] = ['text', 'Buffer', 'Uint8Array', 'ArrayBuffer', 'Blob', 'File'];
const STREAMS: readonly BodyKindName[] = ['Readable', 'web stream', 'async generator'];
const MADE: readonly BodyKindName[] = ['function that gives bytes', 'function that gives a stream'];

/** The report of what came back, whether it was an answer or an error. */
async function told(call: Promise<readonly [object, number]>): Promise<Sent> {
  const [result, status] = await call.catch((error: unknown) => [error as object, 0] as const);
  const report = attemptsOf(result) ?? (result as { attempts?: readonly unknown[]; reason?: string });
  return { status, attemptCount: report.attempts?.length ?? -1, reason: report.reason };
}

/** Where each attempt of one request goes. */
function route(url: string, refusedAt: string | undefined): () => string {
  let count = 0;
  return () => {
    count += 1;
    return count === 1 ? (refusedAt ?? url) : url;
  };
}

function onDispatcher(send: (url: string, body: unknown, options: object) => Promise<readonly [object, number]>) {
  return async (url: string, body: unknown, refusedAt: string | undefined): Promise<Sent> => {
    const endpoints = refusedAt === undefined ? undefined : [refusedAt, new URL(url).origin];
    const dispatcher = createDispatcher({ ...OPTIONS, endpoints });
    try {
      return await told(send(refusedAt ?? url, body, { dispatcher }));
    } finally {
      await dispatcher.destroy();
    }
  };
}

export const BODY_SENDERS: Record<string, BodySender> = {
  'undici.request on the dispatcher': {
    takes: [...BYTES, 'URLSearchParams', 'FormData', "undici's FormData", ...STREAMS, 'list of pieces', ...MADE],
    repeatsLarge: [...BYTES, 'URLSearchParams', 'FormData', "undici's FormData", ...MADE],
    send: onDispatcher(async (url, body, options) => {
      const response = await request(url, { ...options, method: 'PUT', body: body as string });
      await response.body.dump();
      return [response, response.statusCode];
    }),
  },
  'fetch on the dispatcher': {
    takes: [...BYTES, 'URLSearchParams', 'FormData', "undici's FormData", ...STREAMS, ...MADE],
    // What fetch is given whole, it hands on piece by piece.
    repeatsLarge: MADE,
    send: onDispatcher(async (url, body, options) => {
      const response = await ownFetch(url, { ...options, method: 'PUT', body, duplex: 'half' });
      await response.bytes();
      return [response, response.status];
    }),
  },
  wrapFetch: {
    takes: [...BYTES, 'URLSearchParams', 'FormData', ...STREAMS, ...MADE],
    repeatsLarge: [...BYTES, 'URLSearchParams', 'FormData', ...MADE],
    send(url, body, refusedAt) {
      const next = route(url, refusedAt);
      const inner: InnerFetch = (_, init) => fetch(next(), init);
      const init = { method: 'PUT', body: body as NonNullable<WrappedInit['body']>, duplex: 'half' as const };
      const call = async (): Promise<readonly [object, number]> => {
        const response = await wrapFetch(inner, OPTIONS)(url, init);
        await response.bytes();
        return [response, response.status];
      };
      return told(call());
    },
  },
};

for (const { name, agent, request: send } of MAJORS) {
  const whole: readonly BodyKindName[] = [...BYTES, ...(name === 'undici 8' ? (["undici's FormData"] as const) : [])];
  BODY_SENDERS[`the interceptor over ${name}`] = {
    takes: [...whole, ...STREAMS, 'list of pieces', ...MADE],
    repeatsLarge: [...whole, ...MADE],
    async send(url, body, refusedAt) {
      const own = agent();
      const next = route(url, refusedAt);
      const toNext = (dispatch: (options: object, handler: object) => boolean) => (options: object, handler: object) =>
        dispatch({ ...options, origin: new URL(next()).origin }, handler);
      const dispatcher = own.compose(toNext, retry(OPTIONS));
      const call = async (): Promise<readonly [object, number]> => {
        const response = await send(url, { dispatcher, method: 'PUT', body });
        await response.body.dump();
        return [response, response.statusCode];
      };
      try {
        return await told(call());
      } finally {
        await own.destroy();
      }
    },
  };
}

for (const name of ['http', 'fetch'] as const) {
  // Of a Uint8Array, axios itself takes the memory behind it, whatever part of it is meant.
  const whole: readonly BodyKindName[] = [
    'text',
    'Buffer',
    'ArrayBuffer',
    'Blob',
    'File',
    'URLSearchParams',
    'FormData',
  ];
  BODY_SENDERS[`axios over its ${name} adapter`] = {
    takes: [...whole, name === 'http' ? 'Readable' : 'web stream'],
    repeatsLarge: whole,
    ...(name === 'http' ? { readsEarly: true } : {}),
    send(url, body, refusedAt) {
      const next = route(url, refusedAt);
      const adapter = axios.getAdapter(name) as AxiosAdapter;
      const inner: AxiosAdapter = (config: object) => adapter({ ...config, url: next() });
      const client = axios.create({ adapter: wrapAxiosAdapter(inner, OPTIONS), maxRedirects: 0 });
      // For a form, this adapter of axios would declare its default for text.
      const isMislabelled = name === 'fetch' && body instanceof FormData;
      const call = client.put(url, body, isMislabelled ? { headers: { 'Content-Type': false } } : {});
      return told(
        call.then(
          (response) => [response, response.status] as const,
          (error: unknown) => [error as object, (error as { readonly status?: number }).status ?? 0] as const,
        ),
      );
    },
  };
}
