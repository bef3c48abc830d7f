import { writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { suggest } from '../config/nearest-name.ts';
import { readDuration } from '../config/quantity.ts';
import { formatResults } from '../simulator/format-results.ts';
import { isSimulationMode, SIMULATION_MODES, type SimulationMode } from '../simulator/mode.ts';
import { htmlReport } from '../simulator/report/html-report.ts';
import type { SimulationResult } from '../simulator/result.ts';
import { createSimulation } from '../simulator/simulation.ts';
import { exitCode, UsageError } from './exit-code.ts';
import { runWithProgress } from './simulation-progress.ts';
import { inputFormatOf } from './input-format.ts';
import { loadSource } from './topology-source.ts';

export interface SimulateOptions {
  readonly seed?: string | undefined;
  readonly duration?: string | undefined;
  readonly mode?: string | undefined;
  readonly compare?: string | undefined;
  readonly json?: boolean | undefined;
  /** What the file is; left out: told by its content. */
  readonly input?: string | undefined;
  /** Where the page goes. */
  readonly report?: string | undefined;
}

/**
 * Runs the topology of a file, once or once a mode, and prints what came out. Ctrl-C ends the run under way and prints
 * what there is, marked as a part.
 * @param print Gets what came out.
 * @returns the exit code
 */
export async function simulateFile(
  path: string,
  options: SimulateOptions,
  print: (text: string) => void = (text) => void process.stdout.write(text),
): Promise<number> {
  const modes = modesOf(options);
  const seed = seedOf(options.seed);
  const durationMs = durationOf(options.duration);
  const source = loadSource(path, inputFormatOf(options.input));
  if (source === undefined) return exitCode.usage;
  const { topology, assumptions } = source;
  for (const assumption of assumptions) process.stderr.write(`assumed: ${assumption}\n`);
  if (options.report !== undefined) requireWritable(options.report, path);
  const interrupt = { asked: false };
  const onSignal = (): void => {
    interrupt.asked = true;
  };
  process.once('SIGINT', onSignal);
  const results: SimulationResult[] = [];
  try {
    for (const mode of modes) {
      if (interrupt.asked) break;
      const simulation = createSimulation(topology, { mode, seed, durationMs });
      await runWithProgress(simulation, `${mode} ${results.length + 1}/${modes.length}`, interrupt);
      results.push(simulation.result());
    }
  } finally {
    process.off('SIGINT', onSignal);
  }
  const notRun = modes.slice(results.length);
  const partial = notRun.length > 0 || results.some((result) => result.simulatedMs < result.durationMs);
  if (options.json === true) print(`${JSON.stringify({ file: path, assumptions, partial, notRun, results })}\n`);
  else print(formatResults(results));
  if (notRun.length > 0) process.stderr.write(`ended early: ${notRun.join(', ')} not run\n`);
  if (options.report !== undefined) {
    writeFileSync(options.report, htmlReport(results, { title: basename(path), notRun, assumptions }));
    process.stderr.write(`report: ${options.report}\n`);
  }
  return partial ? exitCode.interrupted : exitCode.fine;
}

/** Before the run: ten minutes of it for a path that does not exist would be lost. */
function requireWritable(path: string, topologyPath: string): void {
  if (resolve(path) === resolve(topologyPath))
    throw new UsageError(`--report ${path} would replace the topology: give another file`);
  try {
    writeFileSync(path, '', { flag: 'a' });
  } catch (error) {
    throw new UsageError(
      `--report ${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function modesOf({ mode, compare }: SimulateOptions): SimulationMode[] {
  if (mode !== undefined && compare !== undefined)
    throw new UsageError('--mode and --compare exclude each other: give one of the two');
  const words = (compare ?? mode ?? 'file').split(',').map((word) => word.trim());
  const option = compare === undefined ? '--mode' : '--compare';
  return [...new Set(words)].map((word) => {
    if (isSimulationMode(word)) return word;
    throw new UsageError(`${option}: ${word} is not a mode (${suggest(word, Object.keys(SIMULATION_MODES))})`);
  });
}

function seedOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seed = Number(text);
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(seed)) return seed;
  throw new UsageError(`--seed ${text}: give a whole number from 0`);
}

function durationOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const reading = readDuration(text);
  if (!reading.ok) throw new UsageError(`--duration: ${reading.message} (${reading.hint})`);
  if (reading.value === 0) throw new UsageError('--duration 0s: give it at least 1ms');
  return reading.value;
}
