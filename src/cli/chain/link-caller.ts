import type { OwnershipMode } from '../../core/retry-policy.ts';
import { createDispatcher } from '../../client/dispatcher.ts';
import { fetch } from '../../client/fetch.ts';
import type { CallOptions } from '../../client/options.ts';
import type { LinkPlan } from './link-plan.ts';

/** How a service calls the next one. */
export interface LinkCaller {
  /** @returns the status. Throws when there is no answer. */
  call(url: string): Promise<number>;
  close(): void;
}

export type MakeCaller = (plan: LinkPlan) => LinkCaller;

/** By mulligan's client. */
export const clientCaller: MakeCaller = (plan) => {
  const timeout = { attemptMs: plan.attemptMs };
  const dispatcher = createDispatcher({ ...retryOptions(plan), timeout, proxy: 'none' });
  return {
    async call(url) {
      const response = await fetch(url, { dispatcher });
      await response.arrayBuffer();
      return response.status;
    },
    close: () => void dispatcher.destroy(),
  };
};

type RetryAndBudget = Required<Pick<CallOptions, 'budget'>> & {
  readonly retry: {
    readonly maxRetries: number;
    readonly codes: readonly number[];
    readonly on: readonly ['unsent', 'stale', 'timeout'];
    readonly backoffMs: number;
    readonly retryOfRetry: boolean;
    readonly ownership: OwnershipMode;
  };
};

/** Retries at once, for what is measured is how many there are. */
export function retryOptions({ retryCount, budgetPercent, retryOfRetry, ownership }: LinkPlan): RetryAndBudget {
  return {
    retry: {
      maxRetries: retryCount,
      codes: [500, 502, 503, 504],
      on: ['unsent', 'stale', 'timeout'],
      backoffMs: 0,
      retryOfRetry,
      ownership,
    },
    // Over an hour, without a minimum: the share of all calls, to the last one.
    budget:
      budgetPercent === undefined
        ? { kind: 'none' }
        : {
            kind: 'ratio',
            percent: budgetPercent,
            intervalMs: 3_600_000,
            minRetryRate: { count: 0, intervalMs: 1000 },
          },
  };
}
