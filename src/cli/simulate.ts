import { readFileSync } from 'node:fs';
import { formatFault } from '../config/fault.ts';
import { readDuration } from '../config/quantity.ts';
import { suggest } from '../config/nearest-name.ts';
import { formatResults } from '../simulator/format-results.ts';
import { isSimulationMode, SIMULATION_MODES, type SimulationMode } from '../simulator/mode.ts';
import { readTopology } from '../simulator/read-topology.ts';
import type { SimulationResult } from '../simulator/result.ts';
import { createSimulation, type Simulation } from '../simulator/simulation.ts';
import type { Topology } from '../simulator/topology.ts';
import { exitCode, UsageError } from './exit-code.ts';

export interface SimulateOptions {
  readonly seed?: string | undefined;
  readonly duration?: string | undefined;
  readonly mode?: string | undefined;
  readonly compare?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Between two looks at the world outside: some hundredths of a second. */
const EVENTS_A_TURN = 50_000;
const PROGRESS_EVERY_MS = 200;

/**
 * Runs the topology of a file, once or once a mode, and prints what came out. Ctrl-C ends the run under way and prints
 * what there is.
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
  const topology = loadTopology(path);
  if (topology === undefined) return exitCode.usage;
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
      await runToEnd(simulation, `${mode} ${results.length + 1}/${modes.length}`, interrupt);
      results.push(simulation.result());
    }
  } finally {
    process.off('SIGINT', onSignal);
  }
  print(options.json === true ? `${JSON.stringify({ file: path, results })}\n` : formatResults(results));
  return exitCode.fine;
}

/** Says what is wrong on standard error, warnings too. */
function loadTopology(path: string): Topology | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const why: Readonly<Record<string, string>> = {
      ENOENT: 'there is no such file',
      EISDIR: 'it is a directory',
      EACCES: 'it may not be read',
    };
    process.stderr.write(`${path}:1:1 cannot be read: ${why[code] ?? String(error)}\n`);
    return undefined;
  }
  const reading = readTopology(text, path);
  const faults = reading.ok ? reading.warnings : reading.faults;
  for (const fault of faults) process.stderr.write(`${formatFault(fault)}\n`);
  return reading.ok ? reading.topology : undefined;
}

async function runToEnd(simulation: Simulation, title: string, interrupt: { asked: boolean }): Promise<void> {
  const startedAtMs = performance.now();
  let shownAtMs = startedAtMs;
  while (!simulation.advance(EVENTS_A_TURN) && !interrupt.asked) {
    // Signals are told between two turns only.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    const nowMs = performance.now();
    if (process.stderr.isTTY && nowMs - shownAtMs >= PROGRESS_EVERY_MS) {
      shownAtMs = nowMs;
      process.stderr.write(`\r\u001b[K${progressLine(simulation, title, nowMs - startedAtMs)}`);
    }
  }
  if (shownAtMs !== startedAtMs) process.stderr.write('\r\u001b[K');
}

function progressLine({ nowMs, durationMs, hopCount }: Simulation, title: string, spentMs: number): string {
  const share = nowMs / durationMs;
  const filled = Math.round(share * 30);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(30 - filled)}`;
  const leftSeconds = share > 0 ? Math.ceil((spentMs * (1 / share - 1)) / 1000) : 0;
  return `${title} ${bar} ${Math.floor(share * 100)} %, ${hopCount} hops, ${leftSeconds} s left`;
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
