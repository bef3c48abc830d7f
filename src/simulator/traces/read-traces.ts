import type { ConfigFault, DataPath } from '../../config/fault.ts';
import { formatPath, printable } from '../../config/fault.ts';
import { placesIn } from '../../config/text-places.ts';
import { jsonOffset } from '../json-place.ts';
import type { JsonDocument } from '../json-source.ts';
import type { ReadSource, SourceFormat, Untold } from '../topology-source.ts';
import { jaegerSpans } from './jaeger.ts';
import { otlpSpans } from './otlp.ts';
import type { Span } from './span.ts';
import { SpanFault } from './span-fault.ts';
import { statisticsOf } from './statistics.ts';
import { treeOf } from './trace-tree.ts';
import { observedTopology } from './traces-topology.ts';
import { assumptionsOf } from './assumptions.ts';
import { zipkinSpans } from './zipkin.ts';

const READERS: Readonly<Record<TraceFormat, (document: unknown, at: DataPath) => Generator<Span>>> = {
  otlp: otlpSpans,
  jaeger: jaegerSpans,
  zipkin: zipkinSpans,
};

export type TraceFormat = Exclude<SourceFormat, 'topology' | 'gateway'>;

/** More than that is a day's traffic, not a sample, and takes gigabytes to relate. */
const MOST_SPANS = 500_000;
const UNTOLD: ReadonlySet<Untold> = new Set<Untold>(['timeouts', 'budgets', 'keys', 'methods']);

/** Reads the call graph, the rates, the errors and the retries of a file of traces. Never throws. */
export function readTraces(
  text: string,
  fileName: string,
  format: TraceFormat,
  documents: readonly JsonDocument[],
): ReadSource {
  const placeOf = placesIn(text);
  const placed = (path: DataPath): Pick<ConfigFault, 'line' | 'column' | 'path'> => {
    const [index, ...inner] = path;
    const document = documents[Number(index)]!;
    const offset = document.offset + jsonOffset(document.text, inner);
    return { ...placeOf(offset), path: printable(formatPath(inner), 120) };
  };
  const fault = (path: DataPath, message: string, hint: string): ReadSource => ({
    ok: false,
    faults: [{ severity: 'error', file: fileName, ...placed(path), message, hint }],
  });
  const spans: Span[] = [];
  try {
    for (const [index, { data }] of documents.entries()) {
      for (const span of READERS[format](data, [index])) {
        spans.push(span);
        if (spans.length > MOST_SPANS)
          return fault(
            span.path,
            `is the ${MOST_SPANS + 1}th span`,
            'give a sample of the traces, at most half a million spans',
          );
      }
    }
  } catch (error) {
    if (error instanceof SpanFault) return fault(error.path, error.message, error.hint);
    throw error;
  }
  if (spans.length === 0) return fault([0], 'has no spans', 'export traces that have some');
  const tree = treeOf(spans);
  if (tree.roots.length === 0)
    return fault(
      spans[0]!.path,
      'is below itself, and so are all the others',
      'export whole traces: one span of each has no parent',
    );
  const seconds = secondsOf(spans);
  const statistics = statisticsOf(tree);
  const { topology, callPaths, omissions } = observedTopology(statistics, seconds);
  const warnings = omissions.map(({ path, message }): ConfigFault => {
    const { line, column, path: name } = placed(path);
    const hint = 'services may call each other, operations may not: name the inner operation differently';
    return { severity: 'warning', file: fileName, line, column, path: name, message, hint };
  });
  return {
    ok: true,
    source: {
      file: fileName,
      format,
      topology,
      warnings,
      assumptions: assumptionsOf({ statistics, tree, spanCount: spans.length, seconds }),
      untold: UNTOLD,
      placeOfCall: (call) => placed(callPaths[call] ?? [0]),
      lines: [],
    },
  };
}

/** From the first beginning to the last end, at least a second: a single trace is no rate of thousands. */
function secondsOf(spans: readonly Span[]): number {
  let firstUs = Infinity;
  let lastUs = 0;
  for (const { startUs, endUs } of spans) {
    firstUs = Math.min(firstUs, startUs);
    lastUs = Math.max(lastUs, endUs);
  }
  return Math.max(1, (lastUs - firstUs) / 1e6);
}
