/** Calls that wait, in their order, while a host is still thinking about the one before. */
export class HeldCalls {
  #waiting: (() => void)[] | undefined;

  get isHolding(): boolean {
    return this.#waiting !== undefined;
  }

  hold(): void {
    this.#waiting ??= [];
  }

  /** Makes the call now, or behind those that wait. */
  make(call: () => void): void {
    if (this.#waiting === undefined) call();
    else this.#waiting.push(call);
  }

  /** Gives back what waited; nothing is held from now on. */
  release(): readonly (() => void)[] {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    return waiting;
  }
}
