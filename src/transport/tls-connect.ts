import { isIP } from 'node:net';
import { connect as tlsConnect, createSecureContext } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { requirePort } from './connect.ts';
import type { Connect, TcpConnectOptions } from './connect.ts';
import type { OpenStream } from './proxy-tunnel.ts';

/** How the connections of one transport are secured. Everything here is the same for all of them. */
export interface TlsSettings {
  /** The name that certificates must be for, also told to the peer (SNI). Default: the endpoint's name, or its host. */
  readonly serverName?: string | undefined;
  /** Trusted authorities as PEM text. Default: those that Node brings. */
  readonly ca?: string | undefined;
  /** The client certificate with those between it and its authority, as PEM text. */
  readonly cert?: string | undefined;
  /** The private key of `cert`, as PEM text. */
  readonly key?: string | undefined;
  /** Whether the peer's certificate must be valid, trusted and for its name. Default true. */
  readonly verify?: boolean | undefined;
}

/**
 * TLS from version 1.2 on over TCP.
 * @param alpn What is offered, in order of preference.
 * @param openStream What it runs over in place of TCP.
 * @throws Error when certificate, key or authorities cannot be used: they are read once, here
 */
export function createTlsConnect(
  settings: TlsSettings,
  alpn: readonly ('h2' | 'http/1.1')[],
  options: TcpConnectOptions = {},
  openStream?: OpenStream,
): Connect {
  const { serverName, ca, cert, key, verify = true } = settings;
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
  const local = options.localAddress === undefined ? {} : { localAddress: options.localAddress };
  return (endpoint, onread) => {
    requirePort(endpoint.port);
    const name = serverName ?? endpoint.name ?? endpoint.host;
    const connection: ConnectionOptions & { readonly allowHalfOpen: boolean } = {
      ...(openStream === undefined ? { host: endpoint.host, port: endpoint.port } : { socket: openStream(endpoint) }),
      ...local,
      // An address is no name for SNI (RFC 6066 §3); the certificate is then compared with the address itself.
      ...(isIP(name) === 0 ? { servername: name } : {}),
      secureContext,
      rejectUnauthorized: verify,
      ALPNProtocols: [...alpn],
      allowHalfOpen: true,
      ...(onread === undefined ? {} : { onread }),
    };
    const socket = tlsConnect(connection);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, options.keepAliveProbeMs ?? 30_000);
    return socket;
  };
}
