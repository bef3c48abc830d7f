import { connect as netConnect, isIP } from 'node:net';
import type { OnReadOpts, Socket } from 'node:net';
import type { EndpointAddress } from './transport.ts';

/**
 * Starts a connection and returns its socket at once. The socket must be half-open capable and must not be read by
 * anybody else. A TLS socket counts as connected when its handshake is over. May throw for an impossible address.
 *
 * `onread` is to be handed to `connect` of node:net or node:tls: reads then end in the connection's own buffer. A
 * socket made without it works too; it takes new memory for each read. HTTP/2 gives none.
 */
export type Connect = (endpoint: EndpointAddress, onread?: OnReadOpts) => Socket;

export interface TcpConnectOptions {
  /** Local address to bind; the system's choice when absent. */
  readonly localAddress?: string | undefined;
  /** Idle time in milliseconds before TCP keep-alive probes find a silently dead peer. Default 30 000. */
  readonly keepAliveProbeMs?: number | undefined;
}

/**
 * Plain TCP. A name is resolved by the system for each new connection, and its addresses are raced (RFC 8305).
 * @throws RangeError when `localAddress` is not an IP address.
 */
export function createTcpConnect(options: TcpConnectOptions = {}): Connect {
  const keepAliveInitialDelay = options.keepAliveProbeMs ?? 30_000;
  if (options.localAddress !== undefined && isIP(options.localAddress) === 0) {
    throw new RangeError(`connect: localAddress ${JSON.stringify(options.localAddress)} is not an IP address`);
  }
  const local = options.localAddress === undefined ? {} : { localAddress: options.localAddress };
  return (endpoint, onread) => {
    requirePort(endpoint.port);
    return netConnect({
      host: endpoint.host,
      port: endpoint.port,
      ...local,
      // Our side closes when we say so: a peer's FIN may be the end of a body, and the rest of ours still has to go out.
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay,
      ...(onread === undefined ? {} : { onread }),
    });
  };
}

/** @throws RangeError with a code. Node finds this out too late: it throws with its socket handle open and out of reach. */
export function requirePort(port: number): void {
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return;
  throw Object.assign(new RangeError(`connect: port ${String(port)} is not from 1 to 65535`), {
    code: 'ERR_SOCKET_BAD_PORT',
  });
}
