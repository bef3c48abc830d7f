/** A small seeded generator (xorshift32): the same seed gives the same cases on every machine. */
export interface Random {
  /** 0 ≤ n < limit. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

export function createRandom(seed: number): Random {
  // Consecutive seeds must not give related streams; zero would stay zero for ever.
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0 || 1;
  function next(): number {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  }
  for (let i = 0; i < 8; i++) next();
  return {
    below: (limit) => next() % limit,
    chance: (probability) => next() / 2 ** 32 < probability,
    pick: (choices) => choices[next() % choices.length]!,
  };
}
