import type { SimulationResult } from '../result.ts';
import { formatNumber } from '../text-table.ts';
import { mostAmplified } from '../verdict-line.ts';
import { linePlot, mergeValues, type LinePlot } from './line-plot.ts';
import { markup, type Markup } from './markup.ts';
import { foldedTable } from './number-table.ts';
import { shortTime } from './scale.ts';

/** Rows of the table beside a plot. */
const ROW_COUNT = 12;

/** Goodput, load where it grew most, retries and queues over time, each with its numbers. */
export function timeFigures(results: readonly SimulationResult[]): Markup[] {
  const where = hottestOf(results);
  const load = results[0]?.nodes[where];
  const usualRate = load === undefined ? 0 : (load.baselineCount * 1000) / Math.max(1, results[0]!.simulatedMs);
  return [
    figure(results, 'goodput', 'Goodput', 'answered well, a second', (result) =>
      perSecond(result.series.answered, result),
    ),
    figure(
      results,
      'load',
      `Load of ${load?.operation ?? ''}, where it grows most`,
      'arrivals a second',
      (result) => perSecond(result.nodes[where]?.series.arrived ?? [], result),
      usualRate > 0 ? { value: usualRate, name: 'usual' } : undefined,
    ),
    figure(results, 'retries', 'Retries of all calls', 'a second', (result) =>
      perSecond(result.series.retries, result),
    ),
    figure(results, 'queue', 'Waiting for a worker, in all services', 'requests', queueOf),
  ];
}

/** An interval that had not ended counts for as long as it lasted. */
function perSecond(counts: readonly number[], { intervalMs, simulatedMs }: SimulationResult): number[] {
  return counts.map(
    (count, index) => (count * 1000) / Math.max(1, Math.min(intervalMs, simulatedMs - index * intervalMs)),
  );
}

/** The operation whose load grew most in any of the modes; the first when none did. */
export function hottestOf(results: readonly SimulationResult[]): number {
  const hottest = results.flatMap((result) => mostAmplified(result) ?? []).toSorted((a, b) => b.peakLoad - a.peakLoad);
  return Math.max(0, results[0]?.nodes.findIndex(({ operation }) => operation === hottest[0]?.operation) ?? 0);
}

function queueOf({ services }: SimulationResult): number[] {
  const [first, ...others] = services;
  return (first?.series.queue ?? []).map((length, index) =>
    others.reduce((sum, { series }) => sum + series.queue[index]!, length),
  );
}

function figure(
  results: readonly SimulationResult[],
  id: string,
  title: string,
  unit: string,
  valuesOf: (result: SimulationResult) => readonly number[],
  reference?: LinePlot['reference'],
): Markup {
  const [first] = results;
  if (first === undefined) return markup``;
  const lines = results.map((result, style) => ({ name: result.mode, values: valuesOf(result), style }));
  const bands = first.faults.filter(({ isMissed }) => !isMissed);
  const count = Math.max(...lines.map(({ values }) => values.length));
  const merged = Math.max(1, Math.ceil(count / ROW_COUNT));
  const columns = lines.map(({ values }) => mergeValues(values, merged));
  const rows = Array.from({ length: Math.ceil(count / merged) }, (_, index) => [
    `from ${shortTime(index * merged * first.intervalMs)}`,
    ...columns.map((values) => formatNumber(values[index] ?? Number.NaN)),
  ]);
  return markup`<figure>${linePlot({ id, title, unit, intervalMs: first.intervalMs, lines, bands, reference })}
${foldedTable({ caption: `${title}: ${unit}, the mean of each ${shortTime(merged * first.intervalMs)}`, head: ['time', ...lines.map(({ name }) => name)], rows })}</figure>`;
}
