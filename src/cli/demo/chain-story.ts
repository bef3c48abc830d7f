import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureChain, startLinks, stopLinks } from '../chain/chain.ts';
import { FAIR_PLAN, type LinkPlan } from '../chain/link-plan.ts';

/** What one way of retrying came to. */
export interface ChainOutcome {
  readonly name: string;
  /** Requests that each service got, from the first on. */
  readonly servedCounts: readonly number[];
  readonly expectedCounts: readonly number[];
  /** Requests from outside that failed. */
  readonly failedCount: number;
  /** Calls of all services that belong to no request: the sign of a lost context. */
  readonly untrackedCallCount: number;
}

export const chainServices = ['A', 'B', 'C', 'D', 'E', 'F', 'G'] as const;
export const chainRequestCount = 20;

/** D, after E to G did their part. */
const FAILING = 3;
const LOSING = 2;

interface Mode {
  readonly name: string;
  readonly plan: Partial<LinkPlan>;
  readonly losesContext?: true;
  /** Requests to each service for one to the first. */
  readonly loads: readonly number[];
}

const modes: readonly Mode[] = [
  { name: 'each service retries once', plan: { ownership: 'observe' }, loads: [1, 2, 4, 8, 8, 8, 8] },
  {
    name: 'the same, 10 % budgets',
    plan: { ownership: 'observe', budgetPercent: 10 },
    loads: [1, 1.1, 1.2, 1.3, 1.3, 1.3, 1.3],
  },
  { name: 'ownership', plan: {}, loads: [1, 1, 1, 2, 2, 2, 2] },
  { name: 'ownership, 10 % budgets', plan: { budgetPercent: 10 }, loads: [1, 1, 1, 1.1, 1.1, 1.1, 1.1] },
  { name: 'ownership, C loses track', plan: {}, losesContext: true, loads: [1, 1, 2, 4, 4, 4, 4] },
];

/** Looks on while the chain runs. */
export interface ChainSpectator {
  starting(): void;
  measuring(name: string): void;
  measured(outcome: ChainOutcome): void;
}

/**
 * Starts seven services, lets the fourth fail, and counts what each of them gets, with each way of retrying. Leaves no process
 * and no file behind.
 * @throws Error when a service cannot be started, or the signal's reason when it aborts
 */
export async function runChain(spectator: ChainSpectator, signal: AbortSignal): Promise<readonly ChainOutcome[]> {
  spectator.starting();
  const cacheFolder = mkdtempSync(join(tmpdir(), 'mulligan-chain-'));
  try {
    const links = await startLinks(
      chainServices.map((name) => ({ name, registered: true, cacheFolder })),
      signal,
    );
    try {
      const outcomes: ChainOutcome[] = [];
      for (const { name, plan, losesContext, loads } of modes) {
        signal.throwIfAborted();
        spectator.measuring(name);
        const { readings, failedCount } = await measureChain(links, {
          planOf: (index) => ({
            ...FAIR_PLAN,
            ...plan,
            errorShare: index === FAILING ? 1 : 0,
            lostShare: losesContext === true && index === LOSING ? 1 : 0,
          }),
          requestCount: chainRequestCount,
          concurrency: 4,
          signal,
        });
        const outcome: ChainOutcome = {
          name,
          servedCounts: readings.map(({ servedCount }) => servedCount),
          expectedCounts: loads.map((load) => Math.round(load * chainRequestCount)),
          failedCount,
          untrackedCallCount: readings.reduce((sum, one) => sum + one.untrackedCallCount, 0),
        };
        outcomes.push(outcome);
        spectator.measured(outcome);
      }
      return outcomes;
    } finally {
      await stopLinks(links);
    }
  } finally {
    rmSync(cacheFolder, { recursive: true, force: true });
  }
}

/** The chain for machines. Keys are added, never renamed. */
export interface ChainReport {
  readonly services: readonly string[];
  readonly requestCount: number;
  readonly modes: readonly ChainOutcome[];
}

export function reportOfChain(outcomes: readonly ChainOutcome[]): ChainReport {
  return { services: chainServices, requestCount: chainRequestCount, modes: outcomes };
}
