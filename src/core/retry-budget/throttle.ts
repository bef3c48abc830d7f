import type { RetryBudget, ThrottleBudgetOptions } from '../retry-budget.ts';
import { requireWholeNumber } from '../require-whole-number.ts';

/** One token, in thousandths: A6 keeps three digits after the point. */
const TOKEN = 1000;
const DEFAULT_MAX_TOKENS = 10;
const DEFAULT_TOKEN_RATIO = 0.1;

/**
 * gRPC's retry throttling (proposal A6): each failure costs a token, each success brings a part of one, and retries
 * stop at half of the maximum. It counts failures, not retries, so that it also stops a server's failing without any.
 */
export function createThrottleBudget(options: ThrottleBudgetOptions): RetryBudget {
  const maxTokens = options.maxTokens ?? DEFAULT_MAX_TOKENS;
  const tokenRatio = options.tokenRatio ?? DEFAULT_TOKEN_RATIO;
  requireWholeNumber('retry budget', 'maxTokens', maxTokens, 1, 1000);
  const successUnits = thousandths(tokenRatio);
  if (!(successUnits >= 1 && successUnits <= 1000 * TOKEN)) {
    throw new RangeError(`retry budget: tokenRatio is ${String(tokenRatio)}; give a number from 0.001 to 1000`);
  }
  return new ThrottleBudget(maxTokens * TOKEN, successUnits);
}

/** Three digits, the rest dropped; by way of the decimal text, for 0.029 × 1000 is 28.999…96 in binary. */
function thousandths(ratio: number): number {
  return Math.floor(Number((ratio * TOKEN).toFixed(6)));
}

class ThrottleBudget implements RetryBudget {
  readonly kind = 'throttle';
  readonly #maxUnits: number;
  readonly #successUnits: number;
  #units: number;

  constructor(maxUnits: number, successUnits: number) {
    this.#maxUnits = maxUnits;
    this.#successUnits = successUnits;
    this.#units = maxUnits;
  }

  deposit(): void {}

  /** Takes nothing: the failure that a retry may end in is what costs. */
  withdraw(): boolean {
    return this.#units > this.#maxUnits / 2;
  }

  refund(): void {}

  /** A6: hedges stop where retries do. */
  withdrawHedge(): boolean {
    return this.withdraw();
  }

  refundHedge(): void {}

  record(success: boolean): void {
    this.#units = success
      ? Math.min(this.#maxUnits, this.#units + this.#successUnits)
      : Math.max(0, this.#units - TOKEN);
  }

  balance(): number {
    return Math.max(0, Math.ceil((this.#units - this.#maxUnits / 2) / TOKEN));
  }
}
