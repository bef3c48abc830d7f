/** What is used of axios, so that nobody needs it who does not have it. */
export interface AxiosConfig {
  readonly url?: string | undefined;
  readonly baseURL?: string | undefined;
  readonly method?: string | undefined;
  readonly headers: AxiosFields;
  readonly data?: unknown;
  readonly signal?: unknown;
  readonly cancelToken?: AxiosCancelToken | undefined;
  readonly maxRedirects?: number | undefined;
}

/** What axios had before there were signals. */
export interface AxiosCancelToken {
  /** Calls `listener` when it is cancelled, at once if it is already. */
  subscribe(listener: (reason: unknown) => void): void;
  unsubscribe(listener: (reason: unknown) => void): void;
}

export interface AxiosFields {
  get(name: string): unknown;
  /** A copy with these besides. */
  concat(...more: Readonly<Record<string, string>>[]): AxiosFields;
}

export interface AxiosAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: unknown;
  readonly data: unknown;
}

/** What an adapter came to with a response: resolved, or rejected for its status (`validateStatus`). */
export type AxiosEnding =
  | { readonly type: 'resolved'; readonly answer: AxiosAnswer }
  | { readonly type: 'rejected'; readonly answer: AxiosAnswer; readonly error: unknown };

/** The response that an error of axios brings, if any. */
export function answerOf(error: unknown): AxiosAnswer | undefined {
  if (typeof error !== 'object' || error === null || !('response' in error)) return undefined;
  const { response } = error;
  return typeof response === 'object' && response !== null && 'status' in response
    ? (response as AxiosAnswer)
    : undefined;
}
