import type { Clock } from '../transport/clock.ts';
import { createTransport } from '../transport/create-transport.ts';
import type { ComposedTransport } from '../transport/create-transport.ts';
import type { TlsSettings } from '../transport/tls-connect.ts';
import type { EndpointAddress, Transport } from '../transport/transport.ts';
import type { Origin } from './origin.ts';

/** Requests that wait for a connection to one origin, each at most its `connectMs`: bounded by memory only. */
const MAX_WAITING = 100_000;

export interface ClientTransportOptions {
  readonly clock: Clock;
  readonly maxConnections: number;
  readonly tls: TlsSettings;
  /** Whether HTTP/2 is offered to servers with TLS. */
  readonly offersHttp2: boolean;
}

export interface ClientTransport extends Transport {
  /** Resolves when the last socket is closed. Attempts in flight are waited for. */
  dispose(): Promise<void>;
}

/**
 * The connections of one client: plain HTTP/1.1 for `http:`, and TLS for `https:` with what the server chooses.
 * @throws Error when certificate, key or authorities cannot be used
 */
export function createClientTransport(options: ClientTransportOptions): ClientTransport {
  const { clock, maxConnections, tls, offersHttp2 } = options;
  const shared = { clock, maxConnections, maxWaiting: MAX_WAITING };
  const plain = createTransport(shared);
  const secure = createTransport({ ...shared, tls, protocol: offersHttp2 ? 'auto' : 'http1' });
  // Every endpoint of a client is an origin: the address alone does not say what is spoken there.
  const of = (endpoint: EndpointAddress): ComposedTransport => ((endpoint as Origin).isSecure ? secure : plain);
  return {
    send: (endpoint, request, handler, send) => of(endpoint).send(endpoint, request, handler, send),
    closeEndpoint: (endpoint) => of(endpoint).closeEndpoint?.(endpoint),
    stats: (endpoint) => of(endpoint).stats(endpoint),
    close() {
      plain.close();
      secure.close();
    },
    async dispose() {
      await Promise.all([plain.dispose(), secure.dispose()]);
    },
  };
}
