import type { Failure } from '../../core/failure.ts';
import type { FieldList } from '../../http1/message.ts';
import { provenPhase } from '../../transport/error-evidence.ts';
import { failureFromError, internalFailure } from '../../transport/failure-from-error.ts';
import type { Call, CallAttempt, CallOutcome } from '../call/call.ts';
import { UNKNOWN_SITE } from '../call/call-transport.ts';
import type { AxiosBody } from './axios-body.ts';
import type { AxiosAnswer, AxiosConfig, AxiosEnding } from './axios-types.ts';
import { answerOf } from './axios-types.ts';

/** One request of axios; an attempt is one call of the adapter below. */
export class AxiosCall implements Call<AxiosEnding> {
  readonly #inner: (config: AxiosConfig) => Promise<AxiosAnswer>;
  readonly #config: AxiosConfig;
  readonly #body: AxiosBody;
  readonly #key: FieldList;

  constructor(
    inner: (config: AxiosConfig) => Promise<AxiosAnswer>,
    config: AxiosConfig,
    body: AxiosBody,
    key: FieldList,
  ) {
    this.#inner = inner;
    this.#config = config;
    this.#body = body;
    this.#key = key;
  }

  async attempt({ fields, signal }: CallAttempt): Promise<CallOutcome<AxiosEnding>> {
    const config = this.#config;
    const own = config.signal instanceof AbortSignal ? AbortSignal.any([signal, config.signal]) : signal;
    // A copy: adapters write into the headers that they are given.
    const headers = config.headers.concat(toRecord([...this.#key, ...fields]));
    try {
      const answer = await this.#inner({ ...config, headers, data: this.#body.next(), signal: own });
      return answered({ type: 'resolved', answer });
    } catch (error) {
      const answer = answerOf(error);
      if (answer !== undefined) return answered({ type: 'rejected', answer, error });
      return { type: 'failed', failure: this.#failureOf(error), error };
    }
  }

  async keep(ending: AxiosEnding): Promise<AxiosEnding | undefined> {
    if (!isStream(ending.answer.data)) return ending;
    this.discard(ending);
    return undefined;
  }

  discard({ answer: { data } }: AxiosEnding): void {
    if (!isStream(data)) return;
    if ('destroy' in data) data.destroy();
    else data.cancel().catch(() => undefined);
  }

  #failureOf(error: unknown): Failure {
    if (this.#body.capture?.failed === true)
      return internalFailure('http_request_error', 'the request body could not be read', UNKNOWN_SITE, error);
    const phase = isFirstHop(error, this.#config) ? provenPhase(error) : undefined;
    return failureFromError(error, phase === undefined ? UNKNOWN_SITE : { ...UNKNOWN_SITE, phase, bytesSent: 0 });
  }
}

/** Whether no redirect can have been followed before this error: then alone it can prove that nothing was sent. */
function isFirstHop(error: unknown, config: AxiosConfig): boolean {
  const request = typeof error === 'object' && error !== null && 'request' in error ? error.request : undefined;
  if (typeof request !== 'object' || request === null) return false;
  if ('_redirectCount' in request) return request._redirectCount === 0;
  // Node's own request: axios does not follow redirects then.
  return config.maxRedirects === 0 && 'reusedSocket' in request;
}

function answered(ending: AxiosEnding): CallOutcome<AxiosEnding> {
  const { status, statusText: reason, headers } = ending.answer;
  return { type: 'answered', answer: { status, reason, readFields: () => fieldsOf(headers) }, value: ending };
}

function fieldsOf(headers: unknown): FieldList {
  const fields: FieldList = [];
  for (const [name, value] of Object.entries((headers ?? {}) as Record<string, unknown>)) {
    for (const one of Array.isArray(value) ? value : [value]) fields.push(name, String(one));
  }
  return fields;
}

function isStream(data: unknown): data is { destroy(): void } | { cancel(): Promise<void> } {
  return typeof data === 'object' && data !== null && (('pipe' in data && 'destroy' in data) || 'getReader' in data);
}

function toRecord(fields: FieldList): Record<string, string> {
  const record: Record<string, string> = {};
  for (let i = 0; i + 1 < fields.length; i += 2) record[fields[i]!] = fields[i + 1]!;
  return record;
}
