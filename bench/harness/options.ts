import { parseArgs } from 'node:util';
import { type TargetName, targetNames } from '../targets/target.ts';
import type { WorkloadName } from './workload.ts';

export interface BenchOptions {
  readonly workloadNames: readonly WorkloadName[];
  readonly targetNames: readonly TargetName[];
  readonly roundCount: number;
  readonly sliceSeconds: number;
  readonly seed: number;
  /** Whether mulligan runs from its TypeScript instead of the JavaScript that the package ships. */
  readonly isSource: boolean;
  /** Where the results go as JSON; undefined writes none. */
  readonly jsonPath: string | undefined;
}

export const usage: string = `npm run bench -- [options]
  --small           128-byte bodies, 64 connections
  --large           100 KB bodies, 64 connections
  --latency         one connection; 4 000 requests a second
                    (none of the three: all of them)
  --rounds N        1 to 1000, default 8; fewer than 8 say little
  --slice Ns        length of a slice in whole seconds, 1s to 60s, default 1s
  --only A,B        ${targetNames.join(', ')}
  --source          run mulligan's TypeScript; else dist/ is built first and run, as a user would
  --seed N          order of the slices, default 1
  --json FILE       every slice and verdict, for machines`;

/** Reads the command line. Throws a RangeError or TypeError that says what is wrong with it; undefined asks for help. */
export function readOptions(parameters: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      small: { type: 'boolean', default: false },
      large: { type: 'boolean', default: false },
      latency: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '8' },
      slice: { type: 'string', default: '1s' },
      only: { type: 'string', default: targetNames.join(',') },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
      source: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const isAll = !values.small && !values.large && !values.latency;
  return {
    workloadNames: [
      ...(isAll || values.small ? (['small'] as const) : []),
      ...(isAll || values.large ? (['large'] as const) : []),
      ...(isAll || values.latency ? (['single', 'steady'] as const) : []),
    ],
    targetNames: values.only.split(',').map(toTargetName),
    roundCount: toInteger('--rounds', values.rounds, 1, 1_000),
    sliceSeconds: toInteger('--slice', values.slice.replace(/s$/, ''), 1, 60),
    seed: toInteger('--seed', values.seed, 0, 2 ** 32 - 1),
    isSource: values.source,
    jsonPath: values.json,
  };
}

function toTargetName(text: string): TargetName {
  const name = targetNames.find((candidate) => candidate === text.trim());
  if (name === undefined)
    throw new RangeError(`--only: there is no target ${JSON.stringify(text)}; there are ${targetNames.join(', ')}`);
  return name;
}

function toInteger(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text === '' || !Number.isInteger(value) || value < least || value > most)
    throw new RangeError(`${option}: ${JSON.stringify(text)} is not a whole number from ${least} to ${most}`);
  return value;
}
