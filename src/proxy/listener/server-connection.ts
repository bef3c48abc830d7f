import type { Clock } from '../../transport/clock.ts';
import type { ListenerLimits, RequestSink } from '../downstream.ts';

/** What the connections of one listener share. */
export interface ConnectionHost {
  readonly sink: RequestSink;
  readonly limits: ListenerLimits;
  readonly clock: Clock;
  readonly draining: boolean;
  /** Its socket is closed, or another connection has taken it over. */
  connectionClosed(connection: ServerConnection): void;
}

/** An open client connection, whatever it speaks. */
export interface ServerConnection {
  /** What is under way ends; nothing more is taken. */
  drain(): void;
  /** The process ends: requests under way are told so, and the socket is closed. */
  cut(): void;
}
