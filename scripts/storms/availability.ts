import { attribute } from '../../src/core/ownership/attribute.ts';
import type { EdgeClass, Outbound } from '../../src/core/ownership/outbound.ts';
import { Random } from '../../src/simulator/random.ts';
import { barPlot } from '../../src/simulator/report/bar-plot.ts';
import { chainFile } from './chain-file.ts';
import { exactly, near, threeErrors, type Reproduction } from './reproduction.ts';
import { failedShareOf, loadsOf, runText } from './run-text.ts';

/** Independent errors, one retry within a budget of 10 %: e' = e − min(e, B)·(1 − e). */
export const budgetAvailability: Reproduction = {
  id: 'budget-availability',
  run() {
    const found = [0.1, 1, 5, 10, 20, 30].map((errorPercent) => {
      const error = errorPercent / 100;
      const result = runText(
        chainFile({ length: 2, errorPercent, budgetPercent: 10, budgetIntervalS: 10, rate: 1000, durationS: 60 }),
      );
      const expected = error - Math.min(error, 0.1) * (1 - error);
      return { errorPercent, expected, measured: failedShareOf(result), count: result.totals.requestCount };
    });
    return {
      rows: found.map(({ errorPercent, expected, measured, count }) =>
        near(
          `${100 - errorPercent} % available: then %`,
          100 * (1 - expected),
          100 * (1 - measured),
          // Where errors are as many as the budget allows, half of the time there are more than that.
          100 * (threeErrors(expected, count) + (errorPercent === 10 ? 0.004 : 0.0005)),
          6,
        ),
      ),
      plot: barPlot({
        id: 'budget-availability',
        title: 'Errors before and after one retry within 10 %',
        unit: '% of requests that fail',
        series: ['without retries', 'measured', 'formula'],
        groups: found.map(({ errorPercent, expected, measured }) => ({
          name: `${errorPercent} % errors`,
          values: [errorPercent, 100 * measured, 100 * expected],
        })),
      }),
    };
  },
};

/** A share p fails: what retries on every hop buy, and what they cost, against one hop. */
export const partialFailure: Reproduction = {
  id: 'partial-failure',
  run() {
    const found = [0.1, 0.3, 0.5].flatMap((share) =>
      [1, 2, 3].map((hops) => {
        const text = chainFile({ length: hops + 1, errorPercent: share * 100, rate: 500, durationS: 40 });
        const all = runText(text, 'retries');
        const one = runText(text);
        return { share, hops, all, one, count: all.totals.requestCount };
      }),
    );
    return {
      rows: found.flatMap(({ share, hops, all, one, count }) => {
        const left = share ** (2 ** hops);
        const name = `p = ${share}, ${hops} hops`;
        const load = (1 - left) / (1 - share);
        return [
          near(`${name}, all retry: load`, load, loadsOf(all).at(-1)!, 0.03 * load),
          near(`${name}, all retry: failed`, left, failedShareOf(all), threeErrors(left, count) + 1e-4),
          near(`${name}, ownership: load`, 1 + share, loadsOf(one).at(-1)!, 0.03),
          near(`${name}, ownership: failed`, share ** 2, failedShareOf(one), threeErrors(share ** 2, count) + 1e-4),
        ];
      }),
      plot: barPlot({
        id: 'partial-failure',
        title: 'Load of a service of which a share p of the answers fails',
        unit: 'times the usual load',
        series: ['every hop retries', 'ownership'],
        groups: found.map(({ share, hops, all, one }) => ({
          name: `p = ${share}, ${hops} hops`,
          values: [loadsOf(all).at(-1)!, loadsOf(one).at(-1)!],
        })),
        reference: 1,
      }),
    };
  },
};

/**
 * A service fails by itself in 10 of 100 requests while calls that it can do without fail by coincidence. Each of its own
 * errors that is blamed on such a call is a retry that its caller does not make.
 */
export const coincidence: Reproduction = {
  id: 'coincidence',
  run() {
    const found = [0.02, 0.1].flatMap((share) =>
      [1, 2].map((calls) => ({
        share,
        calls,
        blamed: wronglyRelayed(share, calls, 'unknown'),
        known: wronglyRelayed(share, calls, 'fail-open'),
      })),
    );
    return {
      rows: found.flatMap(({ share, calls, blamed, known }) => {
        const expected = 10 * (1 - (1 - share) ** calls);
        const name = `${calls} ${calls === 1 ? 'call' : 'calls'} failing at ${share * 100} %`;
        return [
          near(`${name}: of 10 own errors given away`, expected, blamed, 10 * threeErrors(expected / 10, TRIALS)),
          exactly(`${name}, known to be dispensable`, 0, known),
        ];
      }),
      plot: barPlot({
        id: 'coincidence',
        title: 'Own errors that a coincidence gives away',
        unit: 'of ten',
        series: ['all failed calls are blamed', 'a memory of failures knows better'],
        groups: found.map(({ share, calls, blamed, known }) => ({
          name: `${calls} at ${share * 100} %`,
          values: [blamed, known],
        })),
      }),
    };
  },
};

const TRIALS = 40_000;

/** Of ten own errors, those that `attribute` of core takes for somebody else's. */
function wronglyRelayed(share: number, callCount: number, edge: EdgeClass): number {
  const random = new Random(1, 1);
  let relayed = 0;
  for (let trial = 0; trial < TRIALS; trial += 1) {
    const failed: Outbound[] = [];
    for (let call = 0; call < callCount; call += 1) {
      if (random.next() >= share) continue;
      const ending = { atMs: 1, outcomeClass: 'server', handled: true, claim: undefined, effect: undefined } as const;
      failed.push({ operation: `c${call}`, edge, startedAtMs: 0, ending, covered: false, causal: false });
    }
    const answer = {
      outcomeClass: 'server',
      atMs: 2,
      committed: false,
      deadlinePassed: false,
      keyed: false,
      blameUnknown: true,
      own: undefined,
    } as const;
    if (attribute(answer, failed)?.claim.claim === 'relayed') relayed += 1;
  }
  return (10 * relayed) / TRIALS;
}
