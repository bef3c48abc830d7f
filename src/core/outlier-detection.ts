import {
  FailureThreshold,
  failureLimits,
  type FailureLimits,
  type FailureThresholdOptions,
} from './failure-threshold.ts';
import { requireWholeNumber } from './require-whole-number.ts';

export interface OutlierDetectionOptions extends FailureThresholdOptions {
  /** First ejection in milliseconds, 1–3 600 000; the n-th in close succession lasts n times as long. Default 30 000. */
  readonly baseEjectionMs?: number | undefined;
  /** Longest ejection, `baseEjectionMs`–86 400 000. Default: the larger of 300 000 and `baseEjectionMs`. */
  readonly maxEjectionMs?: number | undefined;
  /** Share of the endpoints that may be ejected at the same time, whole number 0–100; 0 ejects none. Default 50. */
  readonly maxEjectionPercent?: number | undefined;
}

/** The options checked, with every default filled in. */
export interface OutlierPolicy {
  readonly limits: FailureLimits;
  readonly baseEjectionMs: number;
  readonly maxEjectionMs: number;
  readonly maxEjectionPercent: number;
}

export const DEFAULT_BASE_EJECTION_MS = 30_000;
export const DEFAULT_MAX_EJECTION_MS = 300_000;
export const DEFAULT_MAX_EJECTION_PERCENT = 50;
export const DEFAULT_OUTLIER_FAILURES = 5;
const LONGEST_MS = 86_400_000;

/**
 * Fills in the defaults. With neither `consecutiveFailures` nor `failurePercent`, five failures in a row eject.
 * @throws RangeError for a value outside its range, naming the field, the value and the range
 */
export function createOutlierPolicy(options: OutlierDetectionOptions = {}): OutlierPolicy {
  const owner = 'outlier detection';
  const baseEjectionMs = options.baseEjectionMs ?? DEFAULT_BASE_EJECTION_MS;
  const maxEjectionMs = options.maxEjectionMs ?? Math.max(DEFAULT_MAX_EJECTION_MS, baseEjectionMs);
  const maxEjectionPercent = options.maxEjectionPercent ?? DEFAULT_MAX_EJECTION_PERCENT;
  requireWholeNumber(owner, 'baseEjectionMs', baseEjectionMs, 1, 3_600_000);
  requireWholeNumber(owner, 'maxEjectionMs', maxEjectionMs, baseEjectionMs, LONGEST_MS);
  requireWholeNumber(owner, 'maxEjectionPercent', maxEjectionPercent, 0, 100);
  const consecutiveFailures =
    options.consecutiveFailures ?? (options.failurePercent === undefined ? DEFAULT_OUTLIER_FAILURES : undefined);
  return {
    limits: failureLimits(owner, { ...options, consecutiveFailures }),
    baseEjectionMs,
    maxEjectionMs,
    maxEjectionPercent,
  };
}

/** The endpoints of an upstream that take traffic (a weight above 0, not drained), at this moment. */
export interface EjectionGroup {
  readonly endpointCount: number;
  /** Of these: ejected. */
  readonly ejectedCount: number;
  /** Of these: neither ejected nor unhealthy, the one in question included. */
  readonly liveCount: number;
}

/**
 * Whether one more endpoint may be ejected: within the share (which allows one in any case, unless it is 0), and never the
 * last live one. Endpoints that are down for other reasons leave fewer live ones, not fewer endpoints.
 */
export function mayEject(policy: OutlierPolicy, group: EjectionGroup): boolean {
  if (policy.maxEjectionPercent === 0 || group.liveCount < 2) return false;
  const allowed = Math.max(1, Math.floor((group.endpointCount * policy.maxEjectionPercent) / 100));
  return group.ejectedCount < allowed;
}

/**
 * One endpoint's record of failures and its time out. It is out of the choice for `baseEjectionMs` times the number of its
 * recent ejections; each `baseEjectionMs` that it then serves without being ejected takes one off that number.
 */
export interface Outlier {
  readonly policy: OutlierPolicy;
  /**
   * The outcome of an attempt; true when it makes the endpoint one to eject. What comes while it is ejected was sent before,
   * or in a panic, and counts for nothing.
   */
  record(failed: boolean, nowMs: number): boolean;
  /** Takes it out from now on; returns for how many milliseconds. */
  eject(nowMs: number): number;
  isEjected(nowMs: number): boolean;
  /** When it comes back, or came back; 0 when it was never out. */
  readonly ejectedUntilMs: number;
}

export function createOutlier(policy: OutlierPolicy): Outlier {
  return new CountingOutlier(policy);
}

class CountingOutlier implements Outlier {
  ejectedUntilMs = 0;
  readonly policy: OutlierPolicy;
  readonly #threshold: FailureThreshold;
  #ejectionCount = 0;

  constructor(policy: OutlierPolicy) {
    this.policy = policy;
    this.#threshold = new FailureThreshold(policy.limits);
  }

  record(failed: boolean, nowMs: number): boolean {
    return !this.isEjected(nowMs) && this.#threshold.record(failed, nowMs);
  }

  eject(nowMs: number): number {
    const { baseEjectionMs, maxEjectionMs } = this.policy;
    const servedMs = Math.max(0, nowMs - this.ejectedUntilMs);
    this.#ejectionCount = Math.max(0, this.#ejectionCount - Math.floor(servedMs / baseEjectionMs)) + 1;
    const forMs = Math.min(maxEjectionMs, baseEjectionMs * this.#ejectionCount);
    this.ejectedUntilMs = nowMs + forMs;
    this.#threshold.reset();
    return forMs;
  }

  isEjected(nowMs: number): boolean {
    return nowMs < this.ejectedUntilMs;
  }
}
