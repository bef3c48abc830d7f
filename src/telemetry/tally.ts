/** Counters by name, made when they are first needed. */
export class Tally<Name extends string = string> {
  readonly #counts = new Map<Name, { count: number }>();

  add(name: Name, amount: number = 1): void {
    const cell = this.#counts.get(name);
    if (cell === undefined) this.#counts.set(name, { count: amount });
    else cell.count += amount;
  }

  *entries(): Iterable<readonly [Name, number]> {
    for (const [name, { count }] of this.#counts) yield [name, count];
  }
}
