import { chainFile } from '../../storms/chain-file.ts';
import { chainCase } from '../chain-case.ts';
import type { Experiment } from '../experiment.ts';

const LAST = 4;
const failing = (index: number): { readonly errorShare: number } => ({ errorShare: index === LAST ? 1 : 0 });

/** C is written in another language, on bare sockets; E, two calls below it, fails. */
export const strangers: Experiment = {
  id: 'strangers',
  cases: [
    { name: 'C passes the claim on', kind: 'raw-passes', retryCount: 0, formula: [1, 1, 1, 1, 2], modelled: false },
    {
      name: 'C passes it on, and retries',
      kind: 'raw-passes',
      retryCount: 1,
      formula: [1, 1, 1, 2, 4],
      modelled: false,
    },
    { name: 'C drops it', kind: 'raw-drops', retryCount: 0, formula: [1, 1, 2, 2, 4], modelled: true },
    { name: 'C drops it, and retries', kind: 'raw-drops', retryCount: 1, formula: [1, 1, 2, 4, 8], modelled: true },
  ].map(({ name, kind, retryCount, formula, modelled }) =>
    chainCase({
      name,
      kinds: ['registered', 'registered', kind as 'raw-drops', 'registered', 'registered'],
      plan: (index) => ({ ...failing(index), retryCount: index === 2 ? retryCount : 1 }),
      requestCount: 25,
      concurrency: 4,
      formula,
      ...(modelled
        ? {
            topology: {
              text: chainFile({ length: 5, retries: [1, 1, retryCount, 1], participation: { 2: 'legacy' } }),
            },
          }
        : {}),
    }),
  ),
};
