import * as undici6 from 'undici6';
import * as undici7 from 'undici7';
import * as undici8 from 'undici';
import type { RetryInterceptor } from '../../src/client/interceptor/retry.ts';

/** What the tests use of undici, of each major. */
export interface UndiciMajor {
  readonly name: string;
  agent(options?: object): ComposableDispatcher;
  request(url: string, options: object): Promise<MajorResponse>;
  fetch(url: string, options: object): Promise<Response>;
  readonly module: typeof undici8;
}

export interface ComposableDispatcher {
  compose(...interceptors: RetryInterceptor[]): ComposableDispatcher;
  dispatch(options: object, handler: object): boolean;
  close(): Promise<void>;
  destroy(): Promise<void>;
}

export interface MajorResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string | string[]>;
  readonly trailers: Record<string, string>;
  readonly context: object;
  readonly body: AsyncIterable<Buffer> & { text(): Promise<string>; dump(): Promise<void> };
}

const major = (name: string, module: unknown): UndiciMajor => {
  const loaded = module as typeof undici8;
  return {
    name,
    module: loaded,
    agent: (options) => new loaded.Agent(options),
    request: (url, options) => loaded.request(url, options) as unknown as Promise<MajorResponse>,
    fetch: (url, options) => loaded.fetch(url, options),
  };
};

export const MAJORS: readonly UndiciMajor[] = [
  major('undici 6', undici6),
  major('undici 7', undici7),
  major('undici 8', undici8),
];
