import type { ParserLimits } from '../../http1/message.ts';
import type { Clock } from '../clock.ts';
import { createTcpConnect } from '../connect.ts';
import type { Connect } from '../connect.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { PoolOptions } from './connection-pool.ts';
import { poolKey } from '../pool.ts';
import type { PoolStats } from '../pool.ts';
import { Http1Attempt } from './http1-attempt.ts';
import { requestHead } from '../request-head.ts';
import type { EndpointAddress, Transport } from '../transport.ts';

/** Of connections to upstreams. */
export interface Http1TransportOptions {
  /** `createSystemClock()`, or one that a test moves. */
  readonly clock: Clock;
  /** Default: plain TCP. */
  readonly connect?: Connect;
  /** Of a response; see `ParserLimits` for the defaults. */
  readonly limits?: Partial<ParserLimits>;
  /** Longest time in milliseconds a connection waits for its next request; shortened to what the server advertises. Default 50 000. */
  readonly idleMs?: number;
  /** Most connections to one endpoint, ≥ 1. Default 256. */
  readonly maxConnections?: number;
  /** Most requests that wait for a connection to one endpoint, ≥ 0; each at most its `connectMs`. Default 1024. */
  readonly maxWaiting?: number;
  /** Requests after which a connection is closed; 0 for no limit. Default 0. */
  readonly maxRequestsPerConnection?: number;
}

/** Speaks HTTP/1.1, over connections of its own. */
export interface Http1Transport extends Transport {
  /** All zero for an endpoint that has no connection. */
  stats(endpoint: EndpointAddress): PoolStats;
  /** Sockets that the operating system still holds for us, all endpoints together. */
  readonly socketCount: number;
  /** Does what `close` does, and resolves when the last socket is closed. Attempts in flight are waited for. */
  dispose(): Promise<void>;
}

/**
 * HTTP/1.1 over pooled connections: one send, one attempt, nothing sent twice. No handler is called before `send` has
 * returned. A request that cannot be written safely fails as `http_request_error`, source internal, without a connection.
 * @throws RangeError when a limit is out of its range.
 */
export function createHttp1Transport(options: Http1TransportOptions): Http1Transport {
  const { clock } = options;
  const pools = new Map<string, ConnectionPool>();
  const poolOptions: PoolOptions = {
    clock,
    connect: options.connect ?? createTcpConnect(),
    limits: options.limits ?? {},
    idleMs: atLeast(0, 'idleMs', options.idleMs ?? 50_000),
    maxConnections: atLeast(1, 'maxConnections', options.maxConnections ?? 256),
    maxWaiting: atLeast(0, 'maxWaiting', options.maxWaiting ?? 1024),
    maxRequestsPerConnection: atLeast(0, 'maxRequestsPerConnection', options.maxRequestsPerConnection ?? 0),
  };
  let socketCount = 0;
  let closing = false;
  /** Endpoints come and go; their empty pools are dropped when there are this many. */
  let sweepAt = 64;
  let onAllClosed: (() => void)[] = [];

  const socketClosed = (): void => {
    socketCount -= 1;
    if (socketCount > 0) return;
    for (const resolve of onAllClosed) resolve();
    onAllClosed = [];
  };

  const forgetEmptyPools = (): void => {
    for (const [key, pool] of pools) if (pool.isEmpty) pools.delete(key);
    sweepAt = Math.max(64, 2 * pools.size);
  };

  const poolOf = (endpoint: EndpointAddress): ConnectionPool => {
    const known = pools.get(poolKey(endpoint));
    if (known !== undefined) return known;
    const pool = new ConnectionPool(endpoint, poolOptions, {
      socketOpened: () => {
        socketCount += 1;
      },
      socketClosed,
    });
    if (closing) pool.close();
    if (pools.size >= sweepAt) forgetEmptyPools();
    pools.set(poolKey(endpoint), pool);
    return pool;
  };

  const close = (): void => {
    closing = true;
    for (const pool of pools.values()) pool.close();
  };

  return {
    send(endpoint, request, handler, sendOptions) {
      const { text, failure } = request.tunnel === true ? NO_HEAD : requestHead(request);
      const attempt = new Http1Attempt(() => poolOf(endpoint), clock, request, text, handler, sendOptions);
      if (failure === undefined) attempt.start();
      else process.nextTick(() => attempt.onNoConnection(failure));
      return attempt;
    },
    closeEndpoint(endpoint) {
      pools.get(poolKey(endpoint))?.close();
      pools.delete(poolKey(endpoint));
    },
    close,
    stats: (endpoint) => pools.get(poolKey(endpoint))?.stats ?? { open: 0, idle: 0, waiting: 0 },
    get socketCount() {
      return socketCount;
    },
    dispose() {
      close();
      if (socketCount === 0) return Promise.resolve();
      return new Promise((resolve) => {
        onAllClosed.push(resolve);
      });
    },
  };
}

/** Of a tunnel. */
const NO_HEAD: ReturnType<typeof requestHead> = { text: '' };

function atLeast(minimum: number, name: string, value: number): number {
  if (value >= minimum) return value;
  throw new RangeError(`transport: ${name} is ${String(value)}; give ${String(minimum)} or more`);
}
