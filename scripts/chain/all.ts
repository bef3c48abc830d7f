import type { Experiment } from './experiment.ts';
import { broken } from './experiments/broken.ts';
import { coincidence } from './experiments/coincidence.ts';
import { frameworks } from './experiments/frameworks.ts';
import { modes } from './experiments/modes.ts';
import { partial } from './experiments/partial.ts';
import { strangers } from './experiments/strangers.ts';
import { timeouts } from './experiments/timeouts.ts';

/** In the order of docs/chain-lab.md. */
export const experiments: readonly Experiment[] = [
  modes,
  broken,
  frameworks,
  strangers,
  timeouts,
  partial,
  coincidence,
];
