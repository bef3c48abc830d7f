import { barPlot } from '../../src/simulator/report/bar-plot.ts';
import { chainFile } from './chain-file.ts';
import { exactly, near, threeErrors, type Reproduction } from './reproduction.ts';
import { failedShareOf, loadsOf, runText } from './run-text.ts';

/** Three calls deep to a service that never answers, with ownership. */
export const timeouts: Reproduction = {
  id: 'timeouts',
  run() {
    const hanging = (limits: readonly string[], propagate: boolean): number[] => {
      const services = limits.map(
        (limit, index) =>
          `  S${index}: { operations: { get: { serviceTime: 0s, calls: [{ to: S${index + 1}, timeouts: { request: 0s, backendRequest: ${limit} } }] } } }`,
      );
      return loadsOf(
        runText(`
retryOfRetry: true
deadlines: { propagate: ${propagate} }
defaults: { retry: { attempts: 1, codes: [502, 504], on: [timeout], backoff: 1ms }, retryBudget: { kind: none } }
services:
${services.join('\n')}
  S3: { operations: { get: { serviceTime: 1ms } } }
workload: { duration: 60s, roots: [{ operation: S0, rate: 0.01, arrivals: constant, timeouts: { request: 0s, backendRequest: 0s } }] }
faults: [{ service: S3, outage: hangs }]
`),
      );
    };
    const cases = [
      { name: 'equal: 1 s, 1 s, 1 s', loads: hanging(['1s', '1s', '1s'], false), expected: [1, 2, 4, 8] },
      { name: 'nested: 9 s, 3 s, 1 s', loads: hanging(['9s', '3s', '1s'], false), expected: [1, 1, 1, 2] },
      { name: 'equal, and told onwards', loads: hanging(['1s', '1s', '1s'], true), expected: [1, 1, 1, 1] },
    ];
    return {
      rows: cases.flatMap(({ name, loads, expected }) =>
        expected.map((load, index) => exactly(`${name}: ${'ABCD'[index]!}`, load, loads[index]!)),
      ),
      plot: barPlot({
        id: 'timeouts',
        title: 'D hangs; ownership is on, one retry a call',
        unit: 'times the usual load',
        series: cases.map(({ name }) => name),
        groups: ['A', 'B', 'C', 'D'].map((name, index) => ({ name, values: cases.map(({ loads }) => loads[index]!) })),
        reference: 1,
      }),
    };
  },
};

/** The same answers for the client: what they cost when the top retries, and when the hop next to the failure does. */
export const whereToRetry: Reproduction = {
  id: 'where-to-retry',
  run() {
    const share = 0.3;
    const hops = 4;
    const run = (retries: readonly number[]): ReturnType<typeof runText> =>
      runText(chainFile({ length: hops + 1, retries, errorPercent: share * 100, rate: 500, durationS: 40 }));
    const cases = [
      { name: 'at the top', result: run([1, 0, 0, 0]), loads: [1, 1.3, 1.3, 1.3, 1.3] },
      { name: 'next to the failure', result: run([0, 0, 0, 1]), loads: [1, 1, 1, 1, 1.3] },
    ];
    return {
      rows: cases.flatMap(({ name, result, loads }) => [
        near(`${name}: failed`, share ** 2, failedShareOf(result), threeErrors(share ** 2, result.totals.requestCount)),
        ...loads.map((load, index) => near(`${name}: load of ${'ABCDE'[index]!}`, load, loadsOf(result)[index]!, 0.02)),
      ]),
      plot: barPlot({
        id: 'where-to-retry',
        title: 'E fails 30 % of its requests; one hop retries',
        unit: 'times the usual load',
        series: cases.map(({ name }) => name),
        groups: ['A', 'B', 'C', 'D', 'E'].map((name, index) => ({
          name,
          values: cases.map(({ result }) => loadsOf(result)[index]!),
        })),
        reference: 1,
      }),
    };
  },
};
