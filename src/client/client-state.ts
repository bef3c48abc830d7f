import type { Clock } from '../transport/clock.ts';
import type { LiveMember } from '../transport/live-list.ts';
import type { ReplayMemory } from '../transport/body/replay-memory.ts';
import type { RequestReport } from './attempts.ts';
import type { Destination } from './origin-book.ts';
import type { CookieJar } from './request-cookies.ts';

/** A request that is under way. */
export interface RunningRequest extends LiveMember {
  readonly destination: Destination;
  /** Ends it with this error. */
  abort(reason: Error): void;
}

/** How a request ended, and all that was done for it. */
export interface RequestEnd {
  readonly method: string;
  readonly uri: string;
  /** Of the response that was delivered. */
  readonly status: number | undefined;
  /** What its sender got in place of a response, or of the rest of one. */
  readonly error: Error | undefined;
  readonly durationMs: number;
  readonly report: RequestReport;
}

/** What the requests of one client share. */
export interface ClientState {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly replayBufferBytes: number;
  readonly replayMemory: ReplayMemory;
  readonly cookies: CookieJar | undefined;
  readonly onRequestEnd: ((end: RequestEnd) => void) | undefined;
  began(request: RunningRequest): void;
  /** Its handler is about to get its last word, or got it. */
  ended(request: RunningRequest): void;
}
