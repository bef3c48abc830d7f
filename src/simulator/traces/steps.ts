import type { CallStatistics, OperationStatistics } from './statistics.ts';

/** The calls of an operation in the order in which they begin; those of a step are under way at the same time, mostly. */
export function stepsOf({ calls }: OperationStatistics): CallStatistics[][] {
  const ordered = [...calls.values()].toSorted((a, b) => a.offsetUs / a.callCount - b.offsetUs / b.callCount);
  const steps: CallStatistics[][] = [];
  for (const call of ordered) {
    const step = steps.at(-1);
    if (step?.some((other) => isMostlyTogether(other, call)) === true) step.push(call);
    else steps.push([call]);
  }
  return steps;
}

function isMostlyTogether(one: CallStatistics, other: CallStatistics): boolean {
  return (one.together.get(other.to) ?? 0) > 0.5 * Math.min(one.callCount, other.callCount);
}
