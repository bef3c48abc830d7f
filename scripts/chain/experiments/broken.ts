import type { Participation } from '../../../src/core/ownership/call-graph.ts';
import { chainFile } from '../../storms/chain-file.ts';
import { chainCase } from '../chain-case.ts';
import type { Experiment } from '../experiment.ts';

/** Six calls deep: services that lost their context, and services that never took part. */
export const broken: Experiment = {
  id: 'broken',
  cases: [
    { name: 'all take part', lost: [], legacy: [], formula: [1, 1, 1, 1, 1, 1, 2] },
    { name: 'F loses its context', lost: [5], legacy: [], formula: [1, 1, 1, 1, 1, 2, 4] },
    { name: 'E and F do', lost: [4, 5], legacy: [], formula: [1, 1, 1, 1, 2, 4, 8] },
    { name: 'D, E and F do', lost: [3, 4, 5], legacy: [], formula: [1, 1, 1, 2, 4, 8, 16] },
    { name: 'F does not take part', lost: [], legacy: [5], formula: [1, 1, 1, 1, 1, 2, 4] },
    { name: 'E and F do not', lost: [], legacy: [4, 5], formula: [1, 1, 1, 1, 2, 4, 8] },
    { name: 'C alone does not', lost: [], legacy: [2], formula: [1, 1, 2, 4, 4, 4, 8] },
  ].map(({ name, lost, legacy, formula }: Case) =>
    chainCase({
      name,
      kinds: Array.from({ length: 7 }, (_, index) => (legacy.includes(index) ? 'plain' : 'registered')),
      plan: (index) => ({ errorShare: index === 6 ? 1 : 0, lostShare: lost.includes(index) ? 1 : 0 }),
      requestCount: 10,
      formula,
      topology: { text: chainFile({ length: 7, participation: participationOf(lost, legacy) }) },
    }),
  ),
};

interface Case {
  readonly name: string;
  readonly lost: readonly number[];
  readonly legacy: readonly number[];
  readonly formula: readonly number[];
}

function participationOf(lost: readonly number[], legacy: readonly number[]): Record<number, Participation> {
  return Object.fromEntries([
    ...lost.map((index) => [index, 'context-broken'] as const),
    ...legacy.map((index) => [index, 'legacy'] as const),
  ]);
}
