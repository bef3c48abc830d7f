import type { TargetName } from '../targets/target.ts';
import { compare, type Comparison, findBestNodeLibrary, type Metric } from './comparison.ts';
import type { Verdict } from './goals.ts';
import { type Slice, strangerCoresLimit } from './measure.ts';
import { median } from './quantile.ts';
import type { Workload } from './workload.ts';

/** The table of one workload, best first, and what has to be known to read it. */
export function formatWorkload(workload: Workload, slices: readonly Slice[]): string {
  const best = findBestNodeLibrary(slices);
  const medianOf = (
    target: TargetName,
    key: 'cpuMicros' | 'requestsPerSecond' | 'p50Micros' | 'p99Micros' | 'rssBytes',
  ): number => median(slices.filter((slice) => slice.target === target).map((slice) => slice[key]));
  const ratio = (target: TargetName, metric: Metric, reference: TargetName | undefined): string =>
    formatComparison(compare(slices, metric, target, reference));

  const names = [...new Set(slices.map((slice) => slice.target))].sort(
    (a, b) => medianOf(a, 'cpuMicros') - medianOf(b, 'cpuMicros'),
  );
  const isLatency = workload.name === 'single' || workload.name === 'steady';
  const head = isLatency
    ? ['target', 'p50 µs', '× nginx', 'p99 µs', '× nginx', 'CPU µs/req', '× nginx', 'req/s', 'RSS MB']
    : [
        'target',
        'CPU µs/req',
        '× nginx',
        '× haproxy',
        `× ${best ?? 'Node library'}`,
        'req/s',
        'p50 µs',
        'p99 µs',
        'RSS MB',
      ];
  const rows = names.map((name) => {
    const cpu = medianOf(name, 'cpuMicros').toFixed(1);
    const [p50, p99] = [medianOf(name, 'p50Micros').toFixed(0), medianOf(name, 'p99Micros').toFixed(0)];
    const rate = medianOf(name, 'requestsPerSecond').toFixed(0);
    const rss = (medianOf(name, 'rssBytes') / 1e6).toFixed(0);
    const cpuToNginx = ratio(name, 'cpuMicros', 'nginx');
    return isLatency
      ? [
          name,
          p50,
          ratio(name, 'p50Micros', 'nginx'),
          p99,
          ratio(name, 'p99Micros', 'nginx'),
          cpu,
          cpuToNginx,
          rate,
          rss,
        ]
      : [
          name,
          cpu,
          cpuToNginx,
          ratio(name, 'cpuMicros', 'haproxy'),
          ratio(name, 'cpuMicros', best),
          rate,
          p50,
          p99,
          rss,
        ];
  });
  return [workload.title, formatTable(head, rows), ...formatNotes(slices)].join('\n');
}

function formatNotes(slices: readonly Slice[]): string[] {
  const noisy = slices.filter((slice) => slice.strangerCores > strangerCoresLimit);
  const reruns = slices.reduce((sum, slice) => sum + slice.rerunCount, 0);
  const strangers = median(slices.map((slice) => slice.strangerCores)).toFixed(2);
  const stolen = median(slices.map((slice) => slice.stolenCores)).toFixed(2);
  const notes = [
    `  rest of the machine: ${strangers} cores busy, ${stolen} stolen by the host (medians); slices measured again: ${reruns}`,
  ];
  if (noisy.length > 0)
    notes.push(
      `  NOISY: in ${noisy.length} of ${slices.length} slices the rest of the machine took more than ${strangerCoresLimit} core; measure again on a quiet machine`,
    );
  for (const name of new Set(slices.map((slice) => slice.target))) {
    const own = slices.filter((slice) => slice.target === name);
    const faults = own.reduce((sum, slice) => sum + slice.faultCount, 0);
    if (faults > 0) notes.push(`  FAULTY: ${name} failed ${faults} requests under load; its figures say nothing`);
    const late = own.filter((slice) => slice.unansweredCount > 0).length;
    if (late > 0)
      notes.push(
        `  TOO SLOW: ${name} had requests left unanswered at the end of ${late} of ${own.length} slices; it cannot hold the rate`,
      );
  }
  return notes;
}

export function formatVerdicts(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ stage, goal, limit, measured, isMet }) => [
    goal,
    stage,
    `≤ ${limit}`,
    measured === undefined ? '–' : measured >= 10 ? measured.toFixed(0) : measured.toFixed(2),
    isMet === undefined ? 'not measured' : isMet ? 'pass' : 'FALLS SHORT',
  ]);
  return `Goals\n${formatTable(['mulligan', 'due', 'goal', 'measured', 'verdict'], rows)}`;
}

function formatComparison(comparison: Comparison | undefined): string {
  if (comparison === undefined) return '–';
  return `${comparison.median.toFixed(2)} (${comparison.low.toFixed(2)}–${comparison.high.toFixed(2)})`;
}

/** Columns as wide as their widest cell; the first to the left, the others to the right. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const format = (row: readonly string[]): string =>
    `  ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')}`;
  return [format(head), `  ${widths.map((width) => '─'.repeat(width)).join('  ')}`, ...rows.map(format)].join('\n');
}
