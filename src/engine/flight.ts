import type { Failure } from '../core/failure.ts';
import type { AttemptRun } from './attempt-run.ts';
import type { Upstream } from './upstream.ts';

/** The attempts of one request that are not over. */
export class Flight {
  /** Sent, or about to be: their outcome is awaited. Mostly one; more while copies are under way. */
  readonly running: AttemptRun[] = [];
  /** Its response goes to the host. */
  deliverer: AttemptRun | undefined;
  /** Their responses were put aside and are read to their end. */
  #aside: AttemptRun[] = [];

  /** Another copy of the request is awaited. */
  get isAirborne(): boolean {
    return this.running.length > 0;
  }

  /** Its outcome is there. */
  landed(attempt: AttemptRun): void {
    const index = this.running.indexOf(attempt);
    if (index >= 0) this.running.splice(index, 1);
  }

  putAside(attempt: AttemptRun): void {
    this.#aside.push(attempt);
  }

  /** One whose response is still being read. */
  stillAside(): AttemptRun | undefined {
    this.#aside = this.#aside.filter((attempt) => !attempt.over);
    return this.#aside[0];
  }

  /** Permits of an upstream that will be given back before another attempt is sent. */
  permitsAside(upstream: Upstream): number {
    return this.#aside.filter((attempt) => attempt.holdsPermit && attempt.upstream === upstream).length;
  }

  /** Gives up the copies that were not answered first. */
  supersede(): void {
    for (const attempt of this.#takeRunning()) {
      attempt.record.superseded = true;
      attempt.abort();
    }
  }

  /**
   * The request's time, which began at `beganAtMs`, is over. It counts against an endpoint whose attempt had at least half of
   * it with the whole request in its hands; what was sent in the last moment, or waited for a slow client, says nothing.
   * `isEvidence`: the whole request is here, and the time was ours to give.
   */
  expire(failure: Failure, isEvidence: boolean, beganAtMs: number, nowMs: number): void {
    for (const attempt of this.#takeRunning()) {
      attempt.expire(failure, isEvidence && 2 * (nowMs - attempt.startedAtMs) >= nowMs - beganAtMs);
    }
    this.abort();
  }

  /** Gives up everything. */
  abort(): void {
    for (const attempt of this.#takeRunning()) attempt.abort();
    for (const attempt of this.#aside.splice(0)) attempt.abort();
    this.deliverer?.abort();
  }
  /** They end without an outcome. One that waited for its connection has sent nothing, and counts as no send. */
  #takeRunning(): AttemptRun[] {
    const attempts = this.running.splice(0);
    for (const attempt of attempts) if (attempt.bytesSent === 0) attempt.record.class = 'unsent';
    return attempts;
  }
}
