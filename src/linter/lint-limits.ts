/** What a person allows. What is left out is the default, whose excess is a warning only. */
export interface LintLimits {
  /** Retrying hops on one call path, a whole number ≥ 0. Default 1. */
  readonly maxRadius?: number | undefined;
  /** Requests at a failing service for one at the root, in the long run, ≥ 1. Default 2. */
  readonly maxAmplification?: number | undefined;
}

export const DEFAULT_LIMITS: { readonly maxRadius: number; readonly maxAmplification: number } = {
  maxRadius: 1,
  maxAmplification: 2,
};
