/** Objects that are used again and again, so that millions of requests cost as much memory as those in flight. */
export class Pool<T extends { readonly slot: number }> {
  /** By slot. */
  readonly items: T[] = [];
  readonly #free: T[] = [];
  readonly #create: (slot: number) => T;

  constructor(create: (slot: number) => T) {
    this.#create = create;
  }

  get inUseCount(): number {
    return this.items.length - this.#free.length;
  }

  take(): T {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const item = this.#create(this.items.length);
    this.items.push(item);
    return item;
  }

  give(item: T): void {
    this.#free.push(item);
  }
}
