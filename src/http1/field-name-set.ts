import { isNamed } from './field-list.ts';

/**
 * A set of field names, asked with names in any case. Almost every field of a message is in no set: a name is told apart
 * by its length and first letter, without a lower-case copy of it.
 */
export class FieldNameSet {
  /** Names of each length. */
  readonly #byLength: (readonly string[] | undefined)[] = [];

  /** @param names Lower-case. */
  constructor(names: readonly string[]) {
    for (const name of names) {
      while (this.#byLength.length <= name.length) this.#byLength.push(undefined);
      this.#byLength[name.length] = [...(this.#byLength[name.length] ?? []), name];
    }
  }

  has(name: string): boolean {
    const candidates = name.length < this.#byLength.length ? this.#byLength[name.length] : undefined;
    if (candidates === undefined) return false;
    for (const candidate of candidates) if (isNamed(name, candidate)) return true;
    return false;
  }
}
