import type { Topology } from '../../simulator/topology.ts';
import type { RuleFinding } from '../finding.ts';
import { DEFAULT_LIMITS, type LintLimits } from '../lint-limits.ts';
import type { StormReading } from '../storm-reading.ts';
import { factor, pathText } from '../words.ts';

/** Roots below which the budgets of a path together let through more than is allowed. */
export function amplificationFindings(
  { roots }: Topology,
  readings: readonly StormReading[],
  { maxAmplification }: LintLimits,
): RuleFinding[] {
  const limit = maxAmplification ?? DEFAULT_LIMITS.maxAmplification;
  return readings.flatMap(({ radius, sustained, sustainedPath }, index): RuleFinding[] => {
    // 1.1 · 1.1 is a little more than 1.21.
    if (sustained <= limit * (1 + 1e-9)) return [];
    // One hop alone is no product: where it has no budget, that is told at its call.
    if (maxAmplification === undefined && radius < 2) return [];
    return [
      {
        rule: 'amplification',
        severity: maxAmplification === undefined ? 'warning' : 'error',
        call: roots[index]!.call,
        message: `the budgets on ${pathText(sustainedPath)} let through ${factor(sustained)} requests for one, for as long as the failure lasts; the limit is ${factor(limit)}`,
        hint: `a budget of ${budgetFor(limit, sustainedPath.length - 1)} % on each hop of this path stays within it; so does ownership with one budget`,
        exceedsLimit: maxAmplification !== undefined,
      },
    ];
  });
}

/** More than the default is no protection, however high the limit is. */
const HIGHEST_PERCENT = 20;

/** The largest whole percentage whose power stays within the limit. */
function budgetFor(limit: number, hopCount: number): number {
  return Math.min(HIGHEST_PERCENT, Math.floor((limit ** (1 / Math.max(1, hopCount)) - 1) * 100 + 1e-9));
}
