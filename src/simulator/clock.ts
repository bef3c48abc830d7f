import type { EventQueue } from './event-queue.ts';
import type { Random } from './random.ts';

/** What an event is about; its target is the slot or index of that. */
export const EVENT = {
  /** A root's next request. */
  arrival: 0,
  /** A served request's own work is done. */
  workDone: 1,
  /** A served request is to be answered with the status that it has. */
  answer: 2,
  /** An attempt, or the whole call, may have had its time. */
  alarm: 3,
  /** A call's wait is over. */
  retry: 4,
  /** A call's attempt failed with the failure that is due. */
  failure: 5,
  /** The state of the faults changes. */
  faults: 6,
  /** An interval ends. */
  sample: 7,
} as const;

/** Time and chance, as every part of a simulation sees them. */
export interface SimulationClock {
  readonly queue: EventQueue;
  /** Service times, branches, errors. */
  readonly world: Random;
  /** Jitter and the choice of instances. */
  readonly callers: Random;
}
