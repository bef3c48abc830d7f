import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsInfo } from './transport.ts';

export function isTls(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket;
}

/** What the handshake of a connected socket came to; `undefined` for one without TLS. */
export function tlsInfoOf(socket: Socket): TlsInfo | undefined {
  if (!isTls(socket)) return undefined;
  const { subject, fingerprint256 } = socket.getPeerCertificate() as Partial<
    ReturnType<TLSSocket['getPeerCertificate']>
  >;
  const commonName = subject?.CN;
  return {
    version: socket.getProtocol() ?? '',
    cipher: socket.getCipher().standardName,
    alpn: socket.alpnProtocol === false || socket.alpnProtocol === null ? undefined : socket.alpnProtocol,
    authorized: socket.authorized,
    subject: Array.isArray(commonName) ? commonName[0] : commonName,
    fingerprint: fingerprint256,
  };
}
