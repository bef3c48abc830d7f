import { chainFile } from '../../storms/chain-file.ts';
import { near, threeErrors } from '../../storms/reproduction.ts';
import { arrivalSpread } from '../arrival-spread.ts';
import { chainCase } from '../chain-case.ts';
import type { Experiment, ExperimentCase } from '../experiment.ts';

const REQUEST_COUNT = 1000;
/** Where hardly any request fails, one more or less is no error of any size. */
const ONE_REQUEST = 1 / REQUEST_COUNT;

/** A share of the last service's requests fails, by chance. */
export const partial: Experiment = {
  id: 'partial',
  cases: [
    ...[0.3, 0.5].flatMap((share) => [
      partialCase(`${share * 100} % fail, retries everywhere`, 'plain', share, [true, true, true]),
      // Claims let the call next to the failure alone be retried.
      partialCase(`${share * 100} % fail, ownership`, 'registered', share, [false, false, true]),
    ]),
    ...[0.05, 0.2, 0.3].map((share) => {
      const left = share - Math.min(share, 0.1) * (1 - share);
      return chainCase({
        name: `${share * 100} % fail, one call, 10 % budget`,
        kinds: ['plain', 'plain'],
        plan: (index) => ({ errorShare: index === 1 ? share : 0, budgetPercent: 10, seed: 7 }),
        requestCount: REQUEST_COUNT,
        formula: [1, 1 + Math.min(share, 0.1)],
        tolerances: [0, share < 0.1 ? threeErrors(share, REQUEST_COUNT) : 0.005],
        topology: {
          text: chainFile({ length: 2, errorPercent: share * 100, budgetPercent: 10, budgetIntervalS: 10, rate: 1000 }),
        },
        counts: ({ failedCount }) => [
          near(
            `${share * 100} % fail, one call, 10 % budget: failed at the top`,
            left,
            failedCount / REQUEST_COUNT,
            threeErrors(left, REQUEST_COUNT) + ONE_REQUEST,
          ),
        ],
      });
    }),
  ],
};

function partialCase(
  name: string,
  kind: 'plain' | 'registered',
  share: number,
  retrying: readonly boolean[],
): ExperimentCase {
  const spreads = [0, 1, 2, 3].map((depth) => arrivalSpread(retrying, share, depth));
  const left = share ** (2 ** retrying.filter(Boolean).length);
  return chainCase({
    name,
    kinds: [kind, kind, kind, kind],
    plan: (index) => ({ errorShare: index === 3 ? share : 0, seed: 7 }),
    requestCount: REQUEST_COUNT,
    formula: spreads.map(({ mean }) => mean),
    tolerances: spreads.map(({ deviation }) => (3 * deviation) / Math.sqrt(REQUEST_COUNT) + 1e-9),
    topology: {
      text: chainFile({ length: 4, errorPercent: share * 100, rate: 500, durationS: 40 }),
      mode: kind === 'plain' ? 'retries' : 'file',
    },
    counts: ({ failedCount }) => [
      near(
        `${name}: failed at the top`,
        left,
        failedCount / REQUEST_COUNT,
        threeErrors(left, REQUEST_COUNT) + ONE_REQUEST,
      ),
    ],
  });
}
