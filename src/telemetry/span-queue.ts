import { ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';

/** Told whenever spans are lost: why, and how many this time. */
export type OnLost = (why: string, count: number) => void;

/** Spans that wait while the collector is slow or away: some megabytes. What comes on top is lost. */
const QUEUED_SPANS = 2_048;
const BATCH_SPANS = 512;
const BATCH_WAIT_MS = 5_000;
/** Longer than the exporter's own timeout: its word on what happened is the better one. */
const EXPORT_TIMEOUT_MS = 30_000;

/**
 * Finished spans on their way to the exporter, in batches. Adding costs no wait, whatever the collector does; what is
 * lost is counted, which the SDK does for its own queue in its debug log alone.
 */
export class SpanQueue {
  readonly #exporter: SpanExporter;
  readonly #batches: BatchSpanProcessor;
  readonly #onLost: OnLost;
  /** Added, and not yet with the exporter. */
  #queuedCount = 0;

  constructor(exporter: SpanExporter, onLost: OnLost) {
    this.#exporter = exporter;
    this.#onLost = onLost;
    this.#batches = new BatchSpanProcessor({
      exporter: {
        export: (spans, done) => {
          this.#queuedCount -= spans.length;
          exporter.export(spans, (result) => {
            if (result.code !== ExportResultCode.SUCCESS) this.#onLost(textOf(result.error), spans.length);
            done(result);
          });
        },
        shutdown: () => exporter.shutdown(),
      },
      maxQueueSize: QUEUED_SPANS,
      maxExportBatchSize: BATCH_SPANS,
      scheduledDelayMillis: BATCH_WAIT_MS,
      exportTimeoutMillis: EXPORT_TIMEOUT_MS,
    });
  }

  add(span: ReadableSpan): void {
    if (this.#queuedCount >= QUEUED_SPANS) return this.#onLost('they come faster than the collector takes them', 1);
    this.#queuedCount += 1;
    this.#batches.onEnd(span);
  }

  /** Sends everything now; resolves when all of it arrived or is lost. Never rejects. */
  async flush(): Promise<void> {
    await ignoreFailure(this.#batches.forceFlush());
    // That is what was waiting; a batch may have been under way before.
    await ignoreFailure(this.#exporter.forceFlush?.());
  }
}

/** Failures were counted where they happened. */
async function ignoreFailure(work: Promise<void> | undefined): Promise<void> {
  try {
    await work;
  } catch {}
}

function textOf(error: (Error & { code?: unknown }) | undefined): string {
  if (error === undefined) return 'the collector took none';
  const code = typeof error.code === 'string' || typeof error.code === 'number' ? `${error.code}` : '';
  return error.message.includes(code) ? error.message : `${code} ${error.message}`.trim();
}
