import type { TimeoutName } from './failure-from-error.ts';
import type { AttemptTimeouts } from './transport.ts';

/** What an exchange waits for now. */
export interface ExchangeProgress {
  /** A response's first byte, the rest of its head, or its body. */
  readonly stage: 'wait' | 'head' | 'body';
  /** The whole request was taken by the system: it is the peer's turn. */
  readonly requestIsOut: boolean;
  /** The peer does not take what we have for it. */
  readonly writeIsBlocked: boolean;
  /** Our side does not want more of the body now. */
  readonly readIsPaused: boolean;
}

export type Expiry = 'hold' | 'write-error' | { readonly timeout: TimeoutName; readonly limitMs: number };

/** After a write failed, how long the peer's last words are waited for, in milliseconds. They are here already, or never. */
const writeErrorGraceMs = 1000;

/**
 * The time limits of one exchange, as instants on the monotonic clock. Bookkeeping only: the connection's one watchdog
 * is set to whatever comes next. Neither a slow uploader nor a peer that takes a large upload steadily uses up the attempt's time.
 */
export class ExchangeTimer {
  readonly #timeouts: AttemptTimeouts;
  #stage: ExchangeProgress['stage'] = 'wait';
  #attemptAtMs = Infinity;
  #headAtMs = Infinity;
  #readAtMs = Infinity;
  #writeAtMs = Infinity;
  #holdAtMs = Infinity;
  #writeErrorAtMs = Infinity;

  constructor(timeouts: AttemptTimeouts) {
    this.#timeouts = timeouts;
  }

  /** The body is held back until the peer asks for it. */
  get isHolding(): boolean {
    return this.#holdAtMs !== Infinity;
  }

  hold(untilMs: number): void {
    this.#holdAtMs = untilMs;
  }

  releaseHold(): void {
    this.#holdAtMs = Infinity;
  }

  headBegan(nowMs: number): void {
    this.#headAtMs = nowMs + limit(this.#timeouts.headMs);
  }

  readProgress(nowMs: number): void {
    this.#readAtMs = nowMs + limit(this.#timeouts.idleMs);
  }

  writeProgress(nowMs: number): void {
    this.#writeAtMs = nowMs + limit(this.#timeouts.idleMs);
  }

  writeFailed(nowMs: number): void {
    this.#writeErrorAtMs = nowMs + writeErrorGraceMs;
  }

  /** The next instant at which something runs out. */
  deadline(nowMs: number, progress: ExchangeProgress): number {
    this.#stage = progress.stage;
    if (!progress.writeIsBlocked) this.#writeAtMs = Infinity;
    else if (this.#writeAtMs === Infinity) this.writeProgress(nowMs);
    switch (progress.stage) {
      case 'body':
        if (progress.readIsPaused) this.#readAtMs = Infinity;
        else if (this.#readAtMs === Infinity) this.readProgress(nowMs);
        return this.#readAtMs;
      case 'head':
        return Math.min(this.#headAtMs, this.#writeErrorAtMs);
      case 'wait':
        // Set once: an interim response does not give the peer more time.
        if (progress.requestIsOut && this.#attemptAtMs === Infinity)
          this.#attemptAtMs = nowMs + limit(this.#timeouts.attemptMs);
        return Math.min(this.#attemptAtMs, this.#writeAtMs, this.#holdAtMs, this.#writeErrorAtMs);
    }
  }

  /** What ran out, if anything did. */
  expired(nowMs: number): Expiry | undefined {
    const { headMs, idleMs, attemptMs } = this.#timeouts;
    if (this.#stage === 'body') return this.#readAtMs <= nowMs ? { timeout: 'read', limitMs: idleMs } : undefined;
    if (this.#writeErrorAtMs <= nowMs) return 'write-error';
    if (this.#stage === 'head') return this.#headAtMs <= nowMs ? { timeout: 'head', limitMs: headMs } : undefined;
    if (this.#writeAtMs <= nowMs) return { timeout: 'write', limitMs: idleMs };
    if (this.#attemptAtMs <= nowMs) return { timeout: 'attempt', limitMs: attemptMs };
    return this.#holdAtMs <= nowMs ? 'hold' : undefined;
  }
}

/** 0 switches a limit off. */
function limit(ms: number): number {
  return ms > 0 ? ms : Infinity;
}
