import type { StopReason } from '../core/decision.ts';
import type { ErrorClaim } from '../core/ownership/error-claim.ts';
import type { WrongClaims } from './wrong-claims.ts';

/** One edge: an inbound operation, and an operation that is called for it. */
export interface EdgeMetrics {
  /** `none` for calls that belong to no inbound request. */
  readonly inbound: string;
  readonly callee: string;
  /** Logical calls that ended. */
  readonly callCount: number;
  /** Of these, the ones that failed by somebody else than this service. */
  readonly failedCount: number;
  /** Attempts of an answer that failed, by what the callee claimed; `untrusted` and `garbled` ones were not believed. */
  readonly claimsIn: Readonly<Record<'owned' | 'relayed' | 'absent' | 'untrusted' | 'garbled', number>>;
  readonly retryCount: number;
  /** Retries that were not made, by the reason. */
  readonly suppressed: Readonly<Partial<Record<StopReason, number>>>;
  /** Retries that were made although the callee relayed its error: `observe`, or a loop that nobody here can stop. */
  readonly unsuppressedCount: number;
  /** Calls whose suppressed retry was let through, to see. */
  readonly probeCount: number;
  /** Of these, the ones that succeeded: a claim was wrong, or fortune turned. */
  readonly missedRetryCount: number;
  /** Believed claims that are likely wrong. A callee with many of them does not take part as it should. */
  readonly wrongClaims: WrongClaims;
}

/** One inbound operation. */
export interface OperationMetrics {
  readonly inbound: string;
  readonly requestCount: number;
  readonly errorCount: number;
  /** Errors by what was claimed; `kept` ones are owned and came from below. They count also where nobody is told. */
  readonly claimsOut: Readonly<Record<'owned' | 'kept' | 'relayed', number>>;
  /** Errors claimed as its own by an operation that usually makes calls, and of which none was seen: a context was lost. */
  readonly lowCount: number;
  /** Refused because there was no time to answer. */
  readonly expiredCount: number;
  /**
   * The most retries above one request, and layers of them from here on, within the last two minutes: an own layer that
   * retried, and one below for a callee that relayed. What a callee's callees retried and it did not tell of is not in it.
   */
  readonly stormRadius: number;
}

export interface ServiceMetrics {
  readonly edges: readonly EdgeMetrics[];
  readonly operations: readonly OperationMetrics[];
  /** Calls that belong to no inbound request: of jobs of its own, or of a request whose context was lost. */
  readonly untrackedCallCount: number;
  /** Hooks that failed, by name; the application went on. */
  readonly hookFaults: Readonly<Record<string, number>>;
}

type Open<Type> = {
  -readonly [Name in keyof Type]: Type[Name] extends object
    ? { -readonly [Key in keyof Type[Name]]: Type[Name][Key] }
    : Type[Name];
};

export type EdgeCounters = Open<EdgeMetrics>;

export interface OperationCounters extends Open<Omit<OperationMetrics, 'stormRadius'>> {
  /** Requests for which a call was seen. */
  callingCount: number;
  /** By minute; the one before the last is forgotten. */
  minute: number;
  radius: number;
  radiusBefore: number;
  /** Requests of this minute in which no call failed. */
  calmCount: number;
}

/** Series beyond this go into one called `other`: names of operations come from strangers. */
const MAX_SERIES_COUNT = 1000;
const OTHER = 'other';

/** What a service counts, readable at any time. */
export class Counters {
  readonly #edges = new Map<string, Map<string, EdgeCounters>>();
  readonly #operations = new Map<string, OperationCounters>();
  readonly #hookFaults = new Map<string, number>();
  #edgeCount = 0;
  untrackedCallCount = 0;

  edge(inbound: string, callee: string): EdgeCounters {
    const known = this.#edges.get(inbound)?.get(callee);
    if (known !== undefined) return known;
    if (this.#edgeCount >= MAX_SERIES_COUNT && inbound !== OTHER) return this.edge(OTHER, OTHER);
    const counters: EdgeCounters = {
      inbound,
      callee,
      callCount: 0,
      failedCount: 0,
      claimsIn: { owned: 0, relayed: 0, absent: 0, untrusted: 0, garbled: 0 },
      retryCount: 0,
      suppressed: {},
      unsuppressedCount: 0,
      probeCount: 0,
      missedRetryCount: 0,
      wrongClaims: { contradictory: 0, doubted: 0, retryHelped: 0 },
    };
    const ofInbound = this.#edges.get(inbound) ?? new Map<string, EdgeCounters>();
    this.#edges.set(inbound, ofInbound.set(callee, counters));
    this.#edgeCount += 1;
    return counters;
  }

  operation(inbound: string): OperationCounters {
    const known = this.#operations.get(inbound);
    if (known !== undefined) return known;
    if (this.#operations.size >= MAX_SERIES_COUNT && inbound !== OTHER) return this.operation(OTHER);
    const counters: OperationCounters = {
      inbound,
      requestCount: 0,
      errorCount: 0,
      claimsOut: { owned: 0, kept: 0, relayed: 0 },
      lowCount: 0,
      expiredCount: 0,
      callingCount: 0,
      minute: 0,
      radius: 0,
      radiusBefore: 0,
      calmCount: 0,
    };
    this.#operations.set(inbound, counters);
    return counters;
  }

  countHookFault(hook: string): number {
    const count = (this.#hookFaults.get(hook) ?? 0) + 1;
    this.#hookFaults.set(hook, count);
    return count;
  }

  read(nowMs: number): ServiceMetrics {
    const edges = [...this.#edges.values()].flatMap((ofInbound) => Array.from(ofInbound.values()));
    return {
      edges: edges.map((edge) => structuredClone(edge)),
      operations: Array.from(this.#operations.values(), (counters) => {
        turnMinute(counters, nowMs);
        const { inbound, requestCount, errorCount, claimsOut, lowCount, expiredCount, radius, radiusBefore } = counters;
        const stormRadius = Math.max(radius, radiusBefore);
        return { inbound, requestCount, errorCount, claimsOut: { ...claimsOut }, lowCount, expiredCount, stormRadius };
      }),
      untrackedCallCount: this.untrackedCallCount,
      hookFaults: Object.fromEntries(this.#hookFaults),
    };
  }
}

/** Takes in how many layers of retries one request had. */
export function countRadius(counters: OperationCounters, layerCount: number, nowMs: number): void {
  turnMinute(counters, nowMs);
  if (layerCount > counters.radius) counters.radius = layerCount;
}

/** @returns how many requests of this minute had no call that failed, this one included */
export function countCalm(counters: OperationCounters, nowMs: number): number {
  turnMinute(counters, nowMs);
  counters.calmCount += 1;
  return counters.calmCount;
}

function turnMinute(counters: OperationCounters, nowMs: number): void {
  const minute = Math.floor(nowMs / 60_000);
  if (minute <= counters.minute) return;
  counters.radiusBefore = minute === counters.minute + 1 ? counters.radius : 0;
  counters.radius = 0;
  counters.calmCount = 0;
  counters.minute = minute;
}

export function countClaimOut({ claimsOut }: OperationCounters, { claim, kept }: ErrorClaim): void {
  claimsOut[claim === 'owned' && kept ? 'kept' : claim] += 1;
}
