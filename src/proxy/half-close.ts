import { performance } from 'node:perf_hooks';

/** Milliseconds that the process may have slept between a request's end and the FIN that still belongs to it. */
const HALF_CLOSE_MS = 2;

const { nodeTiming } = performance;

/** To be taken when a request was read to its end, and handed to `isHalfClose` when a FIN comes. */
export function requestEndMark(): number {
  return nodeTiming.idleTime;
}

/**
 * A FIN that comes with the request's last bytes is a client that has said everything and still reads. A later one is
 * a client that left: on the wire both look the same.
 *
 * Time is counted only while the event loop slept. While it works, a FIN may long be there and not yet be read.
 */
export function isHalfClose(mark: number): boolean {
  return nodeTiming.idleTime - mark <= HALF_CLOSE_MS;
}
