import type { RequestMeter } from './request-meter.ts';

/** Error ownership as it was counted on one edge. */
export interface EdgeReading {
  readonly route: string;
  readonly upstream: string;
  readonly claimsIn: Readonly<Record<string, number>>;
  readonly claimsOut: Readonly<Record<string, number>>;
  readonly retryCount: number;
  readonly suppressed: Readonly<Record<string, number>>;
  readonly suspects: Readonly<Record<string, number>>;
  readonly unsuppressedCount: number;
  readonly probeCount: number;
  readonly missedRetryCount: number;
  readonly expiredCount: number;
  /** Within two minutes. */
  readonly stormRadius: number;
}

/** The edges that requests went over, by route and upstream. @param nowMs Monotonic milliseconds. */
export function readEdges(meter: RequestMeter, nowMs: number): EdgeReading[] {
  return Array.from(meter.routes())
    .filter(({ route, upstream }) => route !== '' && upstream !== '')
    .map(({ route, upstream, ownership, chargedRetryCount, freeRetryCount }) => ({
      route,
      upstream,
      claimsIn: Object.fromEntries(ownership.claimsIn.entries()),
      claimsOut: Object.fromEntries(ownership.claimsOut.entries()),
      retryCount: chargedRetryCount + freeRetryCount,
      suppressed: Object.fromEntries(ownership.suppressed.entries()),
      suspects: Object.fromEntries(ownership.suspects.entries()),
      unsuppressedCount: ownership.unsuppressedCount,
      probeCount: ownership.probeCount,
      missedRetryCount: ownership.missedRetryCount,
      expiredCount: ownership.expiredCount,
      stormRadius: ownership.stormRadius(nowMs),
    }));
}
