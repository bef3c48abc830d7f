import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** The certificate that a client showed and that its listener's `clientCa` has signed. */
export interface ClientCertificate {
  /** The distinguished name, one attribute after another: `CN=billing, O=Example`. */
  readonly subject: string;
  /** SHA-256 of the certificate: upper-case hex pairs with colons between them. */
  readonly fingerprint: string;
  /** As `openssl` writes them: `DNS:billing.internal`, `URI:spiffe://…`, `IP Address:10.0.0.7`. */
  readonly subjectAltNames: readonly string[];
}

/** Who is at the other end of a client connection. */
export interface ClientPeer {
  /** IP address, as the socket has it. */
  readonly remoteAddress: string;
  /** Of its connection. */
  readonly remotePort: number;
  /** It came over TLS. */
  readonly encrypted: boolean;
  /** Undefined unless the listener asks for certificates. */
  readonly clientCertificate: ClientCertificate | undefined;
}

export function peerOf(socket: Socket): ClientPeer {
  const encrypted = isTls(socket);
  return {
    remoteAddress: socket.remoteAddress ?? '',
    remotePort: socket.remotePort ?? 0,
    encrypted,
    clientCertificate: encrypted ? certificateOf(socket) : undefined,
  };
}

/** Without loading `node:tls`, which most gateways do not need. */
export function isTls(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket && socket.encrypted === true;
}

/** The socket that carries a TLS socket. Not in the documentation. */
export function underlying(socket: TLSSocket): Socket {
  return (socket as unknown as { readonly _parent?: Socket })._parent ?? socket;
}

/** RST. Of a TLS connection the socket below is reset: the end of its own stream looks to many clients like a proper end. */
export function resetSocket(socket: Socket): void {
  const carrier = isTls(socket) ? underlying(socket) : socket;
  if (carrier === socket && isTls(socket)) socket.destroy();
  else carrier.resetAndDestroy();
}

function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  // What was not verified says nothing.
  if (!socket.authorized) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  return {
    subject: certificate.subject.split('\n').join(', '),
    fingerprint: certificate.fingerprint256,
    subjectAltNames: certificate.subjectAltName?.split(', ') ?? [],
  };
}
