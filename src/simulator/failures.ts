import type { Failure } from '../core/failure.ts';

const sent: Omit<Failure, 'kind' | 'phase'> = { source: 'upstream', reused: true, bytesSent: 1, bytesReceived: 0 };
const unsent: Omit<Failure, 'kind' | 'phase' | 'source'> = { reused: false, bytesSent: 0, bytesReceived: 0 };

/** How attempts die here, as a transport would have told it. */
export const NO_ANSWER_IN_TIME: Failure = { ...sent, kind: 'http_response_timeout', phase: 'wait' };
export const DEADLINE_EXCEEDED: Failure = { ...sent, kind: 'deadline_exceeded', phase: 'wait' };
/** Its time was over before it was sent. */
export const DEADLINE_BEFORE_SEND: Failure = {
  ...unsent,
  kind: 'deadline_exceeded',
  source: 'upstream',
  phase: 'select',
};
export const CONNECTION_REFUSED: Failure = {
  ...unsent,
  kind: 'connection_refused',
  source: 'upstream',
  phase: 'connect',
};
export const CIRCUIT_OPEN: Failure = { ...unsent, kind: 'circuit_open', source: 'internal', phase: 'select' };
