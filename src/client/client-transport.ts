import type { Clock } from '../transport/clock.ts';
import { createHttp1Transport } from '../transport/http1-transport.ts';
import type { Http1Transport } from '../transport/http1-transport.ts';
import type { Transport } from '../transport/transport.ts';

/** Requests that wait for a connection to one origin, each at most its `connectMs`: bounded by memory only. */
const MAX_WAITING = 100_000;

export interface ClientTransport extends Transport {
  /** Resolves when the last socket is closed. Attempts in flight are waited for. */
  dispose(): Promise<void>;
}

/** The connections of one client. */
export function createClientTransport(clock: Clock, maxConnections: number): ClientTransport {
  const plain: Http1Transport = createHttp1Transport({ clock, maxConnections, maxWaiting: MAX_WAITING });
  return plain;
}
