import type { ListenerTlsConfig } from '../config/gateway-config.ts';
import type { ListenerTls } from '../proxy/listener/tls-settings.ts';
import { readTextFile } from './text-file.ts';

/**
 * The TLS setup of a listener with what is in its files now.
 * @throws the system's error when a file cannot be read any more
 */
export function readListenerTls(config: ListenerTlsConfig | undefined): ListenerTls | undefined {
  if (config === undefined) return undefined;
  return {
    certificates: config.certificates.map(({ hosts, certFile, keyFile }) => ({
      hosts,
      cert: readTextFile(certFile),
      key: readTextFile(keyFile),
    })),
    clientCa: config.clientCaFile === undefined ? undefined : readTextFile(config.clientCaFile),
  };
}

/** Whether an open listener can go over from one to the other without being closed. */
export function isSameKindOfTls(one: ListenerTlsConfig | undefined, other: ListenerTlsConfig | undefined): boolean {
  return (
    (one === undefined) === (other === undefined) &&
    (one?.clientCaFile === undefined) === (other?.clientCaFile === undefined)
  );
}
