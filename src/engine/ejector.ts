import type { Outlier, OutlierPolicy } from '../core/outlier-detection.ts';
import { createOutlier, mayEject } from '../core/outlier-detection.ts';
import type { Endpoint } from './endpoint.ts';

export interface EjectorEvents {
  ejected(endpoint: Endpoint, forMs: number): void;
  returned(endpoint: Endpoint): void;
}

/** Takes endpoints that keep failing out of the choice of their upstream for a while, and back into it. */
export interface Ejector {
  /** An endpoint of the upstream: counts it from now on, or goes on counting where the settings are the same. */
  adopt(endpoint: Endpoint): void;
  /** Counts an outcome. Returns whether `endpoint` is ejected by it. */
  report(endpoints: readonly Endpoint[], endpoint: Endpoint, failed: boolean, nowMs: number): boolean;
  /** Lets those back whose time is over; cheap when there is none. Returns whether any came back. */
  release(endpoints: readonly Endpoint[], nowMs: number): boolean;
}

/** @param policy `undefined`: nothing is ever ejected. */
export function createEjector(policy: OutlierPolicy | undefined, events: EjectorEvents): Ejector {
  return new PolicyEjector(policy, events);
}

class PolicyEjector implements Ejector {
  readonly #policy: OutlierPolicy | undefined;
  readonly #events: EjectorEvents;
  #nextReturnMs = Infinity;

  constructor(policy: OutlierPolicy | undefined, events: EjectorEvents) {
    this.#policy = policy;
    this.#events = events;
  }

  adopt(endpoint: Endpoint): void {
    const { outlier } = endpoint;
    if (this.#policy === undefined) {
      endpoint.outlier = undefined;
      endpoint.ejected = false;
    } else if (outlier === undefined || !isSame(outlier.policy, this.#policy)) {
      endpoint.outlier = createOutlier(this.#policy);
      endpoint.ejected = false;
    } else if (endpoint.ejected) this.#expectReturn(outlier);
  }

  report(endpoints: readonly Endpoint[], endpoint: Endpoint, failed: boolean, nowMs: number): boolean {
    const { outlier } = endpoint;
    if (outlier === undefined || this.#policy === undefined || !outlier.record(failed, nowMs)) return false;
    if (!endpoints.includes(endpoint)) return false;
    const inService = endpoints.filter(isInService);
    const isAllowed = mayEject(this.#policy, {
      endpointCount: inService.length,
      ejectedCount: inService.filter((one) => one.ejected).length,
      liveCount: inService.filter((one) => one.healthy && !one.ejected).length,
    });
    if (!isAllowed) return false;
    const forMs = outlier.eject(nowMs);
    endpoint.ejected = true;
    this.#expectReturn(outlier);
    this.#events.ejected(endpoint, forMs);
    return true;
  }

  release(endpoints: readonly Endpoint[], nowMs: number): boolean {
    if (nowMs < this.#nextReturnMs) return false;
    this.#nextReturnMs = Infinity;
    let isAnyBack = false;
    for (const endpoint of endpoints) {
      const { outlier } = endpoint;
      if (!endpoint.ejected || outlier === undefined) continue;
      if (outlier.isEjected(nowMs)) {
        this.#expectReturn(outlier);
        continue;
      }
      endpoint.ejected = false;
      isAnyBack = true;
      this.#events.returned(endpoint);
    }
    return isAnyBack;
  }

  #expectReturn(outlier: Outlier): void {
    this.#nextReturnMs = Math.min(this.#nextReturnMs, outlier.ejectedUntilMs);
  }
}

/** It takes traffic, or would if it were well. */
export function isInService(endpoint: Endpoint): boolean {
  return !endpoint.drained && endpoint.weight > 0;
}

function isSame(one: OutlierPolicy, other: OutlierPolicy): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
