import { setTimeout as sleep } from 'node:timers/promises';
import type { Field, Target } from '../targets/field.ts';
import type { TargetName } from '../targets/target.ts';
import { type LoadResult, runLoad } from './load.ts';
import { readMachineUsage } from './machine-usage.ts';
import { readFinishedChildrenNanos, readProcessUsage } from './process-usage.ts';
import type { Surroundings } from './private-network.ts';
import { shuffle } from './shuffle.ts';
import type { Workload } from './workload.ts';
import type { Workspace } from './workspace.ts';

/** One target under one workload for one slice of time. */
export interface Slice extends LoadResult {
  readonly target: TargetName;
  /** 1-based; slices are compared only within their round. */
  readonly round: number;
  /** CPU time of the target's process tree for each answer, in microseconds. */
  readonly cpuMicros: number;
  /** Resident memory of the target's process tree after the slice, in bytes. */
  readonly rssBytes: number;
  /** Cores that something other than this bench kept busy meanwhile. */
  readonly strangerCores: number;
  /** Cores that the host gave to other virtual machines meanwhile. */
  readonly stolenCores: number;
  /** Measured again because strangers were too busy, this many times. */
  readonly rerunCount: number;
}

export interface MeasureOptions {
  readonly workspace: Workspace;
  readonly surroundings: Surroundings;
  readonly field: Field;
  readonly roundCount: number;
  readonly sliceSeconds: number;
  readonly seed: number;
  /** Told before each slice. */
  readonly onProgress: (text: string) => void;
}

/** Above this many cores of strangers' work a slice is measured again, and flagged when that does not help. */
export const strangerCoresLimit = 0.3;
const maxReruns = 2;
/** Long enough for V8 to compile the hot path of a Node target and for every pool to fill. */
const warmUpSeconds = 5;

/** Warms every target up, then gives each one slice a round, in a new order each round. */
export async function measureWorkload(workload: Workload, options: MeasureOptions): Promise<Slice[]> {
  const { field, roundCount, sliceSeconds, seed } = options;
  for (const target of shuffle(field.targets, seed)) {
    options.onProgress(`${workload.name}: warming up ${target.name}`);
    await runSlice(workload, target, options, warmUpSeconds);
  }
  const slices: Slice[] = [];
  for (let round = 1; round <= roundCount; round++) {
    for (const target of shuffle(field.targets, seed + round)) {
      options.onProgress(`${workload.name}: round ${round} of ${roundCount}, ${target.name}`);
      let slice = await measureSlice(workload, target, options, sliceSeconds);
      for (let rerun = 1; rerun <= maxReruns && slice.strangerCores > strangerCoresLimit; rerun++) {
        slice = { ...(await measureSlice(workload, target, options, sliceSeconds)), rerunCount: rerun };
      }
      if (slice.requestCount === 0)
        throw new Error(`${target.name} answered nothing in round ${round} of ${workload.name}`);
      slices.push({ ...slice, round });
    }
  }
  return slices;
}

async function measureSlice(
  workload: Workload,
  target: Target,
  options: MeasureOptions,
  seconds: number,
): Promise<Slice> {
  const before = takeReading(target, options.field);
  const load = await runSlice(workload, target, options, seconds);
  // Closing the load's connections is work that belongs to the slice.
  await sleep(30);
  const after = takeReading(target, options.field);
  target.service.assertAlive();

  const elapsedNanos = after.atNanos - before.atNanos;
  const strangerNanos = after.busyNanos - before.busyNanos - (after.ownNanos - before.ownNanos);
  return {
    ...load,
    target: target.name,
    round: 0,
    cpuMicros: (after.targetNanos - before.targetNanos) / 1_000 / load.requestCount,
    rssBytes: after.rssBytes,
    strangerCores: Math.max(0, strangerNanos / elapsedNanos),
    stolenCores: (after.stolenNanos - before.stolenNanos) / elapsedNanos,
    rerunCount: 0,
  };
}

interface Reading {
  readonly atNanos: number;
  readonly targetNanos: number;
  readonly rssBytes: number;
  /** The whole machine's. */
  readonly busyNanos: number;
  readonly stolenNanos: number;
  /** The bench's: target, origin, load generators and this process. */
  readonly ownNanos: number;
}

function takeReading(target: Target, field: Field): Reading {
  const atNanos = performance.now() * 1e6;
  const machine = readMachineUsage();
  const { user, system } = process.cpuUsage();
  const { cpuNanos, rssBytes } = readProcessUsage(target.service.pid);
  const ownNanos =
    cpuNanos + readProcessUsage(field.origin.pid).cpuNanos + readFinishedChildrenNanos() + (user + system) * 1_000;
  return { atNanos, targetNanos: cpuNanos, rssBytes, ...machine, ownNanos };
}

async function runSlice(
  workload: Workload,
  target: Target,
  options: MeasureOptions,
  seconds: number,
): Promise<LoadResult> {
  try {
    return await runLoad({
      workspace: options.workspace,
      core: options.surroundings.loadCore,
      port: target.port,
      workload,
      seconds,
    });
  } catch (error) {
    // Why the target ended tells more than that the load could not reach it.
    target.service.assertAlive();
    throw new Error(`${target.name}, ${workload.name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
