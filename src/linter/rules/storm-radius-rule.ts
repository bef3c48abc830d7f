import type { Topology } from '../../simulator/topology.ts';
import type { RuleFinding } from '../finding.ts';
import { DEFAULT_LIMITS, type LintLimits } from '../lint-limits.ts';
import type { StormReading } from '../storm-reading.ts';
import { factor, pathText } from '../words.ts';

/** Roots below which more hops retry one failure than is allowed. */
export function stormRadiusFindings(
  { roots }: Topology,
  readings: readonly StormReading[],
  withOwnership: readonly StormReading[],
  { maxRadius }: LintLimits,
): RuleFinding[] {
  const limit = maxRadius ?? DEFAULT_LIMITS.maxRadius;
  return readings.flatMap((reading, index): RuleFinding[] => {
    if (reading.radius <= limit) return [];
    const { radius, path, amplification, amplifiedPath } = reading;
    const by = reading.isByTimeouts ? ' when it is slow: a caller gives up before it is told whose the failure is' : '';
    return [
      {
        rule: 'storm-radius',
        severity: maxRadius === undefined ? 'warning' : 'error',
        call: roots[index]!.call,
        message: `${radius} ${radius === 1 ? 'hop retries' : 'hops retry'} the same failure on ${pathText(path)}${by}; ${amplifiedPath.at(-1)!} gets up to ${factor(amplification)} requests for one`,
        hint: remedy(reading, withOwnership[index]!),
        exceedsLimit: maxRadius !== undefined,
      },
    ];
  });
}

function remedy(now: StormReading, owned: StormReading): string {
  if (owned.radius < now.radius)
    return `with \`ownership: { mode: enforce }\` it would be ${owned.radius}, and ${factor(owned.amplification)} requests for one; or let one hop retry, the one next to the failure`;
  if (now.isByTimeouts) return 'put the timeouts in order: see the findings of timeout-order';
  return 'let only the hop next to the failure retry, or make the services on the way that are legacy or context-broken cooperating';
}
