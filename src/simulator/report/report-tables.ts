import type { LatencyResult, RecoveryResult, SimulationResult, StopCounts } from '../result.ts';
import { formatMs, formatNumber, formatPercent } from '../text-table.ts';
import type { Markup } from './markup.ts';
import { numberTable } from './number-table.ts';

type Results = readonly SimulationResult[];

/** What the modes come to, side by side. */
export function totalsTable(results: Results): Markup {
  const row = (name: string, cell: (result: SimulationResult) => string): string[] => [name, ...results.map(cell)];
  return numberTable({
    caption: 'The whole run',
    head: ['', ...results.map(({ mode }) => mode)],
    rows: [
      row('requests from outside', ({ totals }) => String(totals.requestCount)),
      row('answered well', ({ totals }) => formatPercent(totals.successRatio)),
      row('goodput a second', ({ totals }) => formatNumber(totals.goodputPerSecond)),
      row('latency p50', ({ totals }) => formatMs(totals.latency?.p50Ms)),
      row('latency p99', ({ totals }) => formatMs(totals.latency?.p99Ms)),
      row('latency p99.9', ({ totals }) => formatMs(totals.latency?.p999Ms)),
      row('load ÷ baseline, all services', ({ totals }) => formatNumber(totals.amplification)),
      row('retries sent', ({ totals }) => String(totals.retryCount)),
      row('retries suppressed', ({ totals }) => String(totals.suppressedCount)),
      row('recovered after', ({ recovery }) => recoveredAfter(recovery)),
    ],
  });
}

function recoveredAfter(recovery: RecoveryResult | undefined): string {
  if (recovery === undefined) return '–';
  return recovery.afterMs === undefined ? 'never' : formatMs(recovery.afterMs);
}

/** Load ÷ baseline of every operation. */
export function loadTable(results: Results): Markup {
  return numberTable({
    caption: 'Load ÷ baseline of the whole run (worst five seconds)',
    head: ['operation', ...results.map(({ mode }) => mode)],
    rows: (results[0]?.nodes ?? []).map(({ operation }, index) =>
      [operation].concat(
        results.map(({ nodes }) => `${formatNumber(nodes[index]!.load)} (${formatNumber(nodes[index]!.peakLoad)})`),
      ),
    ),
  });
}

/** Latencies as clients see them, of the requests that were answered well. */
export function latencyTable(results: Results): Markup {
  return numberTable({
    caption: 'Latency of answered requests: p50 / p99 / p99.9',
    head: ['root', ...results.map(({ mode }) => mode)],
    rows: (results[0]?.roots ?? []).map(({ operation }, index) =>
      [operation].concat(results.map(({ roots }) => latencyCell(roots[index]?.latency))),
    ),
  });
}

function latencyCell(latency: LatencyResult | undefined): string {
  if (latency === undefined) return 'none answered';
  return [latency.p50Ms, latency.p99Ms, latency.p999Ms].map((ms) => formatMs(ms)).join(' / ');
}

export function suppressedTable(results: Results): Markup {
  return reasonTable(
    'Retries that the policy would have made, by what took them away',
    results,
    (result) => result.totals.suppressedReasons,
  );
}

export function stopTable(results: Results): Markup {
  return reasonTable('Calls that failed for good, by reason', results, (result) => result.totals.stopReasons);
}

function reasonTable(caption: string, results: Results, countsOf: (result: SimulationResult) => StopCounts): Markup {
  const counts = results.map((result) => new Map<string, number>(Object.entries(countsOf(result))));
  const reasons = [...new Set(counts.flatMap((byReason) => [...byReason.keys()]))].toSorted();
  return numberTable({
    caption,
    head: ['reason', ...results.map(({ mode }) => mode)],
    rows:
      reasons.length === 0
        ? [['none', ...results.map(() => '0')]]
        : reasons.map((reason) => [reason].concat(counts.map((byReason) => String(byReason.get(reason) ?? 0)))),
  });
}
