const SLOT_COUNT = 10;

/**
 * A sum over the last `intervalMs`, kept in ten slots that expire one by one. Constant time and no allocation per call.
 * The slot being filled counts as one of the ten, so the window is between nine and ten slots long.
 * Instants are ≥ 0; earlier ones count as 0.
 */
export class SlidingSum {
  readonly #slotMs: number;
  readonly #slots: number[] = Array.from({ length: SLOT_COUNT }, () => 0);
  #total = 0;
  /** Number of the slot being filled, counted from instant 0. */
  #current = 0;

  constructor(intervalMs: number) {
    this.#slotMs = intervalMs / SLOT_COUNT;
  }

  total(nowMs: number): number {
    this.#expire(nowMs);
    return this.#total;
  }

  add(amount: number, nowMs: number): void {
    this.#expire(nowMs);
    this.#addTo(this.#current, amount);
  }

  /** Takes `amount` out of the slot of the instant `addedAtMs`, at most what is in it; nothing if that slot has expired. */
  takeBack(amount: number, addedAtMs: number, nowMs: number): void {
    this.#expire(nowMs);
    const slot = Math.min(this.#slotOf(addedAtMs), this.#current);
    if (slot >= 0 && slot > this.#current - SLOT_COUNT) {
      this.#addTo(slot, -Math.min(amount, this.#slots[slot % SLOT_COUNT] ?? 0));
    }
  }

  #slotOf(instantMs: number): number {
    return Math.floor(instantMs / this.#slotMs);
  }

  #addTo(slot: number, amount: number): void {
    const index = slot % SLOT_COUNT;
    this.#slots[index] = (this.#slots[index] ?? 0) + amount;
    this.#total += amount;
  }

  /** Time only moves forward here: a clock that jumped back must not bring back a window that was used up. */
  #expire(nowMs: number): void {
    const slot = this.#slotOf(nowMs);
    if (!(slot > this.#current) || slot === Infinity) return;
    const firstExpired = Math.max(this.#current, slot - SLOT_COUNT) + 1;
    for (let expired = firstExpired; expired <= slot; expired += 1) {
      const index = expired % SLOT_COUNT;
      this.#total -= this.#slots[index] ?? 0;
      this.#slots[index] = 0;
    }
    this.#current = slot;
  }
}
