import type { Failure } from '../../core/failure.ts';
import type { Clock } from '../clock.ts';
import type { Connect } from '../connect.ts';
import type { Http2Session } from './http2-session.ts';

export interface SessionOptions {
  readonly clock: Clock;
  readonly connect: Connect;
  /** Silence with requests under way, in milliseconds, after which the peer is asked for a sign of life; 0: never. */
  readonly pingAfterMs: number;
  /** How long the sign may take, in milliseconds. */
  readonly pingTimeoutMs: number;
  readonly idleMs: number;
}

export interface SessionOwner {
  /** The peer's SETTINGS are here, or new ones. */
  onReady(session: Http2Session): void;
  /** It never became ready. `failure` undefined: the peer chose HTTP/1.1 in the handshake. */
  onNotReady(session: Http2Session, failure: Failure | undefined): void;
  /** It takes no further streams. */
  onDraining(session: Http2Session): void;
  onSocketClosed(session: Http2Session): void;
}

/** Who has a place on a session: to be told when it ends before a stream was opened. */
export interface SessionUser {
  onSessionLost(error: Error | undefined): void;
}
