import type { Clock } from '../transport/clock.ts';
import { createTransport } from '../transport/create-transport.ts';
import { createTunnelStream } from '../transport/proxy-tunnel.ts';
import type { TlsSettings } from '../transport/tls-connect.ts';
import type { AttemptRequest, Transport } from '../transport/transport.ts';
import type { ProxyChoice, ProxyServer } from './env-proxy.ts';
import type { Origin } from './origin.ts';

/** Requests that wait for a connection to one origin, each at most its `connectMs`: bounded by memory only. */
const MAX_WAITING = 100_000;

export interface ClientTransportOptions {
  readonly clock: Clock;
  readonly maxConnections: number;
  readonly tls: TlsSettings;
  /** Whether HTTP/2 is offered to servers with TLS. */
  readonly offersHttp2: boolean;
  readonly proxyOf: ProxyChoice;
}

export interface ClientTransport extends Transport {
  /** Resolves when the last socket is closed. Attempts in flight are waited for. */
  dispose(): Promise<void>;
}

/**
 * The connections of one client: plain HTTP/1.1 for `http:`, and TLS for `https:` with what the server chooses; through a
 * proxy where there is one.
 * @throws Error when certificate, key or authorities cannot be used
 */
export function createClientTransport(options: ClientTransportOptions): ClientTransport {
  const { clock, maxConnections, tls, offersHttp2, proxyOf } = options;
  const shared = { clock, maxConnections, maxWaiting: MAX_WAITING };
  const secureOptions = { ...shared, tls, protocol: offersHttp2 ? 'auto' : 'http1' } as const;
  const plain = createTransport(shared);
  const secure = createTransport(secureOptions);
  // Every endpoint of a client is an origin: the address alone does not say what is spoken there.
  const openStream = createTunnelStream((endpoint) => proxyOf(endpoint as Origin)!);
  const tunnelled = createTransport({ ...secureOptions, openStream });
  const all = [plain, secure, tunnelled];
  return {
    send(endpoint, request, handler, send) {
      const origin = endpoint as Origin;
      const proxy = proxyOf(origin);
      if (origin.isSecure) return (proxy === undefined ? secure : tunnelled).send(origin, request, handler, send);
      return proxy === undefined
        ? plain.send(origin, request, handler, send)
        : plain.send(proxy, forProxy(request, origin, proxy), handler, send);
    },
    close() {
      for (const one of all) one.close();
    },
    async dispose() {
      await Promise.all(all.map((one) => one.dispose()));
    },
  };
}

/** A proxy is told the whole URL (RFC 9112 §3.2.2), and who asks. */
function forProxy(request: AttemptRequest, origin: Origin, { authorization }: ProxyServer): AttemptRequest {
  const target = request.target.startsWith('/') ? `${origin.key}${request.target}` : request.target;
  if (authorization === undefined) return { ...request, target };
  return { ...request, target, fields: [...request.fields, 'Proxy-Authorization', authorization] };
}
