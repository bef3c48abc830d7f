import type { TargetName } from '../targets/target.ts';
import { compare, findBestNodeLibrary, type Metric } from './comparison.ts';
import type { Slice } from './measure.ts';
import { median } from './quantile.ts';
import type { WorkloadName } from './workload.ts';

/** The slices of each workload that was measured. */
export type Measurements = Readonly<Partial<Record<WorkloadName, readonly Slice[]>>>;

/** When a goal is due: the stages through which the gateway is built. */
type Stage = 'foundation' | 'own listener' | 'observability' | 'stretch';

export interface Verdict {
  readonly stage: Stage;
  readonly goal: string;
  readonly limit: number;
  /** Undefined when the run did not measure it. */
  readonly measured: number | undefined;
  readonly isMet: boolean | undefined;
}

const megabyte = 1_000_000;

/** Every goal that this bench can judge, with what the run found. */
export function judge(measurements: Measurements): Verdict[] {
  const ratio = (
    workload: WorkloadName,
    metric: Metric,
    target: TargetName,
    reference: TargetName | 'best-node-library',
  ): number | undefined => {
    const slices = measurements[workload] ?? [];
    return compare(slices, metric, target, reference === 'best-node-library' ? findBestNodeLibrary(slices) : reference)
      ?.median;
  };
  const verdict = (stage: Stage, goal: string, limit: number, measured: number | undefined): Verdict => ({
    stage,
    goal,
    limit,
    measured,
    isMet: measured === undefined ? undefined : measured <= limit,
  });
  const toNginx = ratio('small', 'cpuMicros', 'mulligan', 'nginx');
  const toLibrary = ratio('small', 'cpuMicros', 'mulligan', 'best-node-library');
  return [
    verdict('foundation', 'small request: CPU × nginx', 2.2, toNginx),
    verdict('foundation', 'small request: CPU × best Node library', 0.75, toLibrary),
    verdict('foundation', '100 KB: CPU × HAProxy', 1.4, ratio('large', 'cpuMicros', 'mulligan', 'haproxy')),
    verdict('foundation', '100 KB: CPU × fast-proxy', 0.5, ratio('large', 'cpuMicros', 'mulligan', 'fast-proxy')),
    verdict('foundation', 'one connection: p50 × nginx', 1.2, ratio('single', 'p50Micros', 'mulligan', 'nginx')),
    verdict(
      'foundation',
      '4 000 requests a second: p99 × nginx',
      1.5,
      ratio('steady', 'p99Micros', 'mulligan', 'nginx'),
    ),
    verdict('foundation', 'RSS after load, MB', 90, largestRssMegabytes(measurements)),
    verdict('own listener', 'small request: CPU × nginx', 1.6, toNginx),
    verdict('own listener', 'small request: CPU × HAProxy', 1.5, ratio('small', 'cpuMicros', 'mulligan', 'haproxy')),
    verdict('own listener', 'small request: CPU × best Node library', 0.55, toLibrary),
    verdict(
      'own listener',
      'small request with a JSON log line: CPU × nginx',
      1.8,
      ratio('small', 'cpuMicros', 'mulligan-log', 'nginx'),
    ),
    verdict(
      'observability',
      'small request with log and metrics: CPU × without',
      1.11,
      ratio('small', 'cpuMicros', 'mulligan-seen', 'mulligan'),
    ),
    verdict('stretch', 'small request: CPU × nginx', 1.3, toNginx),
  ];
}

/** Of each workload the median over the rounds, of those the largest: one lucky collection must not decide. */
function largestRssMegabytes(measurements: Measurements): number | undefined {
  const medians = Object.values(measurements)
    .map((slices) => median(slices.filter((slice) => slice.target === 'mulligan').map((slice) => slice.rssBytes)))
    .filter((bytes) => !Number.isNaN(bytes));
  return medians.length === 0 ? undefined : Math.max(...medians) / megabyte;
}
