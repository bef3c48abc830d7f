/**
 * A new list with the same items in an order that the seed alone decides (Fisher-Yates on mulberry32), so that a run
 * with a surprising result can be repeated in the same order.
 */
export function shuffle<T>(items: readonly T[], seed: number): T[] {
  const shuffled = [...items];
  let state = seed >>> 0;
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const moved = shuffled[last] as T;
    shuffled[last] = shuffled[other] as T;
    shuffled[other] = moved;
  }
  return shuffled;
}
