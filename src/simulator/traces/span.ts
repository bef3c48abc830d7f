import type { DataPath } from '../../config/fault.ts';

/** One operation of a service in one request, whatever the format it was written in. */
export interface Span {
  readonly traceId: string;
  readonly id: string;
  readonly parentId: string | undefined;
  readonly service: string;
  readonly name: string;
  /** Between a producer and a consumer is a queue: nobody waits for an answer. */
  readonly kind: 'server' | 'client' | 'internal' | 'producer' | 'consumer';
  readonly startUs: number;
  readonly endUs: number;
  /** A caller that retries would retry this: an error without a status, or a 408, 429 or 5xx. */
  readonly failed: boolean;
  readonly status: number | undefined;
  readonly method: string | undefined;
  /** Sends before this one, of the same request: OpenTelemetry's `http.request.resend_count`. */
  readonly resendCount: number | undefined;
  /** Who was called, where no span of the callee tells it. */
  readonly peer: string | undefined;
  /** It is known that the request had an idempotency key. */
  readonly keyed: boolean;
  /** Where it stands in the file. */
  readonly path: DataPath;
}

/** What the formats write besides, by the names of OpenTelemetry's conventions, old and new. */
export type Attributes = ReadonlyMap<string, string | number | boolean>;

/** What a span's attributes say. */
export function factsOf(
  attributes: Attributes,
  errorFlag: boolean,
): Pick<Span, 'failed' | 'status' | 'method' | 'resendCount' | 'peer' | 'keyed'> {
  const text = (...names: readonly string[]): string | undefined => {
    for (const name of names) {
      const value = attributes.get(name);
      if (value !== undefined && value !== '') return String(value);
    }
    return undefined;
  };
  const whole = (...names: readonly string[]): number | undefined => {
    const value = Number(text(...names) ?? Number.NaN);
    return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  };
  const status = whole('http.response.status_code', 'http.status_code');
  return {
    // OpenTelemetry marks a client's 404 as an error too: the status knows better.
    failed: status === undefined || status < 100 ? errorFlag : status >= 500 || status === 408 || status === 429,
    status,
    method: text('http.request.method', 'http.method')?.toUpperCase(),
    resendCount: whole('http.request.resend_count', 'http.resend_count'),
    peer: text(
      'peer.service',
      'mulligan.upstream',
      'db.system.name',
      'db.system',
      'rpc.service',
      'server.address',
      'net.peer.name',
      'http.host',
    ),
    keyed: attributes.has('http.request.header.idempotency-key'),
  };
}
