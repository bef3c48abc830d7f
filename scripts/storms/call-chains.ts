import { barPlot } from '../../src/simulator/report/bar-plot.ts';
import { chainFile } from './chain-file.ts';
import { exactly, near, type Reproduction } from './reproduction.ts';
import { loadsOf, runText } from './run-text.ts';

const NODES = ['A', 'B', 'C', 'D', 'E', 'F', 'G'];

/** Seven services, the fourth fails: retries everywhere, limited by lineage, by budgets, by ownership. */
export const chainLoads: Reproduction = {
  id: 'chain-loads',
  run() {
    const one = chainFile({ length: 7, failing: 3 });
    const many = chainFile({ length: 7, failing: 3, budgetPercent: 10, rate: 200, durationS: 30 });
    const cases = [
      { name: 'retries', loads: loadsOf(runText(one, 'retries')), expected: [1, 2, 4, 8, 8, 8, 8] },
      { name: 'lineage', loads: loadsOf(runText(one, 'lineage')), expected: [1, 2, 3, 4, 4, 4, 4] },
      {
        name: '10 % budgets',
        loads: loadsOf(runText(many, 'budget')),
        expected: [0, 1, 2, 3, 3, 3, 3].map((hops) => 1.1 ** hops),
        tolerance: 0.03,
      },
      {
        name: 'ownership, 10 %',
        loads: loadsOf(runText(many, 'ownership')),
        expected: [1, 1, 1, 1.1, 1.1, 1.1, 1.1],
        tolerance: 0.03,
      },
    ];
    return {
      rows: cases.flatMap(({ name, loads, expected, tolerance }) =>
        expected.map((load, index) =>
          tolerance === undefined
            ? exactly(`${name}: ${NODES[index]!}`, load, loads[index]!)
            : near(`${name}: ${NODES[index]!}`, load, loads[index]!, tolerance * load),
        ),
      ),
      plot: barPlot({
        id: 'chain-loads',
        title: 'D fails: load of each service',
        unit: 'times the load without failures',
        series: cases.map(({ name }) => name),
        groups: NODES.map((name, index) => ({ name, values: cases.map(({ loads }) => loads[index]!) })),
        reference: 1,
      }),
    };
  },
};

/** Budgets alone in deep chains: what a real outage was spared. */
export const deepBudgets: Reproduction = {
  id: 'deep-budgets',
  run() {
    const depths = [4, 5, 6, 7, 8, 9];
    const found = depths.map((depth) => {
      const text = chainFile({ length: depth + 1, budgetPercent: 10, rate: 200, durationS: 20 });
      const extra = (mode: 'budget' | 'ownership'): number => (loadsOf(runText(text, mode)).at(-1)! - 1) * 100;
      return { depth, budget: extra('budget'), ownership: extra('ownership') };
    });
    return {
      rows: found.flatMap(({ depth, budget, ownership }) => [
        near(`budgets, ${depth} calls deep: extra load in %`, (1.1 ** depth - 1) * 100, budget, 3 * 1.1 ** depth),
        near(`ownership and budget, ${depth} calls deep`, 10, ownership, 1),
      ]),
      plot: barPlot({
        id: 'deep-budgets',
        title: 'Extra load on a failing service by its depth',
        unit: '% of the usual load',
        series: ['10 % budgets everywhere', 'ownership and 10 %'],
        groups: found.map(({ depth, budget, ownership }) => ({
          name: `${depth} calls deep`,
          values: [budget, ownership],
        })),
      }),
    };
  },
};

/** Services that lose the context of a request, or do not take part: each lets one more layer retry. */
export const brokenContext: Reproduction = {
  id: 'broken-context',
  run() {
    const lost = (count: number): Readonly<Record<number, 'context-broken'>> =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [5 - index, 'context-broken']));
    const loads = [0, 1, 2, 3, 4].map((count) =>
      loadsOf(runText(chainFile({ length: 7, participation: lost(count) }))).at(-1)!,
    );
    const all = loadsOf(runText(chainFile({ length: 7 }), 'retries')).at(-1)!;
    const one = loadsOf(runText(chainFile({ length: 4, participation: { 2: 'context-broken' } })));
    const five = loadsOf(runText(chainFile({ length: 9, participation: { 7: 'context-broken' } }))).at(-1)!;
    const fiveAll = loadsOf(runText(chainFile({ length: 9 }), 'retries')).at(-1)!;
    return {
      rows: [
        ...['B', 'C', 'D'].map((name, index) =>
          exactly(`C lost its context: ${name}`, [1, 2, 4][index]!, one[index + 1]!),
        ),
        ...loads.map((load, count) => exactly(`six calls, ${count} services without context`, 2 ** (1 + count), load)),
        exactly('six calls, retries everywhere', 64, all),
        exactly(
          'eight calls, one without context: how many times fewer than with retries everywhere',
          2 ** 6,
          fiveAll / five,
        ),
      ],
      plot: barPlot({
        id: 'broken-context',
        title: 'Load of the failing service, six calls deep',
        unit: 'times the usual load; one retry a call',
        series: ['load'],
        groups: [
          ...loads.map((load, count) => ({ name: `${count} without context`, values: [load] })),
          { name: 'nobody takes part', values: [all] },
        ],
      }),
    };
  },
};

/** Layers multiply: what others have written down. */
export const layers: Reproduction = {
  id: 'layers',
  run() {
    const cases = [
      { name: 'five layers of three', retries: [2, 2, 2, 2, 2], expected: 243, owned: 3 },
      { name: 'three layers of four', retries: [3, 3, 3], expected: 64, owned: 4 },
      { name: 'four around three', retries: [3, 2], expected: 12, owned: 3 },
      { name: 'four boxes of three', retries: [2, 2, 2, 2], expected: 81, owned: 3 },
    ].map(({ name, retries, expected, owned }) => {
      const text = chainFile({ length: retries.length + 1, retries });
      return {
        name,
        expected,
        owned,
        everywhere: loadsOf(runText(text, 'retries')).at(-1)!,
        next: loadsOf(runText(text)).at(-1)!,
      };
    });
    return {
      rows: cases.flatMap(({ name, expected, owned, everywhere, next }) => [
        exactly(name, expected, everywhere),
        exactly(`${name}, with ownership`, owned, next),
      ]),
      plot: barPlot({
        id: 'layers',
        title: 'Requests to the last service for one request',
        unit: 'requests',
        series: ['retries everywhere', 'ownership'],
        groups: cases.map(({ name, everywhere, next }) => ({ name, values: [everywhere, next] })),
      }),
    };
  },
};
