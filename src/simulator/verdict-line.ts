import type { NodeResult, SimulationResult } from './result.ts';
import { formatMs, formatNumber, formatPercent } from './text-table.ts';

/** Less than this is the scatter of arrivals. */
const NOTABLE_LOAD = 1.08;

/** What became of a run in one line of plain words: how far load grew and where, whether it recovered, who was answered. */
export function verdictLine(result: SimulationResult): string {
  const { totals, simulatedMs, durationMs } = result;
  const parts = [amplificationOf(result), recoveryOf(result), `${formatPercent(totals.successRatio)} answered`];
  const early = simulatedMs < durationMs ? 'so far: ' : '';
  return `${early}${parts.filter((part) => part !== '').join('; ')}`;
}

/** The operation whose load grew most; `undefined` when none grew by more than arrivals scatter. */
export function mostAmplified({ nodes }: SimulationResult): NodeResult | undefined {
  const most = nodes.reduce((highest, { peakLoad }) => Math.max(highest, peakLoad), 0);
  if (most < NOTABLE_LOAD) return undefined;
  // What lies below it has the same load, give or take some requests: the first is where it begins.
  return nodes.find(({ peakLoad }) => peakLoad >= most * 0.98);
}

function amplificationOf(result: SimulationResult): string {
  const worst = mostAmplified(result);
  return worst === undefined
    ? 'no amplification'
    : `amplification ${formatNumber(worst.peakLoad)}x at ${worst.operation}`;
}

function recoveryOf({ recovery, faults, simulatedMs }: SimulationResult): string {
  if (recovery === undefined) {
    const begun = faults.filter(({ isMissed }) => !isMissed);
    return begun.some(({ untilMs }) => untilMs >= simulatedMs) ? 'the fault lasts to the end' : '';
  }
  const { afterMs, faultsEndedAtMs, lastSuccessRatio } = recovery;
  if (afterMs === 0) return 'recovers as soon as the fault ends';
  if (afterMs !== undefined) return `recovers ${formatMs(afterMs)} after the fault`;
  const since = formatMs(simulatedMs - faultsEndedAtMs);
  return `never recovers: ${since} after the fault ${formatPercent(lastSuccessRatio)} are answered`;
}
