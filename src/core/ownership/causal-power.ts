/** Requests by whether the callee failed (first digit) and whether the caller then failed (second digit). Weights ≥ 0. */
export interface CoFailureTally {
  readonly n11: number;
  readonly n10: number;
  readonly n01: number;
  readonly n00: number;
}

/** How much of the caller's failing a callee's failure explains, 0–1: 1 always makes it fail, 0 changes nothing. */
export interface CausalPower {
  /** The estimate; `undefined` while one of the rows is empty. */
  readonly power: number | undefined;
  /** With 95 % certainty it is not below this. */
  readonly lower: number;
  /** With 95 % certainty it is not above this. */
  readonly upper: number;
}

/** 95 % of a normal distribution lie below this. One-sided, for each verdict looks at one end only. */
const Z = 1.6449;

const NOTHING_KNOWN: CausalPower = { power: undefined, lower: 0, upper: 1 };

/**
 * (Pc − P0) / (1 − P0), where Pc is how often the caller fails when the callee does and P0 how often when it does not.
 * Pc alone would take every dependency of a caller that is down itself for the reason of it.
 *
 * That is 1 − (1 − Pc) / (1 − P0), so the bounds are those of a ratio of two shares: the Wilson score intervals of both
 * (E. B. Wilson 1927), put together as the square-and-add method does for a ratio (A. Donner and G. Y. Zou 2012).
 */
export function causalPower({ n11, n10, n01, n00 }: CoFailureTally): CausalPower {
  if (!(n11 + n10 > 0) || !(n01 + n00 > 0)) return NOTHING_KNOWN;
  const got = wilson(n10, n11 + n10);
  const base = wilson(n00, n01 + n00);
  const product = got.share * base.share;
  const highest = ratioBound(product, got.share, got.upper, base.share, base.lower, 1);
  const lowest = ratioBound(product, got.share, got.lower, base.share, base.upper, -1);
  return {
    power: base.share > 0 ? clampShare(1 - got.share / base.share) : undefined,
    lower: clampShare(1 - (highest ?? Infinity)),
    upper: clampShare(1 - (lowest ?? 0)),
  };
}

interface ShareBounds {
  readonly share: number;
  readonly lower: number;
  readonly upper: number;
}

function wilson(hits: number, total: number): ShareBounds {
  const share = hits / total;
  const spread = (Z * Z) / total;
  const middle = share + spread / 2;
  const half = Z * Math.sqrt((share * (1 - share)) / total + spread / (4 * total));
  return {
    share,
    lower: clampShare((middle - half) / (1 + spread)),
    upper: clampShare((middle + half) / (1 + spread)),
  };
}

/** `undefined` where the denominator may be 0: the ratio has no bound on that side. */
function ratioBound(
  product: number,
  share: number,
  bound: number,
  baseShare: number,
  baseBound: number,
  side: 1 | -1,
): number | undefined {
  const below = baseBound * (2 * baseShare - baseBound);
  if (!(below > 0)) return undefined;
  const root = product * product - bound * (2 * share - bound) * below;
  return (product + side * Math.sqrt(Math.max(0, root))) / below;
}

function clampShare(value: number): number {
  return Math.min(1, Math.max(0, value));
}
