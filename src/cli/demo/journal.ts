import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Names a request of the demo; every send of it carries the same one. */
export const requestIdField = 'x-request-id';

/** One arrival of a request at a server. */
export interface Arrival {
  readonly server: string;
  readonly key: string | undefined;
  /** SHA-256 of the body, hexadecimal; undefined until all of it arrived. */
  bodyHash: string | undefined;
}

/** What the servers saw, by request. Only requests that were announced are kept: visitors of `--keep` cost no memory. */
export interface Journal {
  announce(id: string): void;
  arrived(server: string, request: IncomingMessage): void;
  /** Arrivals of a request in order; empty when no server ever saw it. */
  arrivals(id: string): readonly Arrival[];
}

export function createJournal(): Journal {
  const byId = new Map<string, Arrival[]>();
  return {
    announce: (id) => void byId.set(id, []),
    arrived(server, request) {
      const { [requestIdField]: id, 'idempotency-key': key } = request.headers;
      const arrivals = typeof id === 'string' ? byId.get(id) : undefined;
      if (arrivals === undefined) return;
      const arrival: Arrival = { server, key: typeof key === 'string' ? key : undefined, bodyHash: undefined };
      arrivals.push(arrival);
      const hash = createHash('sha256');
      request.on('data', (chunk: Buffer) => hash.update(chunk));
      request.on('end', () => (arrival.bodyHash = hash.digest('hex')));
    },
    arrivals: (id) => byId.get(id) ?? [],
  };
}
