import type { ClaimReason, RetryAdvice } from '../core/ownership/error-claim.ts';
import type { ServiceMetrics } from './counters.ts';
import { installedService } from './install.ts';

/**
 * Says what the answer to the current request is given for. What the error names, itself or by its `cause`, is the cause
 * then; an error that names no call changes nothing. Frameworks with an adapter do so by themselves.
 */
export function answersFor(error: unknown): void {
  const inbound = installedService()?.service.current();
  if (inbound !== undefined) inbound.error = error;
}

/**
 * Says that the error with which the current request is answered is the service's own, whatever else failed: it sheds load
 * (`{ why: 'overload', retry: 'other' }`), its database is down (`{ why: 'local' }`).
 */
export function ownsError(own: { readonly why: ClaimReason; readonly retry?: RetryAdvice | undefined }): void {
  const inbound = installedService()?.service.current();
  if (inbound !== undefined) inbound.own = own;
}

/** Milliseconds until nobody waits for the answer to the current request any more; `Infinity` when nothing says so. */
export function remainingTimeMs(): number {
  const service = installedService()?.service;
  const deadlineAtMs = service?.current()?.deadlineAtMs ?? Infinity;
  return service === undefined ? Infinity : Math.max(0, deadlineAtMs - service.nowMs());
}

/** What the service of this process has counted; `undefined` when none is installed. */
export function serviceMetrics(): ServiceMetrics | undefined {
  return installedService()?.metrics();
}
