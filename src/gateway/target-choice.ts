/** Chooses among weighted targets, in turn: over every round of weights each gets exactly its share, well spread. */
export interface TargetChoice<Target> {
  /** Everything with a weight above 0, heaviest first. */
  readonly targets: readonly Target[];
  next(): Target;
}

/**
 * Smooth weighted round robin: each turn every target gains its weight, and the one that has gained most pays the whole
 * round. With 9 and 1, one of every ten requests goes to the light one, never two in a row.
 * @throws RangeError when no target has a weight above 0
 */
export function createTargetChoice<Target>(
  weighted: readonly { readonly target: Target; readonly weight: number }[],
): TargetChoice<Target> {
  const lanes = weighted
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ target, weight }) => ({ target, weight, gain: 0 }));
  const [first] = lanes;
  if (first === undefined) throw new RangeError('no target has a weight above 0');
  const round = lanes.reduce((sum, { weight }) => sum + weight, 0);
  return {
    targets: lanes.map(({ target }) => target),
    next() {
      if (lanes.length === 1) return first.target;
      let richest = first;
      for (const lane of lanes) {
        lane.gain += lane.weight;
        if (lane.gain > richest.gain) richest = lane;
      }
      richest.gain -= round;
      return richest.target;
    },
  };
}
