import type { SpanContext } from '@opentelemetry/api';
import { SpanKind, TraceFlags } from '@opentelemetry/api';
import { attemptWords, requestWords } from './request-spans.ts';
import type { SpanFacts } from './span-data.ts';
import type { TraceContext } from './trace-context.ts';
import { writeTraceparent } from './trace-context.ts';
import type { ArrivedRequest, BuiltAttempt, TracedRecord } from './traced-request.ts';

/** One request on its way. */
export interface RequestTrace {
  /** Whether the trace is the client's. If not, the client's `tracestate` says nothing about it and must not go on. */
  readonly continuesClient: boolean;
  /** An attempt is about to be sent; returns the `traceparent` that it carries. */
  attemptBuilt(attempt: BuiltAttempt): string;
  /**
   * The last call, once a request.
   * @param failure The kind of what ended it; undefined when a response was delivered whole.
   */
  ended(record: TracedRecord, failure: string | undefined): void;
}

/** A request that is not recorded, whose upstreams shall know that. */
export function unrecordedTrace(context: TraceContext, continuesClient: boolean): RequestTrace {
  const traceparent = writeTraceparent(context);
  return { continuesClient, attemptBuilt: () => traceparent, ended: () => {} };
}

export interface RecordedTraceOptions {
  readonly request: ArrivedRequest;
  readonly traceId: string;
  readonly parent: TraceContext | undefined;
  readonly newSpanId: () => string;
  /** Called once for every span, when the request has ended. */
  readonly onSpan: (facts: SpanFacts) => void;
  readonly onEnd: () => void;
}

interface SentAttempt extends BuiltAttempt {
  readonly spanId: string;
}

/**
 * A request that is recorded. While it runs only names and times are noted; the spans are made from its record, so that
 * they say what the access log says.
 */
export class RecordedTrace implements RequestTrace {
  readonly continuesClient: boolean;
  readonly #options: RecordedTraceOptions;
  readonly #spanId: string;
  /** By attempt number. */
  readonly #sent: SentAttempt[] = [];

  constructor(options: RecordedTraceOptions) {
    this.#options = options;
    this.#spanId = options.newSpanId();
    this.continuesClient = options.parent !== undefined;
  }

  attemptBuilt(attempt: BuiltAttempt): string {
    const spanId = this.#options.newSpanId();
    this.#sent[attempt.number - 1] = { ...attempt, spanId };
    return writeTraceparent({ traceId: this.#options.traceId, spanId, sampled: true });
  }

  ended(record: TracedRecord, failure: string | undefined): void {
    const { request, parent, onSpan, onEnd } = this.#options;
    const context = this.#context(this.#spanId);
    for (let index = 0; index < record.attempts.length; index += 1) {
      const sent = this.#sent[index];
      // Its request was never built: user code threw.
      if (sent === undefined) continue;
      onSpan({
        ...attemptWords(record, index, pathOf(sent.path), failure),
        kind: SpanKind.CLIENT,
        context: this.#context(sent.spanId),
        parent: context,
        startMs: request.atMs + sent.afterMs,
        // Its time began a moment before its request was built: it must not seem to outlive the request.
        durationMs: Math.max(0, Math.min(record.attempts[index]!.durationMs, record.durationMs - sent.afterMs)),
      });
    }
    onSpan({
      ...requestWords(record, request.encrypted, failure),
      kind: SpanKind.SERVER,
      context,
      parent: parent === undefined ? undefined : { ...this.#context(parent.spanId), isRemote: true },
      startMs: request.atMs,
      durationMs: record.durationMs,
    });
    onEnd();
  }

  #context(spanId: string): SpanContext {
    return { traceId: this.#options.traceId, spanId, traceFlags: TraceFlags.SAMPLED };
  }
}

/** Queries carry secrets. */
function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
