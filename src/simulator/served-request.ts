import type { Outbound } from '../core/ownership/outbound.ts';
import type { CallRun } from './call-run.ts';
import type { Instance } from './instance.ts';
import type { OperationState } from './operation-state.ts';

/** One attempt that arrived at a service, until it is answered. */
export class ServedRequest {
  readonly slot: number;
  operation!: OperationState;
  instance!: Instance;
  /** Who waits for the answer, as long as its ticket is still this one. */
  run!: CallRun;
  runTicket = 0;
  arrivedAtMs = 0;
  /** As the caller told it; Infinity where it told nothing. */
  deadlineAtMs: number = Infinity;
  /** Retries made above, as the caller told it. */
  lineage = 0;
  holdsWorker = false;
  /** The next of the operation's steps. */
  step = 0;
  /** Calls of this step that have not ended. */
  pendingCount = 0;
  /** What it must answer because a call failed, or because it was refused; 0: nothing yet. */
  status = 0;
  /** Why it is answered without any work: too many were waiting, or it was too late when its turn came. */
  refusal: 'shed' | 'expired' | undefined = undefined;
  /** Its calls that failed. */
  failures: Outbound[] = [];

  constructor(slot: number) {
    this.slot = slot;
  }
}
