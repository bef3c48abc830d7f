import type { UpstreamTlsConfig } from '../config/gateway-config.ts';
import type { TlsSettings } from '../transport/tls-connect.ts';
import { readTextFile } from './text-file.ts';

/**
 * The TLS setup of an upstream with what is in its files now. What differs from the last reading is another setup, although
 * the configuration is the same.
 * @throws the system's error when a file cannot be read any more
 */
export function readTlsSettings(config: UpstreamTlsConfig | undefined): TlsSettings | undefined {
  if (config === undefined) return undefined;
  const { serverName, caFile, certFile, keyFile, verify } = config;
  const read = (path: string | undefined): string | undefined => (path === undefined ? undefined : readTextFile(path));
  return { serverName, ca: read(caFile), cert: read(certFile), key: read(keyFile), verify };
}
