import { causalPower, type CausalPower, type CoFailureTally } from './causal-power.ts';
import type { EdgeClass } from './outbound.ts';

/** What is known of one edge, and what follows from it. */
export interface DependencyReading {
  readonly tally: CoFailureTally;
  readonly power: CausalPower;
  readonly edge: EdgeClass;
}

const MINUTE_MS = 60_000;
const HALF_LIFE_MINUTES = 24 * 60;

/**
 * The most failed calls that one minute may add. It is what a clean verdict from nothing takes, so that a minute can bring
 * one, and no incident of minutes outweighs what was learned in days.
 */
const MINUTE_WEIGHT = 13;

/** Calls that did not fail, for each that did: more of them would hardly make the comparison more exact. */
const CONTROL_RATIO = 4;

/** Where a verdict begins, and how far the evidence must turn before it ends. */
const FAIL_CLOSED_FROM = 0.8;
const FAIL_OPEN_TO = 0.2;
const HYSTERESIS = 0.1;

const EMPTY: CoFailureTally = { n11: 0, n10: 0, n01: 0, n00: 0 };

/**
 * One callee of one inbound operation: how often the caller failed when this callee did, and when it did not.
 *
 * The calls that did not fail are counted only beside those that did: of the same minute, or of the last one that had any.
 * A caller that is down itself while the callee fails now and then would else be compared with its own good days, and the
 * callee found guilty.
 *
 * A verdict stands until the evidence turns against it; that it fades is no such evidence.
 */
export class DependencyEdge {
  edge: EdgeClass;
  /** As of the beginning of `#minute`. */
  #tally: CoFailureTally;
  #minute: number;
  #pending: CoFailureTally = EMPTY;
  /** The caller's calls without a failure of the callee, of the last minute without one, until they are used. */
  #calm: CoFailureTally = EMPTY;

  constructor(nowMs: number, tally: CoFailureTally = EMPTY, edge: EdgeClass = 'unknown') {
    this.#minute = minuteOf(nowMs) ?? 0;
    this.#tally = tally;
    this.edge = edge;
  }

  add(calleeFailed: boolean, callerFailed: boolean, nowMs: number): void {
    this.#turn(nowMs);
    const { n11, n10, n01, n00 } = this.#pending;
    if (calleeFailed) this.#pending = callerFailed ? { n11: n11 + 1, n10, n01, n00 } : { n11, n10: n10 + 1, n01, n00 };
    else this.#pending = callerFailed ? { n11, n10, n01: n01 + 1, n00 } : { n11, n10, n01, n00: n00 + 1 };
  }

  read(nowMs: number): DependencyReading {
    this.#turn(nowMs);
    const tally = withMinute(this.#tally, this.#pending, this.#calm);
    const power = causalPower(tally);
    this.edge = judged(this.edge, power);
    return { tally, power, edge: this.edge };
  }

  /** Time only moves forward here: a clock that jumped back must not count a minute twice. */
  #turn(nowMs: number): void {
    const minute = minuteOf(nowMs);
    if (minute === undefined || minute <= this.#minute) return;
    const { n11, n10, n01, n00 } = this.#pending;
    const tally = withMinute(this.#tally, this.#pending, this.#calm);
    this.edge = judged(this.edge, causalPower(tally));
    this.#tally = scaled(tally, 2 ** ((this.#minute - minute) / HALF_LIFE_MINUTES));
    // Once used, they are not used again: one good minute is no control for a day of bad ones.
    if (n11 + n10 > 0) this.#calm = EMPTY;
    else if (n01 + n00 > 0) this.#calm = this.#pending;
    this.#pending = EMPTY;
    this.#minute = minute;
  }
}

function minuteOf(nowMs: number): number | undefined {
  return Number.isFinite(nowMs) ? Math.floor(nowMs / MINUTE_MS) : undefined;
}

function withMinute(tally: CoFailureTally, minute: CoFailureTally, calm: CoFailureTally): CoFailureTally {
  const failedCount = minute.n11 + minute.n10;
  if (failedCount === 0) return tally;
  const weight = Math.min(failedCount, MINUTE_WEIGHT);
  const { n01, n00 } = minute.n01 + minute.n00 > 0 ? minute : calm;
  const failedScale = weight / failedCount;
  const controlScale = Math.min(1, (weight * CONTROL_RATIO) / Math.max(1, n01 + n00));
  return {
    n11: tally.n11 + minute.n11 * failedScale,
    n10: tally.n10 + minute.n10 * failedScale,
    n01: tally.n01 + n01 * controlScale,
    n00: tally.n00 + n00 * controlScale,
  };
}

export function scaled({ n11, n10, n01, n00 }: CoFailureTally, share: number): CoFailureTally {
  return { n11: n11 * share, n10: n10 * share, n01: n01 * share, n00: n00 * share };
}

/** The share of a weight that is left after so many milliseconds. */
export function fadedShare(ageMs: number): number {
  return 2 ** (-Math.max(0, ageMs) / (HALF_LIFE_MINUTES * MINUTE_MS));
}

function judged(edge: EdgeClass, { lower, upper }: CausalPower): EdgeClass {
  if (lower >= FAIL_CLOSED_FROM) return 'fail-closed';
  if (upper <= FAIL_OPEN_TO) return 'fail-open';
  if (edge === 'fail-closed' && upper >= FAIL_CLOSED_FROM - HYSTERESIS) return edge;
  if (edge === 'fail-open' && lower <= FAIL_OPEN_TO + HYSTERESIS) return edge;
  return 'unknown';
}
