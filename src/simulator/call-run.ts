import type { CircuitPass } from '../core/circuit-breaker.ts';
import type { Failure } from '../core/failure.ts';
import type { Outcome } from '../core/outcome.ts';
import type { ErrorClaim } from '../core/ownership/error-claim.ts';
import type { RequestSession } from '../core/request-session.ts';
import type { CallState } from './call-state.ts';
import type { Instance } from './instance.ts';
import type { ServedRequest } from './served-request.ts';

/** One logical call under way, with all its attempts. */
export class CallRun {
  readonly slot: number;
  /** Another one for each attempt and each wait: what comes with an old one (an answer, a timer) comes too late. It is never reset. */
  ticket = 0;
  call!: CallState;
  /** The request that the call is made for; `undefined` for a client's. */
  parent: ServedRequest | undefined = undefined;
  session!: RequestSession;
  startedAtMs = 0;
  /** Where the attempt under way is; `undefined` between two. */
  instance: Instance | undefined = undefined;
  /** When the attempt under way has had its time; Infinity between two. */
  expiresAtMs: number = Infinity;
  /** When somebody looks whether it has; Infinity: nobody will. It outlives the call: see `Caller`. */
  alarmAtMs: number = Infinity;
  pass: CircuitPass = 0;
  /** Where the attempts were; kept only where there is a choice. */
  tried: Instance[] = [];
  /** How the latest attempt ended. */
  outcome: Outcome | undefined = undefined;
  claim: ErrorClaim | undefined = undefined;
  /** How it is about to end, by an event that is due now. */
  dueFailure: Failure | undefined = undefined;

  constructor(slot: number) {
    this.slot = slot;
  }
}
