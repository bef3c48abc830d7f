import { isRetrySuppressed, type StopReason } from '../core/decision.ts';
import type { ClaimSuspicion } from '../core/ownership/claim-suspicion.ts';
import { RecentPeak } from './recent-peak.ts';
import type { AttemptSample, RequestSample } from './request-sample.ts';
import { Tally } from './tally.ts';

/** What an upstream said about its error; of the last two nothing was believed. */
export type ClaimIn = 'owned' | 'relayed' | 'absent' | 'untrusted' | 'garbled';

/** Why a claim is likely to be wrong; `retry-helped`: a retry that it forbids succeeded. */
export type SuspicionReason = ClaimSuspicion | 'retry-helped';

/** Error ownership on one edge: a route, and an upstream that its requests went to. */
export class OwnershipMeter {
  readonly claimsIn: Tally<ClaimIn> = new Tally();
  readonly claimsOut: Tally = new Tally();
  /** Retries that the policy would have made, by the reason why they were not. */
  readonly suppressed: Tally<StopReason> = new Tally();
  readonly suspects: Tally<SuspicionReason> = new Tally();
  /** Retries made although the claim forbids them: claims are only observed. */
  unsuppressedCount = 0;
  /** The same to test a claim. */
  probeCount = 0;
  /** Of the tested ones, those that succeeded. */
  missedRetryCount = 0;
  /** Requests that were not begun: their callers would have been gone. */
  expiredCount = 0;
  readonly #layers = new RecentPeak();

  attempted({ status, claim, claimRefused, claimSuspect, retriedDespite }: AttemptSample): void {
    if (claim !== undefined || claimRefused !== undefined || isFailure(status))
      this.claimsIn.add(claimRefused ?? claim ?? 'absent');
    if (claimSuspect !== undefined) this.suspects.add(claimSuspect);
    if (retriedDespite === 'observe') this.unsuppressedCount += 1;
    if (retriedDespite === 'probe') this.probeCount += 1;
  }

  ended({ reason, attempts, claimOut, lineage, callerTrusted }: RequestSample, nowMs: number): void {
    if (claimOut !== undefined) this.claimsOut.add(claimOut);
    if (reason !== undefined && isRetrySuppressed(reason)) this.suppressed.add(reason);
    if (reason === 'deadline' && attempts.length === 0) this.expiredCount += 1;
    const despite = attempts.find(({ retriedDespite }) => retriedDespite !== undefined)?.retriedDespite;
    if (despite !== undefined && reason === 'success') {
      this.suspects.add('retry-helped');
      if (despite === 'probe') this.missedRetryCount += 1;
    }
    // A stranger's word would make the radius whatever the stranger likes.
    const above = callerTrusted === true ? (lineage ?? 0) : 0;
    this.#layers.add(above + (hasRetry(attempts) ? 1 : 0), nowMs);
  }

  /** The most layers of retries on the way of one request, within two minutes. */
  stormRadius(nowMs: number): number {
    return this.#layers.read(nowMs);
  }
}

/** An error that is not the client's own. */
function isFailure(status: number | undefined): boolean {
  return status !== undefined && (status >= 500 || status === 408 || status === 425 || status === 429);
}

function hasRetry(attempts: readonly AttemptSample[]): boolean {
  return attempts.some(({ hedge }, index) => index > 0 && hedge !== true);
}
