import type { GatewayConfig } from './gateway-config.ts';

/** The files that a configuration names and does not hold: what is in them may change while it stays the same. */
export function namedFiles({ listeners, upstreams }: GatewayConfig): readonly string[] {
  const files = [
    ...listeners.flatMap(({ tls }) => [
      ...(tls?.certificates ?? []).flatMap(({ certFile, keyFile }) => [certFile, keyFile]),
      tls?.clientCaFile,
    ]),
    ...upstreams.flatMap(({ tls }) => [tls?.caFile, tls?.certFile, tls?.keyFile]),
  ];
  return [...new Set(files.filter((file) => file !== undefined))];
}
