import type { TunnelEnd, TunnelReceiver } from '../../transport/tunnel-end.ts';

/** What a tunnel carried so far. */
export interface TunnelTraffic {
  /** From the client. */
  bytesIn: number;
  /** To the client. */
  bytesOut: number;
}

/**
 * Joins both ends: what one end says, its last byte included, goes to the other, and a slow one holds the other back. Who
 * opened the ends learns from them when one breaks.
 */
export function joinEnds(client: TunnelEnd, upstream: TunnelEnd): TunnelTraffic {
  const traffic: TunnelTraffic = { bytesIn: 0, bytesOut: 0 };
  client.open(
    passTo(upstream, (bytes) => {
      traffic.bytesIn += bytes;
    }),
  );
  upstream.open(
    passTo(client, (bytes) => {
      traffic.bytesOut += bytes;
    }),
  );
  return traffic;
}

function passTo(other: TunnelEnd, count: (bytes: number) => void): TunnelReceiver {
  return {
    data(chunk) {
      count(chunk.length);
      return other.write(chunk);
    },
    ended: () => other.end(),
    // What was written to this end is taken: the other one may say more.
    drained: () => other.resume(),
  };
}
