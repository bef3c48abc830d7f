import { Agent, EnvHttpProxyAgent, ProxyAgent } from 'undici';
import type { Dispatcher } from 'undici';
import type { TlsSettings } from '../transport/tls-connect.ts';

/**
 * For upgrades and CONNECT: a tunnel is no message that could be sent again, so undici itself makes it, with the TLS
 * settings and the proxy of the client.
 */
export function createUpgradeAgent({ ca, cert, key, serverName, verify }: TlsSettings, proxy: string): Dispatcher {
  const settings = { ca, cert, key, servername: serverName, rejectUnauthorized: verify };
  const connect = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  if (proxy === 'none') return new Agent({ connect });
  const options = { connect, requestTls: connect, proxyTunnel: true };
  return proxy === 'environment' ? new EnvHttpProxyAgent(options) : new ProxyAgent({ ...options, uri: proxy });
}
