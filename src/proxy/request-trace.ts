import { fieldValues, removeFields } from '../http1/field-list.ts';
import type { AttemptRequest } from '../transport/transport.ts';
import type { AccessRecord } from './access-record.ts';
import type { Downstream } from './downstream.ts';

/** Somebody who follows requests, to tell afterwards what became of each. Its calls are synchronous and never throw. */
export interface Tracing {
  /** False: nobody follows, and `begin` is not called. Asked once a request. */
  readonly active: boolean;
  /**
   * A request arrived.
   * @returns undefined when nothing is told of it: its trace context then goes on as it came.
   */
  begin(request: ArrivedRequest): RequestTrace | undefined;
}

/** A request as tracing sees it arrive. */
export interface ArrivedRequest {
  /** The values of all its `traceparent` fields (W3C Trace Context). */
  readonly traceparents: readonly string[];
  /** Wall clock, milliseconds since 1970. */
  readonly atMs: number;
  /** It came over TLS. */
  readonly encrypted: boolean;
}

/** One request on its way. */
export interface RequestTrace {
  /** Whether the trace is the client's. If not, the client's `tracestate` does not belong to it. */
  readonly continuesClient: boolean;
  /** An attempt is about to be sent; returns the `traceparent` that it carries. */
  attemptBuilt(attempt: BuiltAttempt): string;
  /**
   * The last call, once a request.
   * @param failure The kind of what ended it; undefined when a response was delivered whole.
   */
  ended(record: AccessRecord, failure: string | undefined): void;
}

/** An attempt as tracing sees it before it is sent. */
export interface BuiltAttempt {
  /** 1 for the first. */
  readonly number: number;
  /** Milliseconds since the request arrived. */
  readonly afterMs: number;
  /** As it is sent, with query. */
  readonly path: string;
}

export function arrivedRequest({ fields, encrypted }: Downstream, atMs: number): ArrivedRequest {
  return { traceparents: fieldValues(fields, 'traceparent'), atMs, encrypted };
}

const PARENT: ReadonlySet<string> = new Set(['traceparent']);
const PARENT_AND_STATE: ReadonlySet<string> = new Set(['traceparent', 'tracestate']);

/** The attempt's request with a context of its own. `baggage` is the application's and stays as it is. */
export function tracedAttempt(
  trace: RequestTrace,
  attempt: AttemptRequest,
  number: number,
  afterMs: number,
): AttemptRequest {
  const traceparent = trace.attemptBuilt({ number, afterMs, path: attempt.target });
  const fields = removeFields(attempt.fields, trace.continuesClient ? PARENT : PARENT_AND_STATE);
  fields.push('traceparent', traceparent);
  return { ...attempt, fields };
}
