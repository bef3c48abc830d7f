import type { RetryBudgetOptions } from '../retry-budget.ts';
import type { RetryPolicy } from '../retry-policy.ts';

/** Another system's retry behaviour as data: what it does, without the faults it has been reported for. */
export interface Preset {
  readonly retry: RetryPolicy;
  readonly budget: RetryBudgetOptions;
}
