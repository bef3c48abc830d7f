import type { Clock } from '../clock.ts';
import type { Connect } from '../connect.ts';
import { poolKey } from '../pool.ts';
import type { PoolOwner, PoolStats } from '../pool.ts';
import { Http2Attempt } from './http2-attempt.ts';
import { http2RequestFields } from './http2-head.ts';
import type { Http2Limits } from './http2-exchange.ts';
import { Http2Pool } from './http2-pool.ts';
import type { Http2PoolOptions } from './http2-pool.ts';
import { requestHead } from '../request-head.ts';
import type { Attempt, AttemptHandler, AttemptRequest, EndpointAddress, SendOptions, Transport } from '../transport.ts';

export interface Http2TransportOptions {
  readonly clock: Clock;
  /** Plain TCP, or TLS that offers `h2`. */
  readonly connect: Connect;
  readonly scheme: 'http' | 'https';
  readonly limits: Http2Limits;
  readonly idleMs: number;
  readonly maxConnections: number;
  readonly maxWaiting: number;
  readonly maxRequestsPerConnection: number;
  readonly pingAfterMs: number;
  readonly pingTimeoutMs: number;
  readonly sockets: PoolOwner;
  /** Takes over an attempt whose peer chose HTTP/1.1 in the TLS handshake. Left out: the attempt fails, unsent. */
  readonly sendHttp1?:
    | ((endpoint: EndpointAddress, request: AttemptRequest, handler: AttemptHandler, options: SendOptions) => Attempt)
    | undefined;
}

export interface Http2Transport extends Transport {
  stats(endpoint: EndpointAddress): PoolStats;
  closeEndpoint(endpoint: EndpointAddress): void;
}

/**
 * HTTP/2 over pooled sessions of node:http2: one send, one stream, nothing sent twice. No handler is called before `send`
 * has returned. A peer's limit of concurrent streams is kept by waiting here: what waits inside a session would have to
 * be called sent when that session dies.
 */
export function createHttp2Transport(options: Http2TransportOptions): Http2Transport {
  const { clock, limits, sendHttp1 } = options;
  const poolOptions: Http2PoolOptions = options;
  const pools = new Map<string, Http2Pool>();
  let closing = false;
  /** Endpoints come and go; their empty pools are dropped when there are this many. */
  let sweepAt = 64;

  const poolOf = (endpoint: EndpointAddress): Http2Pool => {
    const known = pools.get(poolKey(endpoint));
    if (known !== undefined) return known;
    const pool = new Http2Pool(endpoint, poolOptions, options.sockets, sendHttp1 !== undefined);
    if (closing) pool.close();
    if (pools.size >= sweepAt) {
      for (const [key, one] of pools) if (one.isEmpty) pools.delete(key);
      sweepAt = Math.max(64, 2 * pools.size);
    }
    pools.set(poolKey(endpoint), pool);
    return pool;
  };

  return {
    send(endpoint, request, handler, send) {
      const { text, failure } = requestHead(request);
      const fields = failure === undefined ? http2RequestFields(request, options.scheme) : [];
      const attempt = new Http2Attempt(request, fields, text.length, handler, {
        poolOf: () => poolOf(endpoint),
        clock,
        limits,
        send,
        sendHttp1:
          sendHttp1 &&
          ((connectMs) =>
            sendHttp1(endpoint, request, handler, { ...send, timeouts: { ...send.timeouts, connectMs } })),
      });
      if (failure === undefined) attempt.start();
      else process.nextTick(() => attempt.onNoSession(failure));
      return attempt;
    },
    closeEndpoint(endpoint) {
      pools.get(poolKey(endpoint))?.close();
      pools.delete(poolKey(endpoint));
    },
    close() {
      closing = true;
      for (const pool of pools.values()) pool.close();
    },
    stats: (endpoint) => pools.get(poolKey(endpoint))?.stats ?? { open: 0, idle: 0, waiting: 0 },
  };
}
