import type { OutcomeClass } from '../classify.ts';

/** The codes of gRPC (`google.rpc.Code`) that say that the client's own request was at fault. */
const CLIENT_FAULTS: ReadonlySet<number> = new Set([3, 5, 6, 7, 9, 11, 12, 16]);

/**
 * What the status of a gRPC call means for whoever made it. ABORTED (10) is the server's: a conflict that a repeat at a
 * higher level may resolve. What is not a known code counts as UNKNOWN (2), as the gRPC specification has it.
 */
export function outcomeClassOfGrpcStatus(status: number): OutcomeClass {
  if (CLIENT_FAULTS.has(status)) return 'client';
  switch (status) {
    case 0:
      return 'ok';
    case 1:
      return 'cancelled';
    case 4:
      return 'timeout';
    case 8:
      return 'throttled';
    default:
      return 'server';
  }
}
