/** Those who wait for a worker, in a ring: both ends cost the same whatever the length. */
export class WaitingLine<T> {
  length = 0;
  #ring: (T | undefined)[] = Array.from({ length: 16 }, () => undefined);
  #first = 0;

  push(item: T): void {
    if (this.length === this.#ring.length) this.#grow();
    this.#ring[(this.#first + this.length) & (this.#ring.length - 1)] = item;
    this.length += 1;
  }

  takeOldest(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#ring[this.#first];
    this.#ring[this.#first] = undefined;
    this.#first = (this.#first + 1) & (this.#ring.length - 1);
    this.length -= 1;
    return item;
  }

  takeNewest(): T | undefined {
    if (this.length === 0) return undefined;
    this.length -= 1;
    const place = (this.#first + this.length) & (this.#ring.length - 1);
    const item = this.#ring[place];
    this.#ring[place] = undefined;
    return item;
  }

  #grow(): void {
    const old = this.#ring;
    this.#ring = Array.from({ length: old.length * 2 }, (_, index) => old[(this.#first + index) & (old.length - 1)]);
    this.#ring.fill(undefined, old.length);
    this.#first = 0;
  }
}
