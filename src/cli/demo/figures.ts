import { hash } from 'node:crypto';
import type { StopReason } from '../../core/decision.ts';
import type { Answer } from './client.ts';
import type { Arrival } from './journal.ts';
import type { RequestSpec } from './scenario.ts';
import type { RequestOutcome } from './traffic.ts';

/** What became of a set of requests on one of the two ways; counted from what clients got and what servers saw. */
export interface WayFigures {
  /** Clients that got a 2xx. */
  readonly successCount: number;
  /** Successes per request, 0 to 1. */
  readonly successRatio: number;
  /** Requests that arrived at servers. */
  readonly serverCount: number;
  /** Arrivals at servers per request of a client. */
  readonly amplification: number;
  /** POSTs without Idempotency-Key that arrived more than once: always 0 with mulligan. */
  readonly unkeyedPostsSeenTwice: number;
  /** Arrivals whose body or Idempotency-Key differs from what the client sent. */
  readonly alteredCount: number;
}

/** Figures of a set of requests on both ways. */
export interface Figures {
  readonly requestCount: number;
  readonly unkeyedPostCount: number;
  /** Straight to the servers, no retry. */
  readonly without: WayFigures;
  readonly with: WayFigures & {
    /** Sends beyond the first, by the gateway's records. */
    readonly retryCount: number;
  };
}

interface Way {
  readonly spec: RequestSpec;
  readonly answer: Answer;
  readonly arrivals: readonly Arrival[];
}

export function figuresOf(outcomes: readonly RequestOutcome[]): Figures {
  const wayOf = (pick: 'direct' | 'gateway'): Way[] =>
    outcomes.map(({ spec, [pick]: { answer, arrivals } }) => ({ spec, answer, arrivals }));
  return {
    requestCount: outcomes.length,
    unkeyedPostCount: count(outcomes, ({ spec }) => isUnkeyedPost(spec)),
    without: wayFigures(wayOf('direct')),
    with: {
      ...wayFigures(wayOf('gateway')),
      retryCount: sum(outcomes, ({ gateway }) => gateway.record.retryAttempts),
    },
  };
}

function wayFigures(ways: readonly Way[]): WayFigures {
  const successCount = count(ways, ({ answer }) => isSuccess(answer));
  const serverCount = sum(ways, ({ arrivals }) => arrivals.length);
  return {
    successCount,
    successRatio: ratio(successCount, ways.length),
    serverCount,
    amplification: ratio(serverCount, ways.length),
    unkeyedPostsSeenTwice: count(ways, ({ spec, arrivals }) => isUnkeyedPost(spec) && arrivals.length > 1),
    alteredCount: sum(ways, ({ spec, arrivals }) => {
      const bodyHash = hash('sha256', spec.body ?? '');
      return count(arrivals, (arrival) => arrival.key !== spec.key || arrival.bodyHash !== bodyHash);
    }),
  };
}

/** Every stop reason that occurred, with its count, the most frequent one first. */
export function stopReasonCounts(outcomes: readonly RequestOutcome[]): readonly (readonly [StopReason, number])[] {
  const counts = new Map<StopReason, number>();
  for (const { gateway } of outcomes) {
    const { reason } = gateway.record;
    if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1]);
}

export function isSuccess({ status }: Answer): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

function isUnkeyedPost({ method, key }: RequestSpec): boolean {
  return method === 'POST' && key === undefined;
}

function count<Item>(items: readonly Item[], matches: (item: Item) => boolean): number {
  return items.filter(matches).length;
}

function sum<Item>(items: readonly Item[], numberOf: (item: Item) => number): number {
  return items.reduce((total, item) => total + numberOf(item), 0);
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 1000) / 1000;
}
