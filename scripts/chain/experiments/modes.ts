import { exactly, within } from '../../storms/reproduction.ts';
import { chainFile } from '../../storms/chain-file.ts';
import { chainCase, type ChainCase } from '../chain-case.ts';
import type { Experiment } from '../experiment.ts';
import type { ServiceKind } from '../service-kind.ts';

const all = (kind: ServiceKind): ServiceKind[] => Array.from({ length: 7 }, () => kind);

/** D fails whatever it is asked, after E, F and G did their part. */
const FAILING = 3;
const failing = (index: number): { readonly errorShare: number } => ({ errorShare: index === FAILING ? 1 : 0 });

const alone = { length: 7, failing: FAILING };
const busy = { ...alone, budgetPercent: 10, rate: 200, durationS: 30 };
const [before, after] = [all('plain'), all('registered')];

const mode = (
  options: Omit<ChainCase, 'requestCount'> & { readonly requestCount?: number },
): ReturnType<typeof chainCase> => chainCase({ requestCount: 100, concurrency: 4, ...options });

/** Seven services, the fourth fails: what each of them gets for one request from outside. */
export const modes: Experiment = {
  id: 'modes',
  cases: [
    mode({
      name: 'one retry everywhere',
      kinds: before,
      plan: failing,
      table: [1, 2, 4, 8, 8, 8, 8],
      formula: [1, 2, 4, 8, 8, 8, 8],
      topology: { text: chainFile(alone), mode: 'retries' },
    }),
    mode({
      name: '10 % budget everywhere',
      kinds: before,
      plan: (index) => ({ ...failing(index), budgetPercent: 10 }),
      requestCount: 1000,
      table: [1, 1.1, 1.21, 1.33, 1.33, 1.33, 1.33],
      formula: [0, 1, 2, 3, 3, 3, 3].map((hops) => 1.1 ** hops),
      topology: { text: chainFile(busy), mode: 'budget' },
    }),
    mode({
      name: 'the same, and each is told what is a retry',
      kinds: after,
      plan: (index) => ({ ...failing(index), budgetPercent: 10, ownership: 'observe' }),
      formula: [1, 1.1, 1.2, 1.3, 1.3, 1.3, 1.3],
    }),
    mode({
      name: 'no retry of a retry',
      kinds: after,
      plan: (index) => ({ ...failing(index), retryOfRetry: false, ownership: 'observe' }),
      formula: [1, 2, 3, 4, 4, 4, 4],
      topology: { text: chainFile(alone), mode: 'lineage' },
    }),
    mode({
      name: 'ownership, only observed',
      kinds: after,
      plan: (index) => ({ ...failing(index), ownership: 'observe' }),
      formula: [1, 2, 4, 8, 8, 8, 8],
      counts: ({ readings, requestCount }) => [
        exactly('observed: retries of A that claims would have saved', requestCount, readings[0]!.disobeyedCount),
        exactly('observed: retries of B that claims would have saved', 2 * requestCount, readings[1]!.disobeyedCount),
        exactly('observed: retries of C that claims would have saved', 0, readings[2]!.disobeyedCount),
      ],
    }),
    mode({
      name: 'ownership',
      kinds: after,
      plan: failing,
      formula: [1, 1, 1, 2, 2, 2, 2],
      topology: { text: chainFile(alone) },
      counts: ({ readings, requestCount }) => [
        exactly('ownership: retries of A and B that claims took away', 2 * requestCount, obeyedCount(readings)),
        exactly(
          'ownership: retries made against a claim',
          0,
          readings.reduce((sum, one) => sum + one.disobeyedCount, 0),
        ),
        exactly(
          'ownership: hooks that failed',
          0,
          readings.reduce((sum, one) => sum + one.hookFaultCount, 0),
        ),
      ],
    }),
    mode({
      name: 'ownership and 10 % budget',
      kinds: after,
      plan: (index) => ({ ...failing(index), budgetPercent: 10 }),
      table: [1, 1, 1, 1.1, 1.1, 1.1, 1.1],
      formula: [1, 1, 1, 1.1, 1.1, 1.1, 1.1],
      topology: { text: chainFile(busy), mode: 'ownership' },
    }),
    mode({
      name: 'ownership, and C loses its context',
      kinds: after,
      plan: (index) => ({ ...failing(index), lostShare: index === 2 ? 1 : 0 }),
      calmCount: 200,
      table: [1, 1, 2, 4, 4, 4, 4],
      formula: [1, 1, 2, 4, 4, 4, 4],
      topology: { text: chainFile({ ...alone, participation: { 2: 'context-broken' } }) },
      counts: ({ readings, requestCount }) => [
        exactly('C: calls that belong to no request', 2 * requestCount, readings[2]!.untrackedCallCount),
        within('C: errors that it doubts to own', 1, 2 * requestCount, readings[2]!.doubtfulCount),
        exactly(
          'the others: calls that belong to no request',
          0,
          readings.reduce((sum, one, index) => sum + (index === 2 ? 0 : one.untrackedCallCount), 0),
        ),
      ],
    }),
  ],
};

function obeyedCount(readings: readonly { readonly obeyedCount: number }[]): number {
  return readings.reduce((sum, one) => sum + one.obeyedCount, 0);
}
