import { formatFault } from '../../src/config/fault.ts';
import type { SimulationMode } from '../../src/simulator/mode.ts';
import { readTopology } from '../../src/simulator/read-topology.ts';
import type { PlotLine } from '../../src/simulator/report/line-plot.ts';
import type { SimulationResult } from '../../src/simulator/result.ts';
import { simulate } from '../../src/simulator/simulation.ts';

/** Runs the text of a topology file. @throws when it has a fault */
export function runText(text: string, mode: SimulationMode = 'file', seed?: number): SimulationResult {
  const reading = readTopology(text, 'storm.yaml');
  if (!reading.ok) throw new Error(reading.faults.map(formatFault).join('\n'));
  return simulate(reading.topology, { mode, seed });
}

export function loadsOf({ nodes }: SimulationResult): number[] {
  return nodes.map(({ load }) => load);
}

/** The share of requests from outside that failed. */
export function failedShareOf({ totals }: SimulationResult): number {
  return 1 - totals.successRatio;
}

/** Goodput, or the arrivals at an operation, a second. */
export function rateLine(name: string, style: number, result: SimulationResult, node?: number): PlotLine {
  const counts = node === undefined ? result.series.answered : result.nodes[node]!.series.arrived;
  return { name, style, values: counts.map((count) => (count * 1000) / result.intervalMs) };
}

/** Arrivals a second at an operation between two times. */
export function rateBetween(result: SimulationResult, node: number, fromMs: number, untilMs: number): number {
  const { intervalMs, nodes } = result;
  const counts = nodes[node]!.series.arrived.slice(fromMs / intervalMs, untilMs / intervalMs);
  return (counts.reduce((sum, count) => sum + count, 0) * 1000) / (counts.length * intervalMs);
}
