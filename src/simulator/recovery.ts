import type { RecoveryResult } from './result.ts';

/** So much of the usual share of answered requests is good enough. */
const GOOD_ENOUGH = 0.95;
/** It must hold for so long, or to the end of the run. */
const HOLDS_FOR_MS = 5000;

export interface GoodputSeries {
  readonly intervalMs: number;
  readonly requests: readonly number[];
  readonly answered: readonly number[];
}

/**
 * When goodput was back after the last fault: the beginning of the first five seconds after it in which requests were
 * answered at 95 % of the usual share of arrivals.
 * @param faults those that began within the run
 * @returns `undefined` when there was none, or when no interval begins after the last one: then nothing can be told
 */
export function recoveryOf(
  faults: readonly { readonly fromMs: number; readonly untilMs: number }[],
  goodput: GoodputSeries,
): RecoveryResult | undefined {
  const { intervalMs, requests, answered } = goodput;
  const faultsEndedAtMs = Math.max(...faults.map(({ untilMs }) => untilMs));
  if (faults.length === 0) return undefined;
  const firstAfter = Math.ceil(faultsEndedAtMs / intervalMs);
  if (firstAfter >= requests.length) return undefined;
  const firstFault = Math.floor(Math.min(...faults.map(({ fromMs }) => fromMs)) / intervalMs);
  const usualSuccessRatio = Math.min(1, ratio(goodput, 0, firstFault));
  const width = Math.max(1, Math.ceil(HOLDS_FOR_MS / intervalMs));
  const lastSuccessRatio = Math.min(1, ratio(goodput, Math.max(0, requests.length - width), requests.length));
  const known = { faultsEndedAtMs, usualSuccessRatio, lastSuccessRatio };
  for (let first = firstAfter; first < requests.length; first += 1) {
    const last = Math.min(first + width, requests.length);
    // What is answered in an interval came in it or a little before: a window is never exact at its ends.
    if (ratio(goodput, first, last) < GOOD_ENOUGH * usualSuccessRatio) continue;
    if (requests[first]! > 0 && answered[first]! < requests[first]! / 2) continue;
    return { ...known, afterMs: Math.max(0, first * intervalMs - faultsEndedAtMs) };
  }
  return { ...known, afterMs: undefined };
}

function ratio({ requests, answered }: GoodputSeries, first: number, last: number): number {
  const arrivals = sum(requests, first, last);
  return arrivals === 0 ? 1 : sum(answered, first, last) / arrivals;
}

function sum(counts: readonly number[], first: number, last: number): number {
  let total = 0;
  for (let index = first; index < last; index += 1) total += counts[index]!;
  return total;
}
