import type { Markup } from '../../src/simulator/report/markup.ts';

/** Something that was published, or follows from first principles, run again. */
export interface Reproduction {
  /** The section's marks in docs/storms.md and the name of its picture. */
  readonly id: string;
  run(): Finding;
}

export interface Finding {
  readonly rows: readonly Row[];
  readonly plot: Markup;
}

export interface Row {
  readonly what: string;
  readonly expected: string;
  readonly measured: string;
  readonly holds: boolean;
}

/**
 * A number that must be met.
 * @param tolerance how far off it may be, in the unit of the value
 */
export function near(what: string, expected: number, measured: number, tolerance: number, digits = 3): Row {
  return {
    what,
    expected: `${short(expected, digits)} ± ${short(tolerance, 2)}`,
    measured: short(measured, digits),
    holds: Math.abs(measured - expected) <= tolerance,
  };
}

export function exactly(what: string, expected: number | string, measured: number | string): Row {
  return { what, expected: String(expected), measured: String(measured), holds: expected === measured };
}

/** @param highest of the range, both ends included */
export function within(what: string, lowest: number, highest: number, measured: number, digits = 3): Row {
  return {
    what,
    expected: `${short(lowest, digits)} – ${short(highest, digits)}`,
    measured: short(measured, digits),
    holds: measured >= lowest && measured <= highest,
  };
}

/** Three standard errors of the share of so many independent trials. */
export function threeErrors(share: number, count: number): number {
  return 3 * Math.sqrt((share * (1 - share)) / count);
}

function short(value: number, digits: number): string {
  return value === 0 ? '0' : String(Number(value.toPrecision(digits)));
}
