import type { Timer } from './clock.ts';

/** A slot holds the timers due at its tick and at every later turn of the wheel; 512 ticks of 10 ms are one turn. */
const slotCount = 512;
const tickMs = 10;

/** Longest sleep of the host's timer in milliseconds; a longer one would wrap and fire at once. */
export const maxHostDelayMs: number = 2 ** 31 - 1;

/** A member of a circular list. Sentinels are links too, so that unlinking needs no special case. */
class Link {
  next: Link = this;
  previous: Link = this;

  insertBefore(other: Link): void {
    this.previous = other.previous;
    this.next = other;
    other.previous.next = this;
    other.previous = this;
  }

  unlink(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.next = this;
    this.previous = this;
  }
}

class WheelTimer extends Link implements Timer {
  readonly dueTick: number;
  readonly #wheel: TimerWheel;
  fire: (() => void) | undefined;
  holdsProcess = true;

  constructor(wheel: TimerWheel, dueTick: number, fire: () => void) {
    super();
    this.#wheel = wheel;
    this.dueTick = dueTick;
    this.fire = fire;
  }

  cancel(): void {
    if (this.fire !== undefined) this.#wheel.remove(this);
  }

  unref(): void {
    if (this.fire !== undefined && this.holdsProcess) {
      this.holdsProcess = false;
      this.#wheel.releaseProcess();
    }
  }
}

/**
 * A hashed timer wheel (Varghese and Lauck): set and cancel cost a few pointer writes, however many timers there are.
 * It sleeps until the next occupied slot, so an idle process is not woken a hundred times a second.
 */
export class TimerWheel {
  readonly #nowMs: () => number;
  readonly #originMs: number;
  readonly #slots: Link[] = Array.from({ length: slotCount }, () => new Link());
  /** Timers taken out of their slot whose turn to fire has come. */
  readonly #due = new Link();
  /** Every slot up to and including this tick has been visited. */
  #visitedTick = 0;
  #timerCount = 0;
  #holdingCount = 0;
  #wakeTick = Infinity;
  #wake: NodeJS.Timeout | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#originMs = nowMs();
  }

  /** Timers that are set and have neither fired nor been cancelled. */
  get size(): number {
    return this.#timerCount;
  }

  /** `delayMs` ≥ 0 and finite. */
  add(delayMs: number, fire: () => void): Timer {
    const elapsedMs = this.#nowMs() - this.#originMs;
    if (this.#timerCount === 0) this.#visitedTick = Math.floor(elapsedMs / tickMs);
    const dueTick = Math.max(Math.ceil((elapsedMs + delayMs) / tickMs), this.#visitedTick + 1);
    const timer = new WheelTimer(this, dueTick, fire);
    timer.insertBefore(this.#slotOf(dueTick));
    this.#timerCount += 1;
    this.#holdingCount += 1;
    if (dueTick < this.#wakeTick) this.#sleepUntil(dueTick, elapsedMs);
    else if (this.#holdingCount === 1) this.#wake?.ref();
    return timer;
  }

  remove(timer: WheelTimer): void {
    timer.unlink();
    timer.fire = undefined;
    this.#timerCount -= 1;
    if (timer.holdsProcess) this.releaseProcess();
    if (this.#timerCount === 0) this.#stop();
  }

  releaseProcess(): void {
    this.#holdingCount -= 1;
    if (this.#holdingCount === 0) this.#wake?.unref();
  }

  #slotOf(tick: number): Link {
    return this.#slots[tick % slotCount] as Link;
  }

  #stop(): void {
    clearTimeout(this.#wake);
    this.#wake = undefined;
    this.#wakeTick = Infinity;
  }

  #sleepUntil(tick: number, elapsedMs: number): void {
    clearTimeout(this.#wake);
    this.#wakeTick = Math.min(tick, this.#visitedTick + slotCount);
    const delayMs = Math.max(1, Math.ceil(this.#wakeTick * tickMs - elapsedMs));
    this.#wake = setTimeout(this.#onWake, Math.min(delayMs, maxHostDelayMs));
    if (this.#holdingCount === 0) this.#wake.unref();
  }

  /** Fires what is due by now. The wheel does so by itself; a test that owns the time may hurry it. */
  turn(): void {
    this.#collectDue(Math.floor((this.#nowMs() - this.#originMs) / tickMs));
    try {
      while (this.#due.next !== this.#due) {
        const timer = this.#due.next as WheelTimer;
        const { fire } = timer;
        this.remove(timer);
        fire?.();
      }
    } finally {
      // Also after a callback threw: the timers behind it must not be lost with it.
      if (this.#timerCount > 0) this.#sleepUntilNext();
    }
  }

  readonly #onWake = (): void => {
    this.#wake = undefined;
    this.#wakeTick = Infinity;
    this.turn();
  };

  #collectDue(nowTick: number): void {
    const first = Math.max(this.#visitedTick + 1, nowTick - slotCount + 1);
    for (let tick = first; tick <= nowTick; tick += 1) {
      const slot = this.#slotOf(tick);
      for (let link = slot.next; link !== slot;) {
        const timer = link as WheelTimer;
        link = link.next;
        if (timer.dueTick <= nowTick) {
          timer.unlink();
          timer.insertBefore(this.#due);
        }
      }
    }
    this.#visitedTick = Math.max(this.#visitedTick, nowTick);
  }

  #sleepUntilNext(): void {
    const elapsedMs = this.#nowMs() - this.#originMs;
    let tick = this.#visitedTick + 1;
    if (this.#due.next === this.#due) {
      const last = this.#visitedTick + slotCount;
      while (tick < last && this.#slotOf(tick).next === this.#slotOf(tick)) tick += 1;
    }
    if (tick < this.#wakeTick) this.#sleepUntil(tick, elapsedMs);
  }
}
