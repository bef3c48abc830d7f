import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { SpanKind } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { finishedSpan } from '../../src/telemetry/span-data.ts';
import { SpanQueue } from '../../src/telemetry/span-queue.ts';
import { failOnLeaks } from '../support/leak-check.ts';

failOnLeaks();

const span: ReadableSpan = finishedSpan(
  {
    name: 'GET',
    kind: SpanKind.CLIENT,
    context: { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 },
    parent: undefined,
    startMs: 1_800_000_000_000,
    durationMs: 1.5,
    attributes: { long: 'x'.repeat(2000), absent: undefined },
    error: undefined,
  },
  emptyResource(),
  { name: 'test' },
);

/** An exporter that answers when it is told to. */
function slowExporter() {
  const waiting: { count: number; done: Parameters<SpanExporter['export']>[1] }[] = [];
  let isAway: Error | undefined;
  const exporter: SpanExporter = {
    export(spans, done) {
      if (isAway === undefined) waiting.push({ count: spans.length, done });
      else done({ code: ExportResultCode.FAILED, error: isAway });
    },
    shutdown: () => Promise.resolve(),
  };
  return {
    exporter,
    waiting,
    /** Everything fails from now on, what waits too. */
    fail(error: Error) {
      isAway = error;
      for (const { done } of waiting.splice(0)) done({ code: ExportResultCode.FAILED, error });
    },
  };
}

test('what the queue cannot hold is lost, counted, and nobody waits', async () => {
  const { exporter, waiting, fail } = slowExporter();
  const lost: [string, number][] = [];
  const queue = new SpanQueue(exporter, (why, count) => lost.push([why, count]));
  for (let count = 0; count < 512 + 2048 + 3; count += 1) queue.add(span);
  deepEqual(
    waiting.map(({ count }) => count),
    [512],
  );
  deepEqual(lost, [
    ['they come faster than the collector takes them', 1],
    ['they come faster than the collector takes them', 1],
    ['they come faster than the collector takes them', 1],
  ]);
  fail(new Error('over'));
  await queue.flush();
});

test('what the collector did not take is counted with the reason', async () => {
  const { exporter, fail } = slowExporter();
  const lost: [string, number][] = [];
  const queue = new SpanQueue(exporter, (why, count) => lost.push([why, count]));
  fail(Object.assign(new Error(''), { code: 'ECONNREFUSED' }));
  queue.add(span);
  queue.add(span);
  await queue.flush();
  deepEqual(lost, [['ECONNREFUSED', 2]]);
});

test('what arrived is not lost', async () => {
  const taken: number[] = [];
  let lostCount = 0;
  const queue = new SpanQueue(
    {
      export(spans, done) {
        taken.push(spans.length);
        done({ code: ExportResultCode.SUCCESS });
      },
      shutdown: () => Promise.resolve(),
    },
    (_why, count) => {
      lostCount += count;
    },
  );
  for (let count = 0; count < 2000; count += 1) queue.add(span);
  await queue.flush();
  equal(
    taken.reduce((sum, count) => sum + count, 0),
    2000,
  );
  equal(lostCount, 0);
});

test('a span is bounded, and says nothing of what is absent', () => {
  equal((span.attributes['long'] as string).length, 1025);
  deepEqual(Object.keys(span.attributes), ['long']);
  deepEqual(
    [span.startTime, span.endTime],
    [
      [1_800_000_000, 0],
      [1_800_000_000, 1_500_000],
    ],
  );
});
