import { requireWholeNumber } from '../require-whole-number.ts';

/** What one owning edge may spend for its whole path. */
export interface PathAllowance {
  /** Retries as a share of first attempts, 0–`MAX_SHARE`. */
  readonly share: number;
  /** Retries of one request. */
  readonly maxRetries: number;
}

/** No path is so long that its one retrying edge may add more load than this. */
const MAX_SHARE = 1;

/**
 * Where only one hop of a path retries, the others' budgets lie idle, and errors that are independent of each other are
 * made good less often than with a budget on every hop. The one that retries may therefore spend what all of them could
 * have spent together, (1 + B)ⁿ − 1, with up to two retries of a request, at no more load than before.
 *
 * @param budgetShare B, the budget of one hop as a share of first attempts, 0–1: 0.1 for 10 %
 * @param hopCount n, the hops on the path that would each have had that budget, 1–99; 1 changes nothing
 * @param maxRetries what the edge's own policy allows
 * @throws RangeError for a share or a count out of range
 */
export function pathAllowance(budgetShare: number, hopCount: number, maxRetries: number): PathAllowance {
  if (!(budgetShare >= 0 && budgetShare <= 1)) {
    throw new RangeError(`path allowance: budgetShare is ${String(budgetShare)}; give a share from 0 to 1`);
  }
  requireWholeNumber('path allowance', 'hopCount', hopCount, 1, 99);
  requireWholeNumber('path allowance', 'maxRetries', maxRetries, 0, 1000);
  if (hopCount === 1) return { share: budgetShare, maxRetries };
  return {
    share: Math.min((1 + budgetShare) ** hopCount - 1, MAX_SHARE),
    maxRetries: maxRetries === 0 ? 0 : Math.max(maxRetries, 2),
  };
}
