import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { RandomIdGenerator } from '@opentelemetry/sdk-trace';
import type { CollectorOptions } from './collector-exporter.ts';
import { createCollectorExporter } from './collector-exporter.ts';
import type { RequestTrace } from './request-trace.ts';
import { RecordedTrace, unrecordedTrace } from './request-trace.ts';
import { finishedSpan } from './span-data.ts';
import type { OnLost } from './span-queue.ts';
import { SpanQueue } from './span-queue.ts';
import { readTraceparent } from './trace-context.ts';
import type { TraceSampling } from './trace-sampling.ts';
import { isRecorded } from './trace-sampling.ts';
import type { ArrivedRequest } from './traced-request.ts';

export interface OpenTelemetryOptions extends CollectorOptions {
  /** `service.name` of every span. */
  readonly service: string;
  readonly sampling: TraceSampling;
  /** Spans did not reach the collector. */
  readonly onLost: OnLost;
}

/** Requests as spans: one a request, and below it one an attempt. */
export interface OpenTelemetry {
  /** A request arrived. Undefined: nothing is told of it, and its context goes on unchanged. */
  begin(request: ArrivedRequest): RequestTrace | undefined;
  /** Sends what is waiting; resolves when it arrived or is lost. Never rejects. */
  flush(): Promise<void>;
  /**
   * No further request begins here: when the last one has ended, its spans are sent and the connections closed.
   * Resolves then; never rejects.
   */
  retire(): Promise<void>;
  /** Closes the connections now; what has not been sent is lost. */
  cut(): void;
}

/** Needs a moment and some megabytes to load: import it where traces are wanted, not before. */
export function createOpenTelemetry(options: OpenTelemetryOptions): OpenTelemetry {
  const { sampling, service } = options;
  const ids = new RandomIdGenerator();
  const collector = createCollectorExporter(options);
  const queue = new SpanQueue(collector.exporter, options.onLost);
  const resource = defaultResource().merge(resourceFromAttributes({ 'service.name': service }));
  const scope = { name: 'mulligan' };
  let openCount = 0;
  let lastEnded: (() => void) | undefined;

  return {
    begin(request) {
      const parent = readTraceparent(request.traceparents);
      const traceId = parent?.traceId ?? ids.generateTraceId();
      if (isRecorded(sampling, parent, traceId)) {
        openCount += 1;
        return new RecordedTrace({
          request,
          traceId,
          parent,
          newSpanId: () => ids.generateSpanId(),
          onSpan: (facts) => queue.add(finishedSpan(facts, resource, scope)),
          onEnd() {
            openCount -= 1;
            if (openCount === 0) lastEnded?.();
          },
        });
      }
      if (parent?.sampled === false) return undefined;
      // A changed flag needs a span id of its own (W3C Trace Context §4.3), although nobody will record it.
      return unrecordedTrace({ traceId, spanId: ids.generateSpanId(), sampled: false }, parent !== undefined);
    },
    flush: () => queue.flush(),
    async retire() {
      if (openCount > 0)
        await new Promise<void>((resolve) => {
          lastEnded = resolve;
        });
      await queue.flush();
      collector.cut();
    },
    cut: () => collector.cut(),
  };
}
