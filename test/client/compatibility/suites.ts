import { FINAGLE_BUDGET, SMITHY_QUOTA, TOWER_BUDGET } from './budget-cases.ts';
import { GIVEN_UP, PACES, TIMES } from './deadline-cases.ts';
import { GRPC_PUSHBACK, GRPC_THROTTLE } from './grpc-cases.ts';
import { NACKED_ANSWERS, NACKED_STREAMS } from './nack-cases.ts';
import { COUNTING, LOST_BODIES, UNSAFE_REPEATS } from './other-client-cases.ts';
import type { PeerSuite } from './peer-case.ts';
import { RETRY_AFTER, RETRY_AFTER_BOUNDS } from './retry-after-cases.ts';
import { UNDICI_CONTRACT } from './undici-contract-cases.ts';
import { UNDICI_BODIES, UNDICI_ORDER, UNDICI_RESUME } from './undici-message-cases.ts';
import { UNDICI_STATUS } from './undici-status-cases.ts';

export const PEER_SUITES: readonly PeerSuite[] = [
  UNDICI_STATUS,
  UNDICI_BODIES,
  UNDICI_RESUME,
  UNDICI_ORDER,
  UNDICI_CONTRACT,
  NACKED_STREAMS,
  NACKED_ANSWERS,
  UNSAFE_REPEATS,
  LOST_BODIES,
  COUNTING,
  RETRY_AFTER,
  RETRY_AFTER_BOUNDS,
  TIMES,
  GIVEN_UP,
  PACES,
  TOWER_BUDGET,
  FINAGLE_BUDGET,
  SMITHY_QUOTA,
  GRPC_PUSHBACK,
  GRPC_THROTTLE,
];
