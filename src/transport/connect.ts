import { connect as netConnect } from 'node:net';
import type { Socket } from 'node:net';
import type { EndpointAddress } from './transport.ts';

/**
 * Starts a connection and returns its socket at once. The socket must be half-open capable and must not be read by
 * anybody else. A TLS socket counts as connected when its handshake is over. May throw for an impossible address.
 */
export type Connect = (endpoint: EndpointAddress) => Socket;

export interface TcpConnectOptions {
  /** Local address to bind; the system's choice when absent. */
  readonly localAddress?: string | undefined;
  /** Idle time in milliseconds before TCP keep-alive probes find a silently dead peer. Default 30 000. */
  readonly keepAliveProbeMs?: number | undefined;
}

/** Plain TCP. A name is resolved by the system for each new connection, and its addresses are raced (RFC 8305). */
export function createTcpConnect(options: TcpConnectOptions = {}): Connect {
  const keepAliveInitialDelay = options.keepAliveProbeMs ?? 30_000;
  const local = options.localAddress === undefined ? {} : { localAddress: options.localAddress };
  return (endpoint) =>
    netConnect({
      host: endpoint.host,
      port: endpoint.port,
      ...local,
      // Our side closes when we say so: a peer's FIN may be the end of a body, and the rest of ours still has to go out.
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay,
    });
}
