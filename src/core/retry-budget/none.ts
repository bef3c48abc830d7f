import type { RetryBudget } from '../retry-budget.ts';

/** Grants everything. For tests and for callers that bound retries elsewhere. */
export const NO_RETRY_BUDGET: RetryBudget = Object.freeze({
  kind: 'none',
  deposit: () => {},
  withdraw: () => true,
  refund: () => {},
  withdrawHedge: () => true,
  refundHedge: () => {},
  record: () => {},
  balance: () => Infinity,
});
