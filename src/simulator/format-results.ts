import { SIMULATION_MODES } from './mode.ts';
import type { LatencyResult, RecoveryResult, SimulationResult, StopCounts } from './result.ts';
import { formatMs, formatNumber, formatPercent, textTable } from './text-table.ts';
import { verdictLine } from './verdict-line.ts';

/** A terminal is no place for hundreds of rows: the report and `--json` have them all. */
const MAX_ROWS = 30;
/** Within this the load of an operation is the usual one. */
const USUAL = 0.02;

/** What came out, for a terminal: one run, or several of the same arrivals side by side. */
export function formatResults(results: readonly SimulationResult[]): string {
  const [first] = results;
  if (first === undefined) return '';
  const parts = [headOf(first), verdictsOf(results), modesOf(results), totalsTable(results), loadTable(results)];
  const reasons = [
    reasonTable('retries taken away by', results, ({ suppressedReasons }) => suppressedReasons),
    reasonTable('calls that failed, by reason', results, ({ stopReasons }) => stopReasons),
  ];
  parts.push(...reasons.filter((table) => table !== ''));
  if (results.length === 1) parts.push(nodeTable(first));
  return `${parts.join('\n\n')}\n`;
}

function headOf({ simulatedMs, durationMs, seed, faults, totals }: SimulationResult): string {
  const early = simulatedMs < durationMs ? ` of ${formatMs(durationMs)}, ended early: a part of the run` : '';
  const lines = [`${formatMs(simulatedMs)} of virtual time${early}, seed ${seed}, ${totals.requestCount} requests`];
  for (const { fromMs, untilMs, what, isMissed } of faults)
    lines.push(
      isMissed
        ? `  ${formatMs(fromMs)}  ${what}: not reached, the run ends before it`
        : `  ${formatMs(fromMs)} – ${formatMs(untilMs)}  ${what}`,
    );
  return lines.join('\n');
}

function verdictsOf(results: readonly SimulationResult[]): string {
  const width = Math.max(...results.map(({ mode }) => mode.length));
  return results.map((result) => `${result.mode.padEnd(width)}  ${verdictLine(result)}`).join('\n');
}

function modesOf(results: readonly SimulationResult[]): string {
  return results.map(({ mode }) => `${mode}: ${SIMULATION_MODES[mode]}`).join('\n');
}

function totalsTable(results: readonly SimulationResult[]): string {
  const row = (name: string, cell: (result: SimulationResult) => string): string[] => [name, ...results.map(cell)];
  const latency = (name: string, key: keyof LatencyResult): string[] =>
    row(`${name} of all answered`, ({ totals }) => formatMs(totals.latency?.[key]));
  const roots = results[0]?.roots ?? [];
  return textTable(
    ['', ...results.map(({ mode }) => mode)],
    [
      row('goodput a second', ({ totals }) => formatNumber(totals.goodputPerSecond)),
      row('answered', ({ totals }) => formatPercent(totals.successRatio)),
      latency('p50', 'p50Ms'),
      latency('p99', 'p99Ms'),
      latency('p99.9', 'p999Ms'),
      ...(roots.length < 2 || roots.length > MAX_ROWS
        ? []
        : roots.map(({ operation }, index) =>
            row(`p99 of ${operation}`, (result) => formatMs(result.roots[index]?.latency?.p99Ms)),
          )),
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
  const unusual = (index: number): number =>
    Math.max(
      ...results.map((result) => {
        const { load = 1, peakLoad = 1 } = result.nodes[index] ?? {};
        return Math.max(Math.abs(load - 1), peakLoad - 1);
      }),
    );
  const ranked = nodes.map((_, index) => ({ index, by: unusual(index) })).toSorted((a, b) => b.by - a.by);
  const shown = new Set(
    nodes.length <= MAX_ROWS
      ? nodes.keys()
      : ranked
          .filter(({ by }) => by > USUAL)
          .slice(0, MAX_ROWS)
          .map(({ index }) => index),
  );
  const table = textTable(
    ['load ÷ baseline (worst 5 s)', ...results.map(({ mode }) => mode)],
    nodes.flatMap(({ operation }, index) =>
      shown.has(index)
        ? [
            [operation].concat(
              results.map((result) => {
                const node = result.nodes[index];
                return node === undefined ? '–' : `${formatNumber(node.load)} (${formatNumber(node.peakLoad)})`;
              }),
            ),
          ]
        : [],
    ),
  );
  if (shown.size === nodes.length) return table;
  return `${table}\n${nodes.length - shown.size} more operations are nearer to their usual load`;
}

function reasonTable(
  title: string,
  results: readonly SimulationResult[],
  countsOf: (totals: SimulationResult['totals']) => StopCounts,
): string {
  const counts = results.map(({ totals }) => new Map<string, number>(Object.entries(countsOf(totals))));
  const reasons = [...new Set(counts.flatMap((byReason) => [...byReason.keys()]))].toSorted();
  if (reasons.length === 0) return '';
  return textTable(
    [title, ...results.map(({ mode }) => mode)],
    reasons.map((reason) => [reason].concat(counts.map((byReason) => String(byReason.get(reason) ?? 0)))),
  );
}

function nodeTable({ nodes, services }: SimulationResult): string {
  const queues = new Map(services.map(({ service, peakQueueLength }) => [service, peakQueueLength]));
  return textTable(
    ['operation', 'arrived', 'failed', 'shed', 'too late', 'for nobody', 'p50', 'p99', 'p99.9', 'longest queue'],
    nodes.map((node) => [
      node.operation,
      String(node.arrivedCount),
      String(node.failedCount),
      String(node.shedCount),
      String(node.expiredCount),
      String(node.wastedCount),
      formatMs(node.latency?.p50Ms),
      formatMs(node.latency?.p99Ms),
      formatMs(node.latency?.p999Ms),
      String(queues.get(node.service) ?? 0),
    ]),
  );
}
