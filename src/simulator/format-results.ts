import { SIMULATION_MODES } from './mode.ts';
import type { RecoveryResult, SimulationResult } from './result.ts';
import { formatMs, formatNumber, formatPercent, textTable } from './text-table.ts';

/** What came out, for a terminal: one run, or several of the same arrivals side by side. */
export function formatResults(results: readonly SimulationResult[]): string {
  const [first] = results;
  if (first === undefined) return '';
  const parts = [headOf(first), modesOf(results), totalsTable(results), loadTable(results)];
  const reasons = reasonTable(results);
  if (reasons !== '') parts.push(reasons);
  if (results.length === 1) parts.push(nodeTable(first));
  return `${parts.join('\n\n')}\n`;
}

function headOf({ simulatedMs, durationMs, seed, faults, totals }: SimulationResult): string {
  const early = simulatedMs < durationMs ? ` of ${formatMs(durationMs)}, ended early` : '';
  const lines = [`${formatMs(simulatedMs)} of virtual time${early}, seed ${seed}, ${totals.requestCount} requests`];
  for (const { fromMs, untilMs, what } of faults) lines.push(`  ${formatMs(fromMs)} – ${formatMs(untilMs)}  ${what}`);
  return lines.join('\n');
}

function modesOf(results: readonly SimulationResult[]): string {
  return results.map(({ mode }) => `${mode}: ${SIMULATION_MODES[mode]}`).join('\n');
}

function totalsTable(results: readonly SimulationResult[]): string {
  const row = (name: string, cell: (result: SimulationResult) => string): string[] => [name, ...results.map(cell)];
  const latency = (name: string, key: 'p50Ms' | 'p95Ms' | 'p99Ms'): string[][] =>
    (results[0]?.roots ?? []).map(({ operation }, index) =>
      row(`${name} of ${operation}`, ({ roots }) => formatMs(roots[index]?.latency?.[key])),
    );
  return textTable(
    ['', ...results.map(({ mode }) => mode)],
    [
      row('goodput a second', ({ totals }) => formatNumber(totals.goodputPerSecond)),
      row('answered', ({ totals }) => formatPercent(totals.successRatio)),
      ...latency('p50', 'p50Ms'),
      ...latency('p95', 'p95Ms'),
      ...latency('p99', 'p99Ms'),
      row('load ÷ baseline, all', ({ totals }) => formatNumber(totals.amplification)),
      row('retries', ({ totals }) => String(totals.retryCount)),
      row('suppressed retries', ({ totals }) => String(totals.suppressedCount)),
      row('in flight at the end', ({ totals }) => String(totals.inFlightCount)),
      ...(results.some(({ recovery }) => recovery !== undefined)
        ? [row('recovered after', ({ recovery }) => recoveredAfter(recovery))]
        : []),
    ],
  );
}

function recoveredAfter(recovery: RecoveryResult | undefined): string {
  if (recovery === undefined) return '–';
  return recovery.afterMs === undefined ? 'never' : formatMs(recovery.afterMs);
}

function loadTable(results: readonly SimulationResult[]): string {
  const nodes = results[0]?.nodes ?? [];
  return textTable(
    ['load ÷ baseline (worst interval)', ...results.map(({ mode }) => mode)],
    nodes.map(({ operation }, index) =>
      [operation].concat(
        results.map((result) => {
          const node = result.nodes[index];
          return node === undefined ? '–' : `${formatNumber(node.load)} (${formatNumber(node.peakLoad)})`;
        }),
      ),
    ),
  );
}

function reasonTable(results: readonly SimulationResult[]): string {
  const counts = results.map(({ totals }) => new Map<string, number>(Object.entries(totals.stopReasons)));
  const reasons = [...new Set(counts.flatMap((byReason) => [...byReason.keys()]))].toSorted();
  if (reasons.length === 0) return '';
  return textTable(
    ['calls that failed, by reason', ...results.map(({ mode }) => mode)],
    reasons.map((reason) => [reason].concat(counts.map((byReason) => String(byReason.get(reason) ?? 0)))),
  );
}

function nodeTable({ nodes, services }: SimulationResult): string {
  const queues = new Map(services.map(({ service, peakQueueLength }) => [service, peakQueueLength]));
  return textTable(
    ['operation', 'arrived', 'failed', 'shed', 'too late', 'for nobody', 'p50', 'p99', 'longest queue'],
    nodes.map((node) => [
      node.operation,
      String(node.arrivedCount),
      String(node.failedCount),
      String(node.shedCount),
      String(node.expiredCount),
      String(node.wastedCount),
      formatMs(node.latency?.p50Ms),
      formatMs(node.latency?.p99Ms),
      String(queues.get(node.service) ?? 0),
    ]),
  );
}
