import { performance } from 'node:perf_hooks';

/** Milliseconds that the process may have slept between a request's end and the FIN that still belongs to it. */
const HALF_CLOSE_MS = 2;
/** After so much time of any kind a FIN is a client's leaving: a process that never sleeps would miss it otherwise. */
const LEFT_AFTER_MS = 100;

const { nodeTiming } = performance;

/**
 * When a request was read to its end.
 *
 * A FIN that comes with the request's last bytes is a client that has said everything and still reads. A later one is
 * a client that left: on the wire both look the same.
 *
 * Time is counted while the event loop slept: while it works, a FIN may long be there and not yet be read.
 */
export class RequestEnd {
  #idleMs = 0;
  #nowMs = 0;

  /** @param nowMs Of the clock that `isHalfClose` is asked with. */
  reached(nowMs: number): void {
    this.#idleMs = nodeTiming.idleTime;
    this.#nowMs = nowMs;
  }

  /** Whether a FIN that is read now belongs to the request. */
  isHalfClose(nowMs: number): boolean {
    return nodeTiming.idleTime - this.#idleMs <= HALF_CLOSE_MS && nowMs - this.#nowMs <= LEFT_AFTER_MS;
  }
}
