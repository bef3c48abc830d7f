import type { LinkReading } from '../../src/cli/chain/link-plan.ts';
import type { Row } from '../storms/reproduction.ts';
import type { ServiceKind } from './service-kind.ts';
import type { ServicePool } from './service-pool.ts';

/** Chains that show one thing, and a section of docs/chain-lab.md. */
export interface Experiment {
  readonly id: string;
  readonly cases: readonly ExperimentCase[];
}

export interface ExperimentCase {
  /** Unique in its experiment. */
  readonly name: string;
  readonly kinds: readonly ServiceKind[];
  measure(pool: ServicePool, signal: AbortSignal): Promise<Measured>;
  /** What the numbers must be, and whether they are. Runs no services. */
  judge(measured: Measured): Judgement;
}

/** What was counted; nothing but counts, so that the same run can be compared to the last digit. */
export interface Measured {
  readonly requestCount: number;
  readonly failedCount: number;
  /** By service, from the first on. */
  readonly readings: readonly LinkReading[];
}

export interface Judgement {
  /** The load of each service: requests that it got for one at the first. */
  readonly loads: readonly LoadRow[];
  /** What else was counted. */
  readonly rows: readonly Row[];
}

export interface LoadRow {
  /** `table`: as the published design has it; `formula`; `measured`; `simulated`. */
  readonly source: 'table' | 'formula' | 'measured' | 'simulated';
  readonly values: readonly number[];
  readonly holds: readonly boolean[];
}

/** How far a simulated load may be from the measured one. */
export const CALIBRATION_SHARE = 0.05;

export function isMet({ loads, rows }: Judgement): boolean {
  return loads.every(({ holds }) => holds.every(Boolean)) && rows.every(({ holds }) => holds);
}
