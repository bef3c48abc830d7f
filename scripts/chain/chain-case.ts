import { measureChain } from '../../src/cli/chain/chain.ts';
import { FAIR_PLAN, type LinkPlan } from '../../src/cli/chain/link-plan.ts';
import { readingOf } from '../../src/cli/chain/link-reading.ts';
import type { SimulationMode } from '../../src/simulator/mode.ts';
import type { Row } from '../storms/reproduction.ts';
import { loadsOf, runText } from '../storms/run-text.ts';
import { CALIBRATION_SHARE, type ExperimentCase, type LoadRow, type Measured } from './experiment.ts';
import type { ServiceKind } from './service-kind.ts';

export interface ChainCase {
  readonly name: string;
  readonly kinds: readonly ServiceKind[];
  /** Where the plan of the service at an index is not that of fair weather. */
  readonly plan: (index: number) => Partial<LinkPlan>;
  readonly requestCount: number;
  readonly concurrency?: number;
  readonly calmCount?: number;
  /** What the first service is told of the time that its caller waits, in milliseconds. */
  readonly timeoutMs?: number;
  /** As published, by service. */
  readonly table?: readonly number[];
  /** Loads by the formula. */
  readonly formula: readonly number[];
  /** How far each may be off; default not at all, but for a part of one request. */
  readonly tolerances?: readonly number[];
  /** The same chain as a topology for the simulator. */
  readonly topology?: { readonly text: string; readonly mode?: SimulationMode };
  /** What else must have been counted. */
  readonly counts?: (measured: Measured) => readonly Row[];
}

/** A chain of services that is measured once and compared with the formula, and with the simulator. */
export function chainCase(options: ChainCase): ExperimentCase {
  const { name, kinds, plan, requestCount, concurrency, calmCount, timeoutMs, counts } = options;
  return {
    name,
    kinds,
    async measure(pool, signal) {
      const planOf = (index: number): LinkPlan => ({ ...FAIR_PLAN, ...plan(index) });
      const run = { planOf, requestCount, concurrency, calmCount, timeoutMs, signal };
      const measured = await measureChain(await pool.path(kinds, signal), run);
      return counts === undefined ? loadsAlone(measured) : measured;
    },
    judge: (measured) => ({ loads: loadRows(options, measured), rows: counts?.(measured) ?? [] }),
  };
}

/** What else is counted depends on what a service did before, and on the moment that a deadline passes. */
function loadsAlone({ readings, ...rest }: Measured): Measured {
  return { ...rest, readings: readings.map(({ servedCount }) => ({ ...readingOf(undefined), servedCount })) };
}

function loadRows({ table, formula, tolerances, topology, requestCount }: ChainCase, measured: Measured): LoadRow[] {
  const values = measured.readings.map(({ servedCount }) => servedCount / requestCount);
  // A budget lets whole requests through: with a hundred of them 1.331 times as many are 133.
  const exact = 1 / requestCount;
  const holds = formula.map((load, index) => Math.abs(values[index]! - load) <= (tolerances?.[index] ?? exact * 0.999));
  const rows: LoadRow[] = [
    { source: 'formula', values: formula, holds: formula.map(() => true) },
    { source: 'measured', values, holds },
  ];
  if (table !== undefined) rows.unshift({ source: 'table', values: table, holds: near(table, formula, 0.002) });
  if (topology === undefined) return rows;
  const simulated = loadsOf(runText(topology.text, topology.mode));
  rows.push({ source: 'simulated', values: simulated, holds: near(simulated, values, CALIBRATION_SHARE) });
  return rows;
}

/** @param share how far one may be from the other, of the other */
function near(values: readonly number[], others: readonly number[], share: number): boolean[] {
  return values.map((value, index) => Math.abs(value - others[index]!) <= share * others[index]!);
}
