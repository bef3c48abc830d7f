/** Time for the shell, injected so that tests run on a manual clock. */
export interface Clock {
  /** Monotonic milliseconds, fractional. */
  nowMs(): number;
  /** Wall clock, milliseconds since the epoch; for records and HTTP dates only, never for windows or deadlines. */
  wallMs(): number;
  /** Calls `fire` once, not before `delayMs`; `precise` timers are exact to about 1 ms, others to one tick (10 ms) late. */
  setTimer(delayMs: number, fire: () => void, precise?: boolean): Timer;
}

/** Something that happens later, unless it is cancelled. */
export interface Timer {
  /** It will not happen. Idempotent. */
  cancel(): void;
  /** Lets the process end although this timer has not fired: for housekeeping, such as idle connections. */
  unref(): void;
}
